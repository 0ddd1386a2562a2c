use jiff::Timestamp;
use provost_record::{Cause, Outcome, Phase, Record, Service};
use serde::{Deserialize, Serialize};

use crate::attempts::Attempts;
use crate::{Node, Standing, Status, UpdateStatus};

/// What is remembered of a node so that each further record moves its status: a fold over its
/// records, in the order in which they arrive.
///
/// Kickstarts and boots make one line of runs, reruns by hand another, since only the first moves
/// the status: a rerun neither hides why a boot failed nor takes its late records away.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeState {
    name: String,
    status: Status,
    since: Option<Timestamp>,
    updatestatus: Option<UpdateStatus>,
    last_seen: Option<Timestamp>,
    /// Whether the last kickstart ended well: what boots then is what it installed.
    kickstarted: bool,
    /// The kickstart or boot that was heard of last.
    life: Option<Progress>,
    /// The rerun that was heard of last.
    rerun: Option<Progress>,
    /// Whether the rerun was first heard of after the kickstart or boot.
    rerun_is_newer: bool,
    /// Kickstarts and boots in vain.
    attempts: Attempts,
}

/// How far one run is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Progress {
    service: Service,
    run: String,
    /// Of the last record that counted: an earlier one that comes late changes nothing.
    seq: u64,
    attempt: Option<u32>,
    running: Option<String>,
    failure: Option<Failure>,
    ended: Option<Outcome>,
}

/// The first failure of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Failure {
    stage: Option<String>,
    cause: Option<Cause>,
    exit_code: Option<i32>,
    signal: Option<String>,
    error_line: Option<String>,
    error_message: Option<String>,
    hint: Option<String>,
}

impl NodeState {
    /// A node that has been defined, and not been heard of.
    pub fn new(name: &str, defined: Timestamp) -> Self {
        Self { name: name.to_owned(), since: Some(defined), ..Self::default() }
    }

    /// Notes that the node was heard of, at the server's time `at`.
    pub fn seen(&mut self, at: Timestamp) {
        self.last_seen = Some(at);
    }

    /// Takes in one record. `is_first` says that no record of its run was known before: such a
    /// run becomes the current one, and the one before it moves nothing any more, whatever the
    /// clocks say.
    pub fn apply(&mut self, record: &Record, is_first: bool) {
        let service = Service::ALL.into_iter().find(|s| s.as_str() == record.service);
        // A service that we don't know moves nothing.
        let Some(service) = service else { return };
        if service != Service::Run {
            self.count(record, is_first);
        }
        let line = match service {
            Service::Kickstart | Service::Boot => &mut self.life,
            Service::Run => &mut self.rerun,
        };
        if is_first {
            *line = Some(Progress::begin(service, &record.run));
            self.rerun_is_newer = service == Service::Run;
        }
        let current = line.as_mut().filter(|p| {
            p.run == record.run && p.service == service && (is_first || record.seq > p.seq)
        });
        let Some(progress) = current else { return };
        progress.apply(record);
        match (service, record.phase) {
            (Service::Run, Phase::ServiceStart) => self.updatestatus = Some(UpdateStatus::Syncing),
            (Service::Run, Phase::ServiceEnd) => {
                let ok = record.result == Some(Outcome::Success);
                self.updatestatus =
                    Some(if ok { UpdateStatus::Synced } else { UpdateStatus::Failed });
            }
            (Service::Kickstart, Phase::ServiceStart) => {
                self.kickstarted = false;
                self.turn(Status::Installing, record);
            }
            (Service::Boot, Phase::ServiceStart) => {
                let after_kickstart = self.kickstarted;
                self.turn(
                    if after_kickstart { Status::Postbooting } else { Status::Netbooting },
                    record,
                );
            }
            (_, Phase::ServiceEnd) if record.is_failure() => self.turn(Status::Failed, record),
            (Service::Kickstart, Phase::ServiceEnd) => {
                self.kickstarted = true;
                self.turn(Status::Booting, record);
            }
            (Service::Boot, Phase::ServiceEnd) => self.turn(Status::Booted, record),
            _ => {}
        }
    }

    /// Counts attempts, in whatever order runs arrive.
    fn count(&mut self, record: &Record, is_first: bool) {
        if is_first {
            self.attempts.begin(&record.run);
        }
        if record.phase == Phase::ServiceEnd && record.result == Some(Outcome::Success) {
            self.attempts.end_well(&record.run);
        }
    }

    /// How the node stands, its run `present` not counted.
    pub fn standing(&self, present: Option<&str>) -> Standing {
        self.attempts.standing(present)
    }

    /// Forgets the node's attempts, at the server's time `at`. Returns how many there were.
    pub fn release(&mut self, at: Timestamp) -> u32 {
        self.attempts.release(at)
    }

    fn turn(&mut self, status: Status, record: &Record) {
        if self.status != status {
            self.status = status;
            self.since = Some(record.timestamp);
        }
    }

    /// The node as it is shown: with the newest run, or, once a rerun has ended well, with what
    /// made the node's status `failed`, if it is.
    pub fn node(&self) -> Node {
        let rerun = self.rerun.as_ref().filter(|rerun| {
            let is_done = rerun.ended == Some(Outcome::Success);
            self.rerun_is_newer && !(is_done && self.status == Status::Failed)
        });
        let node = Node {
            name: self.name.clone(),
            status: self.status,
            since: self.since,
            updatestatus: self.updatestatus,
            last_seen: self.last_seen,
            ..Node::default()
        };
        match rerun.or(self.life.as_ref()) {
            Some(progress) => progress.show(node),
            None => node,
        }
    }
}

impl Progress {
    fn begin(service: Service, run: &str) -> Self {
        Self {
            service,
            run: run.to_owned(),
            seq: 0,
            attempt: None,
            running: None,
            failure: None,
            ended: None,
        }
    }

    fn apply(&mut self, record: &Record) {
        self.seq = record.seq;
        match record.phase {
            Phase::ServiceStart => self.attempt = record.attempt,
            Phase::StageStart => self.running.clone_from(&record.stage),
            Phase::StageEnd | Phase::ServiceEnd => {
                self.running = None;
                if record.is_failure() && self.failure.is_none() {
                    self.failure = Some(Failure::of(record));
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

    /// Fills in what is known of this run. While a stage runs, it alone is named: an earlier
    /// failure isn't its own.
    fn show(&self, node: Node) -> Node {
        let node = Node {
            service: Some(self.service.as_str().to_owned()),
            run: Some(self.run.clone()),
            attempt: self.attempt,
            stage: self.running.clone(),
            ..node
        };
        match &self.failure {
            Some(failure) if self.running.is_none() => failure.show(node),
            _ => node,
        }
    }
}

impl Failure {
    fn of(record: &Record) -> Self {
        Self {
            stage: record.stage.clone(),
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
            stage: failure.stage,
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

#[cfg(test)]
mod tests;
