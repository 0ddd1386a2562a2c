use provost_record::{Cause, ExitCode};

/// Why a run can't go on, told so that it can stand in a record and on a console.
#[derive(Clone, Debug)]
pub struct Failure {
    pub cause: Cause,
    /// What was tried, on what, for how long, and why it failed.
    pub message: String,
    /// What to do about it, one line.
    pub hint: String,
}

impl Failure {
    pub fn new(cause: Cause, message: impl ToString, hint: impl Into<String>) -> Self {
        Self { cause, message: message.to_string(), hint: hint.into() }
    }

    pub fn config(message: impl ToString, hint: impl Into<String>) -> Self {
        Self::new(Cause::Config, message, hint)
    }

    pub fn exit_code(&self) -> ExitCode {
        match self.cause {
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
            | Cause::Lost => ExitCode::PostscriptFailed,
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\nhint: {}", self.message, self.hint)
    }
}

impl From<provost_record::JournalError> for Failure {
    fn from(e: provost_record::JournalError) -> Self {
        Self::config(provost_record::wording::error_chain(&e), e.hint())
    }
}
