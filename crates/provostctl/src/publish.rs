use std::collections::BTreeMap;
use std::path::PathBuf;

use provost_bundle::{Publication, PublishError, SecretKey};
use provost_plan::Site;

use crate::failure::Failure;
use crate::output;

/// `provostctl publish`.
#[derive(clap::Args)]
pub(crate) struct Publish {
    /// What nodes run
    #[arg(long, value_name = "FILE")]
    site: PathBuf,
    /// The folder of scripts; all of it is published
    #[arg(long, value_name = "DIR")]
    scripts: PathBuf,
    /// The secret key that signs it
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The folder that provostd.toml calls www
    #[arg(long, value_name = "WWW")]
    to: PathBuf,
}

impl Publish {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let text = std::fs::read_to_string(&self.site).map_err(|e| {
            let error = format!("reading {}: {e}", self.site.display());
            Failure::new(error, "name a readable site.toml: --site FILE")
        })?;
        let site = Site::parse(&text, &self.site).map_err(|e| Failure::of(&e, e.hint()))?;
        let key = SecretKey::load(&self.key).map_err(|e| Failure::of(&e, e.hint()))?;
        if key.readable_by_others() {
            let path = self.key.display();
            output::note(&format!("warning: others can read {path}\n  hint: chmod 600 {path}"));
        }
        let body =
            |(node, plan): (String, provost_plan::Plan)| plan.body().map(|body| (node, body));
        let plans: BTreeMap<String, String> = site
            .plans()
            .into_iter()
            .map(body)
            .collect::<Result<_, _>>()
            .map_err(|e| Failure::of(&e, e.hint()))?;
        let published = provost_bundle::publish(&Publication {
            scripts: &self.scripts,
            overrides: site.overrides(),
            required: site.required(),
            plans: &plans,
            key: &key,
            to: &self.to,
        })
        .map_err(print_problems)?;
        let files = count(published.files, "file");
        let plans = count(published.plans, "plan");
        let (generation, to) = (published.generation, self.to.display());
        output::print(
            match published.changed {
                true => format!("published generation {generation} to {to}: {files}, {plans}\n"),
                false => format!("{to} is up to date: generation {generation}, {files}, {plans}\n"),
            }
            .as_bytes(),
        )
    }
}

/// Prints all problems at once: fixing one after the other would be tedious.
fn print_problems(error: PublishError) -> Failure {
    if let PublishError::Refused(problems) = &error {
        for problem in problems {
            let hint = problem.hint();
            output::error(&Failure::of(problem, hint));
        }
    }
    Failure::of(&error, error.hint())
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
