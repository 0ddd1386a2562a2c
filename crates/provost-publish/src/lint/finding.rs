use serde::Serialize;

use crate::Source;

/// How closely to look.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// What takes milliseconds.
    Quick,
    /// With shellcheck's errors, if it is installed.
    Full,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The script can't work.
    Error,
    /// It may be meant so.
    Warning,
    /// It couldn't be looked at.
    Note,
}

/// A mistake.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub level: Level,
    /// The file; none where the text names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What is wrong.
    #[serde(rename = "error")]
    pub what: String,
    /// What to do about it.
    pub hint: String,
}

impl Finding {
    pub(super) fn of(
        level: Level,
        source: &Source,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        let file = Some(source.path.display().to_string());
        Self { level, file, what: what.into(), hint: hint.into() }
    }
}
