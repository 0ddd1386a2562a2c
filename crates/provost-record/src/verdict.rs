use crate::{Cause, Judgement, Outcome, Phase, Record, judge};

/// How far a service has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It never began.
    NotExecuted,
    /// It has begun, and not ended.
    InProgress,
    /// Its last run succeeded.
    Succeeded,
    /// It was stopped in order; that is no failure.
    Stopped,
    /// It failed, and has not begun again.
    Failed,
}

/// What a service's records say of it alone: OpenShift's judgement, and what it leaves out.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// How far it has come.
    pub state: State,
    /// OpenShift's judgement.
    pub judgement: Judgement,
    /// Its last failure since it last succeeded, with the facts of the stage that caused it. A
    /// stage that succeeded when it was tried again is none.
    pub failure: Option<Record>,
}

impl Verdict {
    /// Of one service's records.
    pub fn of(records: &[Record]) -> Self {
        let judgement = judge(records);
        let mut failure: Option<Record> = None;
        let mut before: Option<&Record> = None;
        for record in records {
            match (record.result, record.phase) {
                (Some(Outcome::Failure), _) => failure = Some(merged(before, record)),
                (Some(Outcome::Success), Phase::ServiceEnd | Phase::PostCommandEnd) => {
                    failure = None;
                }
                (Some(Outcome::Success), _) => failure = failure.filter(|f| !is_same(f, record)),
                (Some(Outcome::Other(_)) | None, _) => {}
            }
            before = Some(record);
        }
        let last_failed = records.last().is_some_and(Record::is_failure);
        let state = match () {
            () if last_failed && failure.as_ref().is_some_and(Record::is_stop) => State::Stopped,
            () if last_failed => State::Failed,
            () if judgement.starts == 0 => State::NotExecuted,
            () if judgement.successful => State::Succeeded,
            () => State::InProgress,
        };
        Self { state, judgement, failure }
    }

    /// Whether something is wrong with it: it failed, has begun again after a failure, or never
    /// began.
    pub fn is_bad(&self) -> bool {
        match self.state {
            State::Failed | State::NotExecuted => true,
            State::InProgress => self.failure.as_ref().is_some_and(|f| !f.is_stop()),
            State::Succeeded | State::Stopped => false,
        }
    }
}

impl Record {
    /// Whether it is the end of something that was stopped in order: by a signal to it, as
    /// `systemctl stop` or a reboot sends it.
    pub fn is_stop(&self) -> bool {
        self.is_failure() && self.cause == Some(Cause::Interrupted) && self.signal.is_some()
    }
}

/// A failed end right after the failed end of its stage repeats it, maybe with less.
fn merged(before: Option<&Record>, record: &Record) -> Record {
    let mut failure = record.clone();
    // An ignored failure isn't repeated.
    let is_repeated =
        |stage: &String| record.stages_failed.is_empty() || record.stages_failed.contains(stage);
    let is_stage = |b: &&Record| {
        b.is_failure() && b.phase == Phase::StageEnd && b.stage.as_ref().is_none_or(is_repeated)
    };
    if let Some(stage) = before.filter(is_stage).filter(|_| record.phase.is_last()).cloned() {
        failure.stage = failure.stage.or(stage.stage);
        failure.error_line = failure.error_line.or(stage.error_line);
        failure.error_message = failure.error_message.or(stage.error_message);
        failure.command = failure.command.or(stage.command);
        failure.called_from = failure.called_from.or(stage.called_from);
        failure.exit_code = failure.exit_code.or(stage.exit_code);
        failure.signal = failure.signal.or(stage.signal);
        failure.cause = failure.cause.or(stage.cause);
    }
    failure
}

/// Whether a success is of the very thing that failed before.
fn is_same(failure: &Record, success: &Record) -> bool {
    failure.phase == success.phase
        && failure.stage == success.stage
        && failure.pre_command == success.pre_command
}
