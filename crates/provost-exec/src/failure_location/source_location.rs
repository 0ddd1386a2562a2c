use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::statements::without_function;
use crate::output::Secrets;

/// The function's part of a line where it isn't known.
const UNKNOWN: &str = "-";

/// Where a script failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureLocation {
    /// `LINE FUNCTION FILE`, as bash's `caller` prints it. The function is `main` outside of any,
    /// and `-` where it isn't known.
    pub line: Option<String>,
    /// Where the function of that line was called, in the same form.
    pub called_from: Option<String>,
    /// The command, as it stands in the script.
    pub command: Option<String>,
}

impl FailureLocation {
    /// The same, with `command` where it names none.
    pub(crate) fn or_command(place: Option<Self>, command: Option<String>) -> Option<Self> {
        let mut place = place.or_else(|| command.is_some().then(Self::default))?;
        place.command = place.command.or(command);
        Some(place)
    }

    /// Whether its command is `culprit`, a command's arguments, as far as the program's name says; where
    /// that is in a variable, as far as the words say that aren't.
    pub(crate) fn names(&self, culprit: &str) -> bool {
        let Some(command) = &self.command else { return false };
        let program = culprit.split(' ').next().unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or_default();
        let words = command.split(' ').take_while(|word| !word.contains(['<', '>']));
        let mut words = words.skip_while(|word| is_assignment(word));
        let is_variable = |word: &str| word.contains('$');
        command.contains(program)
            || (words.next().is_some_and(is_variable)
                && words.all(|w| is_variable(w) || culprit.contains(w.trim_matches(['"', '\'']))))
    }

    /// The same, with no secret in it.
    pub(crate) fn without(self, secrets: &Secrets) -> Self {
        let hide = |text: String| secrets.hide(&text).into_owned();
        let Self { line, called_from, command } = self;
        Self {
            line: line.map(hide),
            called_from: called_from.map(hide),
            command: command.map(hide),
        }
    }
}

impl fmt::Display for FailureLocation {
    /// ` at line 3 main /x: COMMAND`, in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one_line = |text: &str| text.replace(['\n', '\r'], " ");
        if let Some(line) = &self.line {
            write!(f, " at line {}", one_line(line))?;
        }
        match &self.command {
            Some(command) => write!(f, ": {}", one_line(command)),
            None => Ok(()),
        }
    }
}

/// Whether a word gives a command a variable.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
}

/// A place as an interpreter names it.
pub(crate) struct SourceLocation {
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
    /// None where it isn't known.
    pub(crate) function: Option<String>,
    /// What stands there in the file.
    pub(crate) source: String,
}

impl From<SourceLocation> for FailureLocation {
    fn from(spot: SourceLocation) -> Self {
        let function = spot.function.as_deref().unwrap_or(UNKNOWN);
        Self {
            line: Some(format!("{} {function} {}", spot.line, spot.file.display())),
            called_from: None,
            command: Some(without_function(&spot.source).to_owned()).filter(|s| !s.is_empty()),
        }
    }
}
