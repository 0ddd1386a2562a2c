//! `provostctl publish`.

mod again;
mod diff;
mod findings;
mod first;
pub(crate) mod generations;
mod history;
mod inputs;
pub(crate) mod keys;
mod last_tls;
mod options;
mod plan_changes;
mod problems;
mod rehearse;
mod removal;
mod sign;
mod summary;
mod who;

use provost_publish::lint::{self, Depth, Finding, Level};
use provost_steplog::terminal::escape_json;
use provost_steplog::wording;

pub(crate) use self::again::Again;
pub(crate) use self::first::First;
pub(crate) use self::history::History;
pub(crate) use self::inputs::Inputs;
pub(crate) use self::options::Publish;
use self::options::texts;
pub(crate) use self::problems::print_problems;
use self::rehearse::Rehearse;
use crate::address::Admin;
use crate::failure::Failure;
use crate::format::Format;
use crate::output;

impl Publish {
    pub(crate) fn run(&self, admin: &Admin) -> Result<(), Failure> {
        match (&self.key, &self.to) {
            (Some(key), Some(to)) if !self.lint_only => self.sign(admin, key, to),
            _ => self.lint_only(),
        }
    }

    /// Prints all mistakes that there are.
    fn lint_only(&self) -> Result<(), Failure> {
        let all = || -> Result<(usize, Vec<Finding>), Failure> {
            let site = self.read_site()?;
            let texts = texts(&site, "")?;
            match provost_publish::check_input(&self.input(&site, &texts)) {
                Ok(sources) => {
                    let all: Vec<_> = sources.iter().collect();
                    Ok((
                        all.len(),
                        lint::of_sources(&all, Depth::Full)
                            .map_err(|e| findings::no_resources(&e))?,
                    ))
                }
                Err(e) => Ok((0, findings::of_refusal(&e))),
            }
        };
        let (files, found) = all().unwrap_or_else(|e| (0, vec![findings::of_failure(e)]));
        let mistakes = found.iter().filter(|finding| finding.level != Level::Note).count();
        if self.format == Format::Json {
            let json = serde_json::to_string(&found);
            let json = json.map_err(|e| Failure::of(&e, "report this as a bug"))?;
            output::print(format!("{}\n", escape_json(&json)).as_bytes())?;
        } else {
            for finding in &found {
                match finding.level {
                    Level::Error => output::error(&findings::failure(finding)),
                    Level::Warning | Level::Note => findings::warn(finding),
                }
            }
        }
        match mistakes {
            0 if self.format == Format::Json => Ok(()),
            0 => {
                let text = format!("{}: no mistake found\n", wording::count(files, "file"));
                output::print(text.as_bytes())
            }
            n => Err(Failure::new(
                format!("{} to fix", wording::count(n, "problem")),
                "fix what is named above, then look again: provostctl publish --lint-only …",
            )),
        }
    }
}
