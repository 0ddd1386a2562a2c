use std::time::Duration;

use jiff::Timestamp;
use provost_record::{Cause, Outcome, Phase, Record, Service};
use serde::{Deserialize, Serialize};

use crate::Node;

/// The stage that is no script, and the longest that a node silent in it may take that doesn't
/// say itself: the default of `fetch.deadline`.
const FETCH: (&str, Duration) = ("fetch", Duration::from_secs(10 * 60));
/// The same of a script: the default of its time-out, and of what ends it by force.
const SCRIPT: Duration = Duration::from_secs(31 * 60);
/// How long a node may be silent between stages: it has next to nothing to do, or waits until it
/// tries one again.
const BETWEEN: Duration = Duration::from_secs(5 * 60);
/// How long a reboot that a script asked for may take, the firmware's part included.
const REBOOT: Duration = Duration::from_secs(15 * 60);

/// How far one run is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Progress {
    pub(super) service: Service,
    pub(super) run: String,
    /// Of the last record that counted: an earlier one that comes late changes nothing.
    pub(super) seq: u64,
    attempt: Option<u32>,
    running: Option<Step>,
    failure: Option<Failure>,
    pub(super) ended: Option<Outcome>,
    /// When it was last heard of, by the server's clock.
    heard: Option<Timestamp>,
    /// How long it may be silent.
    limit: Duration,
    /// Whether a script has asked for a reboot, which is going on.
    reboots: bool,
    /// When it was given up, by the server's clock.
    pub(super) lost: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Step {
    stage: String,
    args: Vec<String>,
}

/// What broke a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Failure {
    step: Option<Step>,
    cause: Option<Cause>,
    exit_code: Option<i32>,
    signal: Option<String>,
    error_line: Option<String>,
    error_message: Option<String>,
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
            ended: None,
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
                if record.is_failure() {
                    let step = step.filter(|_| record.phase == Phase::StageEnd);
                    self.fail(Failure::of(record, step));
                }
            }
            // Pre- and post-commands belong to units of others; ours have none.
            _ => {}
        }
        if record.phase == Phase::ServiceEnd {
            self.ended = record.result;
            if !record.is_failure() {
                self.failure = None;
            }
        }
    }

    fn begin_stage(&mut self, record: &Record) {
        let step =
            Step { stage: record.stage.clone().unwrap_or_default(), args: record.args.clone() };
        // What is tried again may end well yet; a failure of any other stage stands.
        let again = record.attempt.is_some_and(|n| n > 1) || step.stage == FETCH.0;
        if again
            && self.failure.as_ref().is_some_and(|failure| failure.step.as_ref() == Some(&step))
        {
            self.failure = None;
        }
        self.running = Some(step);
    }

    /// The first failure is the one to look at; but a guard that holds the node says so itself.
    fn fail(&mut self, failure: Failure) {
        if self.failure.is_none() || failure.cause == Some(Cause::Held) {
            self.failure = Some(failure);
        }
    }

    pub(super) fn heard(&mut self, at: Timestamp) {
        self.heard = Some(at);
        self.lost = None;
    }

    /// When it is to be given up.
    pub(super) fn due(&self) -> Option<Timestamp> {
        if self.ended.is_some() || self.lost.is_some() {
            return None;
        }
        // A limit that is beyond the calendar is never over.
        self.heard?.checked_add(self.limit).ok()
    }

    /// Fills in what is known of this run. While a stage runs, it alone is named: an earlier
    /// failure isn't its own.
    pub(super) fn show(&self, node: Node) -> Node {
        let node = Node {
            service: Some(self.service.as_str().to_owned()),
            run: Some(self.run.clone()),
            attempt: self.attempt,
            stage: self.running.as_ref().map(|step| step.stage.clone()),
            ..node
        };
        match &self.failure {
            _ if self.lost.is_some() => self.show_lost(node),
            Some(failure) if self.running.is_none() => failure.show(node),
            _ => node,
        }
    }

    fn show_lost(&self, node: Node) -> Node {
        let what = match &self.running {
            _ if self.reboots => "it was to reboot, which",
            Some(_) => "its stage",
            None => "what comes between two stages",
        };
        let heard = self.heard.map(|at| at.to_string()).unwrap_or_default();
        let limit = jiff::SignedDuration::try_from(self.limit).unwrap_or(jiff::SignedDuration::MAX);
        let message =
            format!("nothing was heard of it since {heard}, and {what} may take {limit:#}");
        let hint = "see its console, its power and its network; when it speaks again, this is \
                    taken back";
        Node {
            cause: Some(Cause::Lost),
            error_message: Some(message),
            hint: Some(hint.to_owned()),
            ..node
        }
    }
}

/// How long the node may be silent after `record`.
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

/// Whether the node reboots now, as a script asked.
fn is_reboot(record: &Record) -> bool {
    record.phase == Phase::StageEnd && record.cause == Some(Cause::Reboot)
}

impl Failure {
    /// `step` is what ran, with its arguments, where the failure is a stage's.
    fn of(record: &Record, step: Option<Step>) -> Self {
        let named = || record.stage.clone().map(|stage| Step { stage, args: record.args.clone() });
        Self {
            step: step.or_else(named),
            cause: record.cause,
            exit_code: record.exit_code,
            signal: record.signal.clone(),
            error_line: record.error_line.clone(),
            error_message: record.error_message.clone(),
            hint: record.hint.clone(),
        }
    }

    fn show(&self, node: Node) -> Node {
        let failure = self.clone();
        Node {
            stage: failure.step.map(|step| step.stage),
            cause: failure.cause,
            exit_code: failure.exit_code,
            signal: failure.signal,
            error_line: failure.error_line,
            error_message: failure.error_message,
            hint: failure.hint,
            ..node
        }
    }
}
