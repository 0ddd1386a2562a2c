use std::time::Duration;

use jiff::Timestamp;
use provost_record::{Cause, Outcome, Phase, Record, Service};
use provost_steplog::wording;
use serde::{Deserialize, Serialize};

use crate::failures::last_reason;
use crate::{Detail, Node};

/// The stage that isn't a script, and the longest time without a report in it where the node
/// doesn't send a limit: the default of `fetch.deadline`.
const FETCH: (&str, Duration) = ("fetch", Duration::from_secs(10 * 60));
/// The same of a script: the defaults of its time-out and of the steps that kill it.
const SCRIPT: Duration = Duration::from_secs(31 * 60);
/// The longest time without a report between stages: the node does next to nothing, or waits for
/// a retry.
const BETWEEN: Duration = Duration::from_secs(5 * 60);
/// How many later failures of a run are kept.
const MOST_LATER: usize = 50;
/// How long a reboot that a script asked for may take, including the firmware's part.
const REBOOT: Duration = Duration::from_secs(15 * 60);

/// The progress of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Progress {
    pub(super) service: Service,
    pub(super) run: String,
    /// Of the newest record: an earlier one that comes late changes nothing.
    pub(super) seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    running: Option<Step>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<Failure>,
    /// Those of later steps: only the end of the run says which of them weren't ignored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    later_failures: Vec<Failure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ended: Option<Outcome>,
    /// How many steps it has, once that is known.
    #[serde(default)]
    steps: usize,
    /// When it last reported, by the server's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    heard: Option<Timestamp>,
    /// The longest time without a report.
    limit: Duration,
    /// Whether it reboots, as a script asked.
    reboots: bool,
    /// When it was lost, by the server's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lost: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Step {
    stage: String,
    args: Vec<String>,
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Failure {
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<Step>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<Cause>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_line: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    called_from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Progress {
    pub(super) fn begin(service: Service, run: &str) -> Self {
        Self {
            service,
            run: run.to_owned(),
            seq: 0,
            attempt: None,
            running: None,
            failure: None,
            later_failures: Vec::new(),
            ended: None,
            steps: 0,
            heard: None,
            limit: BETWEEN,
            reboots: false,
            lost: None,
        }
    }

    pub(super) fn apply(&mut self, record: &Record) {
        self.seq = record.seq;
        self.limit = limit(record);
        self.reboots = is_reboot(record);
        match record.phase {
            Phase::ServiceStart => self.attempt = record.attempt,
            Phase::StageStart => self.begin_stage(record),
            Phase::StageEnd | Phase::ServiceEnd => {
                let step = self.running.take();
                if self.is_fetch_tried_before(step.as_ref()) {
                    self.failure = None;
                }
                if record.is_failure() {
                    let step = step.filter(|_| record.phase == Phase::StageEnd);
                    self.fail(Failure::of(record, step));
                }
            }
            // Pre- and post-commands belong to other programs' units; ours have none.
            _ => {}
        }
        if !record.stages.is_empty() {
            self.steps = record.stages.len();
        }
        if record.phase == Phase::ServiceEnd {
            self.ended = record.result;
            self.blame(record);
            if let Some(failure) =
                self.failure.as_mut().filter(|_| !record.stages_failed.is_empty())
            {
                failure.stand_for(&record.stages_failed, self.steps);
            }
            if !record.is_failure() {
                self.failure = None;
            }
        }
    }

    /// Whether it failed because what to run couldn't be fetched.
    pub(super) fn is_unfetched(&self) -> bool {
        self.failure.as_ref().is_some_and(|failure| {
            let stage = failure.step.as_ref().map(|step| &*step.stage);
            stage == Some(FETCH.0) && failure.cause == Some(Cause::Fetch)
        })
    }

    fn begin_stage(&mut self, record: &Record) {
        let step =
            Step { stage: record.stage.clone().unwrap_or_default(), args: record.args.clone() };
        // A retry may succeed; a failure of any other stage stays. What kept a fetch from success so
        // far is shown while it goes on.
        if record.attempt.is_some_and(|n| n > 1) {
            self.failure.take_if(|failure| failure.step.as_ref() == Some(&step));
            self.later_failures.pop_if(|failure| failure.step.as_ref() == Some(&step));
        }
        self.running = Some(step);
    }

    /// Whether `step` is the fetch, and the failure that of its earlier tries.
    fn is_fetch_tried_before(&self, step: Option<&Step>) -> bool {
        let failed = self.failure.as_ref().and_then(|failure| failure.step.as_ref());
        step.is_some_and(|step| step.stage == FETCH.0 && failed == Some(step))
    }

    /// The first failure is shown, unless the guard holds the node: then that is.
    fn fail(&mut self, failure: Failure) {
        if self.failure.is_none() || failure.cause == Some(Cause::Held) {
            self.failure = Some(failure);
        } else if failure.step.is_some() && self.later_failures.len() < MOST_LATER {
            self.later_failures.push(failure);
        }
    }

    /// At the `end` of the run the first failure is shown that it failed by: one that the step's policy
    /// ignores isn't.
    fn blame(&mut self, end: &Record) {
        let later = std::mem::take(&mut self.later_failures);
        if end.error_message.is_none() && end.stages_failed.is_empty() {
            // It says nothing of them: that of another program.
            return;
        }
        let mut failures = self.failure.iter().chain(&later);
        let blamed = match end.stages_failed.as_slice() {
            // It repeats what the step says; of two that say the same, the last stopped the run.
            [] => failures.rfind(|f| {
                (&f.error_line, &f.error_message) == (&end.error_line, &end.error_message)
            }),
            failed => {
                failures.find(|f| f.step.as_ref().is_some_and(|step| failed.contains(&step.stage)))
            }
        };
        match blamed.cloned() {
            None if end.cause.is_some() => self.failure = Some(Failure::of(end, None)),
            None => {}
            blamed => self.failure = blamed,
        }
    }

    /// Notes why the guard holds the node: what its `attempts` failed by.
    pub(super) fn held(&mut self, attempts: u32, last: Option<&str>) {
        // A node without a disk doesn't know of its other attempts.
        let attempts = attempts.max(self.attempt.map_or(0, |this| this.saturating_sub(1)));
        if let (Some(failure), Some(last)) = (&mut self.failure, last) {
            let count = wording::count(attempts, "failure");
            failure.error_message = Some(format!("held after {count}; the last: {last}"));
        }
    }

    /// Why it failed, in a few words; none if it didn't, or was held.
    pub(super) fn words(&self) -> Option<String> {
        let failure = self.failure.as_ref().filter(|f| f.cause != Some(Cause::Held))?;
        let outcome = wording::outcome(failure.cause, failure.exit_code, failure.signal.as_deref());
        let line = failure.error_message.as_deref().and_then(last_reason);
        let stage = failure.step.as_ref().map(|step| step.stage.as_str());
        let words: Vec<&str> = [stage, Some(&outcome), line].into_iter().flatten().collect();
        Some(words.join(", "))
    }

    pub(super) fn note_report(&mut self, at: Timestamp) {
        self.heard = Some(at);
        self.lost = None;
    }

    /// When it counts as lost.
    pub(super) fn due(&self) -> Option<Timestamp> {
        if self.ended.is_some() || self.lost.is_some() {
            return None;
        }
        // A limit beyond the calendar never ends.
        self.heard?.checked_add(self.limit).ok()
    }

    /// Adds this run to `node`. While a stage runs, only that is shown: an earlier failure isn't its
    /// own, unless it is what a fetch met with that is still trying.
    pub(super) fn show(&self, node: Node) -> Node {
        let node = Node {
            service: Some(self.service.as_str().to_owned()),
            run: Some(self.run.clone()),
            attempt: self.attempt,
            ..node
        };
        let stage = self.running.as_ref().map(|step| step.stage.clone());
        let detail = match &self.failure {
            _ if self.lost.is_some() => Detail { stage, ..self.lost_detail() },
            Some(failure) if self.running.is_none() => failure.detail(),
            Some(failure) if self.is_fetch_tried_before(self.running.as_ref()) => failure.detail(),
            _ => Detail { stage, ..node.detail },
        };
        Node { detail, ..node }
    }

    fn lost_detail(&self) -> Detail {
        let what = match &self.running {
            _ if self.reboots => "its reboot",
            Some(_) => "its stage",
            None => "the time between two stages",
        };
        let heard = self.heard.map(|at| at.to_string()).unwrap_or_default();
        let limit = jiff::SignedDuration::try_from(self.limit).unwrap_or(jiff::SignedDuration::MAX);
        let message = format!("it has not reported since {heard}, and {what} may take {limit:#}");
        let hint = "check its console, its power and its network; its next report clears this";
        Detail {
            cause: Some(Cause::Lost),
            error_message: Some(message),
            hint: Some(hint.to_owned()),
            ..Detail::default()
        }
    }
}

/// The longest time without a report after `record`.
fn limit(record: &Record) -> Duration {
    match record.phase {
        Phase::StageStart => match record.limit_ms {
            Some(ms) => Duration::from_millis(ms),
            None if record.stage.as_deref() == Some(FETCH.0) => FETCH.1,
            None => SCRIPT,
        },
        _ if is_reboot(record) => REBOOT,
        _ => BETWEEN,
    }
}

/// Whether the node reboots next, as a script asked.
fn is_reboot(record: &Record) -> bool {
    record.phase == Phase::StageEnd && record.cause == Some(Cause::Reboot)
}

impl Failure {
    /// `step` is the stage that ran, with its arguments, where the failure is a stage's.
    fn of(record: &Record, step: Option<Step>) -> Self {
        let named = || record.stage.clone().map(|stage| Step { stage, args: record.args.clone() });
        Self {
            step: step.or_else(named),
            cause: record.cause,
            exit_code: record.exit_code,
            signal: record.signal.clone(),
            error_line: record.error_line.clone(),
            called_from: record.called_from.clone(),
            error_message: record.error_message.clone(),
            command: record.command.clone(),
            hint: record.hint.clone(),
        }
    }

    /// What is shown of a run that went on to its end: the stage and the cause stay those of the first failure.
    fn stand_for(&mut self, failed: &[String], steps: usize) {
        (self.error_line, self.called_from, self.command) = (None, None, None);
        self.error_message = Some(wording::steps_failed(failed, steps));
    }

    fn detail(&self) -> Detail {
        let failure = self.clone();
        Detail {
            stage: failure.step.map(|step| step.stage),
            cause: failure.cause,
            exit_code: failure.exit_code,
            signal: failure.signal,
            error_line: failure.error_line,
            called_from: failure.called_from,
            error_message: failure.error_message,
            command: failure.command,
            hint: failure.hint,
        }
    }
}
