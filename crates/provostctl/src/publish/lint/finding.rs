use provost_publish::Source;
use serde::Serialize;

use crate::failure::Failure;
use crate::output;

/// How closely to look.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::publish) enum Depth {
    /// What takes milliseconds.
    Quick,
    /// With shellcheck's errors, if it is installed.
    Full,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::publish) enum Level {
    /// The script can't work.
    Error,
    /// It may be meant so.
    Warning,
    /// It couldn't be looked at.
    Note,
}

/// A mistake.
#[derive(Debug, Serialize)]
pub(in crate::publish) struct Finding {
    pub(in crate::publish) level: Level,
    /// The file; none where the text names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::publish) file: Option<String>,
    /// What is wrong.
    #[serde(rename = "error")]
    pub(in crate::publish) what: String,
    pub(in crate::publish) hint: String,
}

impl Finding {
    pub(in crate::publish) fn of(
        level: Level,
        source: &Source,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        let file = Some(source.path.display().to_string());
        Self { level, file, what: what.into(), hint: hint.into() }
    }

    /// What publishing would fail with.
    pub(in crate::publish) fn of_failure(failure: Failure) -> Self {
        Self { level: Level::Error, file: None, what: failure.error, hint: failure.hint }
    }

    /// As an error of the command.
    pub(in crate::publish) fn failure(&self) -> Failure {
        let what = match &self.file {
            Some(file) => format!("{file}: {}", self.what),
            None => self.what.clone(),
        };
        Failure::new(what, self.hint.clone())
    }

    /// Prints it as a warning or a note.
    pub(in crate::publish) fn warn(&self) {
        let word = if self.level == Level::Note { "note" } else { "warning" };
        let failure = self.failure();
        output::note(&format!("{word}: {}\n  hint: {}", failure.error, failure.hint));
    }
}
