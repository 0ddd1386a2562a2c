use provost_record::{Cause, ExitCode, JournalError, Record};

use super::schedule::{ScheduledStep, names};
use crate::failure::{Awaited, Failure};
use crate::state::progress::FirstFailure;

/// What keeps a run from a good end, as its `service end` says it.
pub(crate) struct RunFailure {
    pub(crate) exit: ExitCode,
    /// Of the stage that failed.
    error_line: Option<String>,
    error_message: Option<String>,
    /// Where no stage is to blame.
    pub(crate) cause: Option<Cause>,
    pub(crate) hint: Option<String>,
    not_run: Vec<String>,
    /// The steps that failed, where the run went on to its end.
    pub(crate) stages_failed: Vec<String>,
    /// Whether what to run couldn't be fetched. The guard would hold a node that nothing is wrong with, which only
    /// came too early: before its plan was published, or its management node was up.
    pub(crate) is_unfetched: bool,
    /// What isn't there yet, where nothing else is wrong.
    awaited: Option<Awaited>,
}

impl RunFailure {
    /// By a stage whose own record has the cause and the hint.
    pub(crate) fn by_stage(failure: &Failure) -> Self {
        Self {
            exit: failure.exit_code(),
            error_line: None,
            error_message: Some(failure.text()),
            cause: None,
            hint: None,
            not_run: Vec::new(),
            stages_failed: Vec::new(),
            is_unfetched: false,
            awaited: failure.awaited,
        }
    }

    /// By the fetch.
    pub(crate) fn by_fetch(failure: &Failure) -> Self {
        Self { is_unfetched: failure.cause == Cause::Fetch, ..Self::by_stage(failure) }
    }

    /// Before `steps`, by what no stage is to blame for. It is said here.
    pub(crate) fn before<'s>(
        steps: impl IntoIterator<Item = &'s ScheduledStep>,
        failure: &Failure,
    ) -> Self {
        tracing::error!("error: {failure}");
        let (cause, hint) = (Some(failure.cause), Some(failure.hint.clone()));
        Self { cause, hint, not_run: names(steps), ..Self::by_stage(failure) }
    }

    /// By a step, with these left.
    pub(crate) fn by_step(exit: ExitCode, first: FirstFailure, not_run: Vec<String>) -> Self {
        let FirstFailure { error_line, error_message } = first;
        Self {
            exit,
            error_line,
            error_message,
            cause: None,
            hint: None,
            not_run,
            stages_failed: Vec::new(),
            is_unfetched: false,
            awaited: None,
        }
    }

    /// By the steps `stages_failed` of a run that went on to its end.
    pub(crate) fn by_steps(first: FirstFailure, stages_failed: Vec<String>) -> Self {
        Self { stages_failed, ..Self::by_step(ExitCode::PostscriptFailed, first, Vec::new()) }
    }

    /// Whether all steps have run all the same.
    pub(crate) fn went_on(&self) -> bool {
        !self.stages_failed.is_empty()
    }

    /// Fills in the `service end`.
    pub(crate) fn fill(self, end: Record) -> Record {
        Record {
            error_line: self.error_line,
            error_message: self.error_message,
            cause: self.cause,
            hint: self.hint,
            not_run: self.not_run,
            stages_failed: self.stages_failed,
            waiting: self.awaited.map(|what| what.words().to_owned()),
            ..end
        }
    }
}

impl From<JournalError> for RunFailure {
    /// What can't be recorded isn't run. That is all that can be done about it here.
    fn from(e: JournalError) -> Self {
        let failure = Failure::from(e);
        tracing::error!("error: {failure}");
        Self { exit: ExitCode::Usage, ..Self::by_stage(&failure) }
    }
}
