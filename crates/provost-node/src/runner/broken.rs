use provost_record::{Cause, ExitCode, JournalError};

use crate::failure::Failure;
use crate::observe::console::complain;
use crate::state::progress::FirstFailure;

/// What keeps a run from a good end.
pub(crate) struct Broken {
    pub(crate) exit: ExitCode,
    /// What stands in `service end`: of the stage that failed.
    pub(crate) error_line: Option<String>,
    pub(crate) error_message: Option<String>,
    /// Where no stage is to blame.
    pub(crate) cause: Option<Cause>,
    pub(crate) hint: Option<String>,
    pub(crate) not_run: Vec<String>,
}

impl Broken {
    /// By a stage that has told of its failure.
    pub(crate) fn by(failure: &Failure) -> Self {
        Self {
            exit: failure.exit_code(),
            error_line: None,
            error_message: Some(failure.text()),
            cause: None,
            hint: None,
            not_run: Vec::new(),
        }
    }

    /// By what is no stage's fault.
    pub(crate) fn outside(failure: &Failure) -> Self {
        let (cause, hint) = (Some(failure.cause), Some(failure.hint.clone()));
        Self { cause, hint, ..Self::by(failure) }
    }

    /// By a step.
    pub(crate) fn at(exit: ExitCode, first: FirstFailure, not_run: Vec<String>) -> Self {
        let FirstFailure { error_line, error_message } = first;
        Self { exit, error_line, error_message, cause: None, hint: None, not_run }
    }
}

impl From<JournalError> for Broken {
    /// What can't be recorded isn't run. That is all that can be done about it here.
    fn from(e: JournalError) -> Self {
        let failure = Failure::from(e);
        complain(&format!("error: {failure}"));
        Self { exit: ExitCode::Usage, ..Self::by(&failure) }
    }
}
