//! Why a run, or a command, can't go on.

use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::Arc;

use provost_http::zone;
use provost_record::{Cause, ExitCode, JournalError};
use provost_steplog::wording;

/// A failure that is shown to the admin, on the console and in a record.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Its kind, which decides the exit code.
    pub cause: Cause,
    /// What was tried, on what, for how long; and why it failed, where there is no `source`.
    pub message: String,
    /// What to do about it, one line.
    pub hint: String,
    /// The error that it comes from. [`text`](Self::text) shows it.
    pub source: Option<Arc<dyn Error + Send + Sync>>,
    /// What isn't there yet, where nothing else is wrong.
    pub awaited: Option<Awaited>,
}

/// What a run waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// What is published for this node.
    Plan,
}

impl Awaited {
    /// What isn't there, as records say it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Plan => provost_api::UNPUBLISHED,
        }
    }
}

impl Failure {
    /// A failure of the kind `cause`.
    pub fn new(cause: Cause, message: impl ToString, hint: impl Into<String>) -> Self {
        // An address with an interface is a name for the client.
        let message = zone::shown(&message.to_string()).into_owned();
        Self { cause, message, hint: hint.into(), source: None, awaited: None }
    }

    /// The configuration or the command line is wrong.
    pub fn config(message: impl ToString, hint: impl Into<String>) -> Self {
        Self::new(Cause::Config, message, hint)
    }

    /// This node is in the way: its disk, permissions, a lock, too few resources.
    pub fn local(message: impl ToString, hint: impl Into<String>) -> Self {
        Self::new(Cause::Local, message, hint)
    }

    /// Something in the folder `state` can't be written.
    pub fn of_state(doing: impl ToString, state: &Path, e: io::Error) -> Self {
        let state = state.display();
        let hint = match e.kind() {
            io::ErrorKind::StorageFull => format!("make room on the file system of {state}"),
            io::ErrorKind::IsADirectory
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::AlreadyExists => {
                format!("move away (mv) what is in its place in {state}; it is made anew")
            }
            _ => format!("check that {state} is on a writable file system"),
        };
        Self::local(doing, hint).caused_by(e)
    }

    /// A file that was asked for can't be read: it isn't there, or this node is in the way.
    pub fn unreadable(message: impl ToString, hint: impl Into<String>, e: io::Error) -> Self {
        let cause = match e.kind() {
            // The last is of what isn't a file.
            io::ErrorKind::NotFound | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                Cause::Config
            }
            _ => Cause::Local,
        };
        Self::new(cause, message, hint).caused_by(e)
    }

    /// The same, because of `source`.
    pub fn caused_by(self, source: impl Error + Send + Sync + 'static) -> Self {
        Self { source: Some(Arc::new(source)), ..self }
    }

    /// Whether it comes from a missing right of this user.
    pub fn is_denied(&self) -> bool {
        let mut next: Option<&(dyn Error + 'static)> =
            self.source.as_ref().map(|source| &**source as &(dyn Error + 'static));
        while let Some(error) = next {
            let io = error.downcast_ref::<io::Error>();
            if io.is_some_and(|e| e.kind() == io::ErrorKind::PermissionDenied) {
                return true;
            }
            next = error.source();
        }
        false
    }

    /// What was tried and why it failed, with all sources.
    pub fn text(&self) -> String {
        match &self.source {
            Some(source) => format!("{}: {}", self.message, wording::error_chain(source)),
            None => self.message.clone(),
        }
    }

    /// The same, with another text.
    pub fn reworded(self, change: impl FnOnce(String) -> String) -> Self {
        Self { message: change(self.text()), source: None, ..self }
    }

    /// The exit code of the program that ends with it.
    pub fn exit_code(&self) -> ExitCode {
        exit_code(self.cause)
    }
}

/// The exit code of the program that ends by this cause.
pub fn exit_code(cause: Cause) -> ExitCode {
    match cause {
        Cause::Config | Cause::Local => ExitCode::Usage,
        Cause::Fetch | Cause::Verify => ExitCode::Fetch,
        Cause::Held => ExitCode::Held,
        Cause::Interrupted => ExitCode::Interrupted,
        Cause::Exit
        | Cause::Signal
        | Cause::Timeout
        | Cause::Missing
        | Cause::Exec
        | Cause::Reboot
        | Cause::Lost
        | Cause::Other(_) => ExitCode::PostscriptFailed,
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\nhint: {}", self.text(), self.hint)
    }
}

impl From<JournalError> for Failure {
    fn from(e: JournalError) -> Self {
        Self::local(wording::error_chain(&e), e.hint())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_shows_its_sources_once() {
        let full = Failure::local("writing /x", "make room").caused_by(io::Error::other("full"));
        assert_eq!(full.to_string(), "writing /x: full\nhint: make room");
        let full = full.reworded(|text| format!("{text} (1 try)"));
        assert_eq!(full.to_string(), "writing /x: full (1 try)\nhint: make room");
    }
}
