//! Where a script failed.
//!
//! A bash script is watched: bash reads [`SOURCE`] before it, which notes each failing command
//! and each call of `exit`. Other interpreters, and bash where a script ends without a failing
//! command, are believed when they name a line themselves. `docs/adr/0001-where-a-script-failed.md`
//! says why so, and what it costs.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::capture::Tail;
use crate::script::{Language, Script};
use crate::watch::watch;
use crate::{Secrets, Step, notes, perl, python, shell};

const SOURCE: &str = include_str!("trace.bash");
/// The function's part of a line where it isn't known.
const UNKNOWN: &str = "-";

/// Where a script failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// `LINE FUNCTION FILE`, as bash's `caller` prints it. The function is `main` outside of any,
    /// and `-` where it isn't known.
    pub line: Option<String>,
    /// The command, as it stands in the script.
    pub command: Option<String>,
}

impl Place {
    /// The same, with no secret in it.
    pub(crate) fn without(self, secrets: &Secrets) -> Self {
        let hide = |text: String| secrets.hide(&text).into_owned();
        Self { line: self.line.map(hide), command: self.command.map(hide) }
    }
}

/// A place as an interpreter names it.
pub(crate) struct Said {
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
    /// None where it isn't known.
    pub(crate) function: Option<String>,
    /// What stands there in the file.
    pub(crate) source: String,
}

impl From<Said> for Place {
    fn from(said: Said) -> Self {
        let function = said.function.as_deref().unwrap_or(UNKNOWN);
        Self {
            line: Some(format!("{} {function} {}", said.line, said.file.display())),
            command: Some(said.source).filter(|s| !s.is_empty()),
        }
    }
}

/// Writes the file that bash is to read first, and returns its path.
pub fn install(folder: &Path) -> io::Result<PathBuf> {
    let path = folder.join("trace.bash");
    if std::fs::read(&path).ok().as_deref() != Some(SOURCE.as_bytes()) {
        let file = tempfile::NamedTempFile::new_in(folder)?;
        std::fs::write(file.path(), SOURCE)?;
        file.persist(&path)?;
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
        let trace = step.trace.as_ref()?;
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
            let said = shell::said(&script, &parts, step, status, tail);
            let functions = !parts.all || !parts.files.is_empty() || script.has_functions();
            notes::place(&notes, &script, step, status, said, functions)
        }
        Language::Sh => {
            let parts = script.parts(&step.folder);
            let said = shell::said(&script, &parts, step, status, tail)?;
            said.certain(&script).then(|| said.at.into())
        }
        Language::Perl => Some(perl::said(&script, step, status, tail)?.into()),
        Language::Python => Some(python::said(&script, step, status, tail)?.into()),
        Language::Other => None,
    }
}
