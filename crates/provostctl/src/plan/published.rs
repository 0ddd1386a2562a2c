//! The plans of a published folder.

use std::io::ErrorKind;
use std::path::Path;

use provost_plan::{Explained, Groups, Plan, Site};
use provost_publish::history;

use crate::failure::Failure;

/// A folder that `provostctl publish` has written.
pub(super) struct Published<'w> {
    www: &'w Path,
}

impl<'w> Published<'w> {
    pub(super) fn at(www: &'w Path) -> Self {
        Self { www }
    }

    /// The node's published plan.
    pub(super) fn plan(&self, node: &str) -> Result<Plan, Failure> {
        let path = self.www.join(format!("plans/{node}.toml"));
        let text = std::fs::read(&path).map_err(|e| failed(&path, &e))?;
        parse(&path, &text)
    }

    /// The nodes whose published plans run the script.
    pub(super) fn nodes_that_run(&self, script: &str) -> Result<Vec<String>, Failure> {
        let folder = self.www.join("plans");
        let entries = std::fs::read_dir(&folder).map_err(|e| failed(&folder, &e))?;
        let mut nodes = Vec::new();
        for entry in entries {
            let path = entry.map_err(|e| failed(&folder, &e))?.path();
            if path.extension().is_none_or(|extension| extension != "toml") {
                continue;
            }
            let text = std::fs::read_to_string(&path).map_err(|e| failed(&path, &e))?;
            // Most of 10,000 plans needn't be parsed.
            if text.contains(script) {
                let plan = parse(&path, text.as_bytes())?;
                nodes.extend(runs(&plan, script).then_some(plan.node));
            }
        }
        nodes.sort();
        Ok(nodes)
    }

    /// The `site.toml` that the plan was made from, if the history has it and this user may read it.
    pub(super) fn site_of(&self, plan: &Plan) -> Option<Site> {
        let bundle = plan.manifest?;
        // A later bundle may have the same plans.
        let records = history(self.www).into_iter();
        let of_bundle = records.filter(|record| record.generation >= bundle);
        let sites = of_bundle.filter_map(|record| {
            let groups = Groups::used_before(&record.groups);
            Site::parse_with(&record.site, self.www, groups).ok()
        });
        sites.into_iter().find(|site| site.explain(&plan.node).is_some_and(|e| is_same(&e, plan)))
    }
}

/// What the plan is, and how long it may be used.
pub(super) fn head(plan: &Plan) -> String {
    let bundle = plan.manifest.map_or(String::new(), |bundle| format!(" of bundle {bundle}"));
    let until = plan.expires.map_or(String::new(), |at| format!(", to be used until {at}"));
    format!("plan {}{bundle}{until}\n", plan.generation)
}

/// The plan with the sections of the site that it was made from, if that is known.
pub(super) fn explained(plan: Plan, site: Option<&Site>) -> Explained<'_> {
    let known = site.and_then(|site| site.explain(&plan.node));
    let (secrets, env, postscripts, postbootscripts) = known.map_or_else(
        || {
            let unknown = |steps: &[_]| vec![""; steps.len()];
            let steps = (unknown(&plan.postscripts), unknown(&plan.postbootscripts));
            (Default::default(), Default::default(), steps.0, steps.1)
        },
        |known| (known.secrets, known.env, known.postscripts, known.postbootscripts),
    );
    Explained { plan, secrets, env, postscripts, postbootscripts }
}

/// Whether the script is one of the plan's.
pub(super) fn runs(plan: &Plan, script: &str) -> bool {
    plan.postscripts.iter().chain(&plan.postbootscripts).any(|step| step.script == script)
}

fn is_same(explained: &Explained<'_>, plan: &Plan) -> bool {
    let made = &explained.plan;
    (&made.env, &made.secret_env, &made.postscripts, &made.postbootscripts)
        == (&plan.env, &plan.secret_env, &plan.postscripts, &plan.postbootscripts)
}

fn parse(path: &Path, text: &[u8]) -> Result<Plan, Failure> {
    Plan::parse(text)
        .map_err(|e| Failure::new(format!("reading {}: {e}", path.display()), e.hint()))
}

fn failed(path: &Path, e: &std::io::Error) -> Failure {
    let hint = match e.kind() {
        ErrorKind::NotFound => {
            "name the published folder (--to WWW), and a node that has a plan there"
        }
        _ => "run it as the user who publishes, or as one of the plans' group",
    };
    Failure::new(format!("reading {}: {e}", path.display()), hint)
}
