//! Where a script failed.
//!
//! A bash script is watched: bash reads `trace.bash` before it, which notes each failing command
//! and each call of `exit`. Other interpreters, and bash where a script ends without a failing
//! command, are believed when they name a line themselves. `docs/adr/0001-where-a-script-failed.md`
//! says why so, and what it costs.

mod catalogue;
mod memory;
mod notes;
mod parts;
mod perl;
mod python;
mod script;
mod shell;
mod source_location;
mod statements;
mod watch;

use self::memory::helper;
use self::watch::watch;
use crate::output::Tail;
use crate::step::{Step, Trace};

pub(crate) use self::memory::Notes;
pub(crate) use self::script::{Language, Script};
pub use self::source_location::FailureLocation;

/// What has bash read `trace.bash` before a script.
pub(crate) struct BashWatch {
    /// Variables of its environment.
    pub(crate) env: Vec<(&'static str, String)>,
    /// Where it writes its notes.
    pub(crate) notes: Notes,
}

/// Has bash watch the step. None if the step is no bash script, or one that would see some of it, or
/// where there is no room for that.
pub(crate) fn arrange(step: &Step, language: Language) -> Option<BashWatch> {
    let is_wanted = step.bash_trace && step.trace != Trace::Off && !step.trace_lines;
    if language != Language::Bash || !is_wanted {
        return None;
    }
    let watched = watch(&Script::read(&step.folder.join(&step.name))?, step)?;
    let notes = Notes::new()?;
    let mut env =
        vec![("BASH_ENV", helper()?), ("PROVOST_NOTES", notes.path()), ("PROVOST_TRACE", watched)];
    if let Some((_, own)) = step.env.iter().rfind(|(name, _)| name == "BASH_ENV") {
        env.push(("PROVOST_BASH_ENV", own.clone()));
    }
    Some(BashWatch { env, notes })
}

/// Whether a shell script's text shows that it went on after this command had failed.
pub(crate) fn ignores(step: &Step, command: &str) -> bool {
    let is_shell = |script: &Script| matches!(script.language, Language::Bash | Language::Sh);
    let script = Script::read(&step.folder.join(&step.name)).filter(is_shell);
    script.is_some_and(|script| script.ignores(command))
}

/// Finds the place where a script failed that ended with `status`, by its `notes` as well.
pub(crate) fn place(
    step: &Step,
    notes: Option<&Notes>,
    status: i32,
    tail: &Tail,
) -> Option<FailureLocation> {
    let notes = notes.map(notes::read).unwrap_or_default();
    let script = Script::read(&step.folder.join(&step.name))?;
    match script.language {
        Language::Bash => {
            let parts = script.parts(&step.folder);
            let said = shell::find(&script, &parts, step, status, tail);
            let functions = !parts.all || !parts.files.is_empty() || script.has_functions();
            notes::place(&notes, &script, step, status, said, functions)
        }
        Language::Sh => {
            let parts = script.parts(&step.folder);
            let said = shell::find(&script, &parts, step, status, tail)?;
            said.certain(&script).then(|| said.at.into())
        }
        Language::Perl => Some(perl::find(&script, step, status, tail)?.into()),
        Language::Python => Some(python::find(&script, step, status, tail)?.into()),
        Language::Other => None,
    }
}
