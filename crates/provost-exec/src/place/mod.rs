//! Where a script failed.
//!
//! A bash script is watched: bash reads [`SOURCE`] before it, which notes each failing command
//! and each call of `exit`. Other interpreters, and bash where a script ends without a failing
//! command, are believed when they name a line themselves. `docs/adr/0001-where-a-script-failed.md`
//! says why so, and what it costs.

mod notes;
mod perl;
mod python;
mod script;
mod shell;
mod spot;
mod watch;

use std::io;
use std::path::{Path, PathBuf};

use provost_fs::Durability;

use self::watch::watch;
use crate::output::Tail;
use crate::step::{Step, Trace};

pub(crate) use self::script::{Language, Script};
pub use self::spot::Place;

const SOURCE: &str = include_str!("trace.bash");

/// Writes the file that bash is to read first, and returns its path.
pub fn install(folder: &Path) -> io::Result<PathBuf> {
    let path = folder.join("trace.bash");
    if std::fs::read(&path).ok().as_deref() != Some(SOURCE.as_bytes()) {
        provost_fs::replace(&path, SOURCE.as_bytes(), Durability::Crash)?;
    }
    Ok(path)
}

/// What has bash read the step's trace first and write its notes to `notes`: variables of its
/// environment. None if the step is no bash script, or one that would see some of it.
pub(crate) fn arrange(
    step: &Step,
    language: Language,
    notes: &Path,
) -> Vec<(&'static str, String)> {
    if language != Language::Bash {
        return Vec::new();
    }
    let watched = || {
        let trace =
            step.bash_trace.as_ref().filter(|_| step.trace != Trace::Off && !step.trace_lines)?;
        let watched = watch(&Script::read(&step.folder.join(&step.name))?, step)?;
        let path = |path: &Path| path.to_str().map(str::to_owned);
        let mut env = vec![
            ("BASH_ENV", path(trace)?),
            ("PROVOST_NOTES", path(notes)?),
            ("PROVOST_TRACE", watched),
        ];
        if let Some((_, own)) = step.env.iter().rfind(|(name, _)| name == "BASH_ENV") {
            env.push(("PROVOST_BASH_ENV", own.clone()));
        }
        Some(env)
    };
    watched().unwrap_or_default()
}

/// Finds the place where a script failed that ended with `status`. Takes the notes away.
pub(crate) fn place(step: &Step, notes: &Path, status: i32, tail: &Tail) -> Option<Place> {
    let notes = notes::take(notes);
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
