mod brief;
mod progress;

use jiff::Timestamp;
use provost_record::{Cause, FETCH, Facts, Outcome, Phase, Record, Service};
use serde::{Deserialize, Serialize};

pub(crate) use self::brief::BriefState;
use self::progress::Progress;
use crate::attempts::Attempts;
use crate::claim::Claims;
use crate::quota::Usage;
use crate::{
    Claim, ClaimContent, Detail, Node, Notice, NoticeKind, ReportedGenerations, Sent, Standing,
    Status, UpdateStatus,
};

/// What to do about a node that waits for its plan.
const PUBLISH: &str = "name the node in site.toml, and publish";

/// The longest server's address that is kept, in characters: a node may send anything.
const MOST_OF_SERVER: usize = 280;

/// What is remembered of a node so that each further record updates its status: a fold over its
/// records, in the order in which they arrive.
///
/// Kickstarts and boots are one line of runs, reruns another, because only the first updates the
/// status: a rerun neither hides why a boot failed nor ends the boot's late records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeState {
    name: String,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updatestatus: Option<UpdateStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_seen: Option<Timestamp>,
    /// Whether it has ever reported with its token.
    reported: bool,
    /// Whether the last kickstart succeeded: what boots then is what it installed.
    kickstarted: bool,
    /// The newest kickstart or boot.
    #[serde(skip_serializing_if = "Option::is_none")]
    life: Option<Progress>,
    /// The newest rerun.
    #[serde(skip_serializing_if = "Option::is_none")]
    rerun: Option<Progress>,
    /// Whether the rerun's first record came after the kickstart's or boot's.
    rerun_is_newer: bool,
    /// Why the last kickstart or boot before the newest failed, in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_failure: Option<String>,
    /// What it waits for, which isn't there yet, and since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<(String, Timestamp)>,
    /// When it was sent a boot that it hasn't begun yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    boot_sent: Option<Timestamp>,
    /// Kickstarts and boots that failed.
    attempts: Attempts,
    /// What was claimed of it without a token.
    claims: Claims,
    /// The newest that it has fetched.
    seen: ReportedGenerations,
    /// The server from which its last run was fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    /// The version of its program.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    #[serde(skip_serializing_if = "Facts::is_empty")]
    facts: Facts,
    /// Whether its last report came by plain HTTP.
    plain_http: bool,
    /// What its records use.
    pub(crate) records: Usage,
}

impl NodeState {
    /// A node that is defined and has not reported yet.
    pub fn new(name: &str, defined: Timestamp) -> Self {
        Self { name: name.to_owned(), since: Some(defined), ..Self::default() }
    }

    /// Notes a report of a run, at the server's time `at`, `sent` so.
    /// A run that was lost is so no longer.
    pub fn note_report(&mut self, run: &str, sent: Option<&Sent>, at: Timestamp) {
        if let Some(Sent { program, plain_http, .. }) = sent {
            self.plain_http = *plain_http;
            if program.is_some() && self.program.as_deref() != program.as_deref() {
                self.program = program.as_deref().map(str::to_owned);
            }
        }
        self.last_seen = Some(at);
        self.reported = true;
        self.lines().filter(|line| line.run == run).for_each(|line| line.note_report(at));
    }

    /// When the node counts as lost if it reports nothing; none if it has nothing to report.
    pub fn due(&self) -> Option<Timestamp> {
        [&self.life, &self.rerun].into_iter().flatten().filter_map(Progress::due).min()
    }

    /// Marks the runs as lost that were due by `due`, at the server's time `at`. Returns whether
    /// there was one.
    pub fn lose(&mut self, due: Timestamp, at: Timestamp) -> bool {
        let overdue = |line: &&mut Progress| line.due().is_some_and(|when| when <= due);
        self.lines().filter(overdue).map(|line| line.lost = Some(at)).count() > 0
    }

    /// Restarts the node's deadlines at `at`, because no daemon received its reports before.
    pub fn restart_deadlines(&mut self, at: Timestamp) {
        self.lines().filter(|line| line.due().is_some()).for_each(|line| line.note_report(at));
    }

    fn lines(&mut self) -> impl Iterator<Item = &mut Progress> {
        [&mut self.life, &mut self.rerun].into_iter().flatten()
    }

    /// Applies one record. `is_first` says that no record of its run was known before: the run that came
    /// last becomes the current one, and the ones before it change nothing any more, whatever the node's
    /// clock says. Returns what it tells of the node.
    pub fn apply(&mut self, record: &Record, is_first: bool) -> Option<NoticeKind> {
        let service = Service::from(&*record.service);
        self.seen.bundle = self.seen.bundle.max(record.bundle.unwrap_or_default());
        self.seen.plan = self.seen.plan.max(record.plan.unwrap_or_default());
        if !record.keys.is_empty() {
            self.seen.keys.clone_from(&record.keys);
        }
        if !record.facts.is_empty() {
            self.facts.clone_from(&record.facts);
        }
        if let Service::Other(_) = service {
            // What a newer program means by it isn't known.
            return None;
        }
        if service != Service::Run {
            self.count(record, is_first);
        }
        let line = match service {
            Service::Kickstart | Service::Boot => &mut self.life,
            Service::Run => &mut self.rerun,
            Service::Other(_) => return None,
        };
        if is_first {
            if service != Service::Run {
                self.last_failure =
                    line.as_ref().and_then(Progress::words).or(self.last_failure.take());
                self.boot_sent = None;
            }
            *line = Some(Progress::begin(service, &record.run));
            self.rerun_is_newer = service == Service::Run;
        }
        let current = line.as_mut().filter(|p| {
            p.run == record.run && p.service == service && (is_first || record.seq > p.seq)
        });
        let progress = current?;
        progress.apply(record);
        if record.phase == Phase::StageEnd && record.stage.as_deref() == Some(FETCH) {
            let text = record.server.as_deref();
            self.server = text.map(|text| text.chars().take(MOST_OF_SERVER).collect());
        }
        if record.cause == Some(Cause::Held) && record.phase == Phase::ServiceEnd {
            progress.held(self.attempts.count(), self.last_failure.as_deref());
        }
        if service != Service::Run {
            self.claims.status = None;
        }
        let waited = self.note_waiting(&service, record);
        self.follow(&service, record, waited);
        match (service, record.phase) {
            // It is told once.
            (Service::Kickstart | Service::Boot, _) if self.waiting.is_some() => {
                (!waited).then_some(NoticeKind::Pending)
            }
            (_, Phase::ServiceEnd) if record.cause == Some(Cause::Held) => Some(NoticeKind::Held),
            (_, Phase::ServiceEnd) if record.is_failure() => Some(NoticeKind::Failed),
            (Service::Boot, Phase::ServiceEnd) => Some(NoticeKind::Booted),
            _ => None,
        }
    }

    /// Notes what a kickstart or boot waits for, by its record. Returns whether it waited before.
    fn note_waiting(&mut self, service: &Service, record: &Record) -> bool {
        let waited = self.waiting.is_some();
        if *service != Service::Run {
            let before = self.waiting.take();
            self.waiting = match (&record.waiting, record.phase) {
                (Some(what), _) => {
                    let since = before.map_or(record.timestamp, |(_, since)| since);
                    Some((what.clone(), since))
                }
                // It has only begun to ask again.
                (None, Phase::ServiceStart | Phase::StageStart) => before,
                (None, _) => None,
            };
        }
        waited
    }

    /// Updates the status by a record of the newest run of its service; `waited` says whether it waited for
    /// something before.
    fn follow(&mut self, service: &Service, record: &Record, waited: bool) {
        if (service, record.phase) == (&Service::Kickstart, Phase::ServiceStart) {
            self.kickstarted = false;
        }
        let waits = self.waiting.is_some();
        match (service, record.phase) {
            (Service::Run, Phase::ServiceStart) => self.updatestatus = Some(UpdateStatus::Syncing),
            (Service::Run, Phase::ServiceEnd) => {
                let ok = record.result == Some(Outcome::Success);
                self.updatestatus =
                    Some(if ok { UpdateStatus::Synced } else { UpdateStatus::Failed });
            }
            // It is shown as before it ever began.
            (Service::Kickstart | Service::Boot, _) if waits => {
                self.set_status(Status::Defined, record)
            }
            (Service::Kickstart, Phase::ServiceStart) => {
                self.set_status(Status::Installing, record)
            }
            (Service::Boot, Phase::ServiceStart) => self.set_status(self.booting(), record),
            (Service::Kickstart, Phase::StageEnd) if waited => {
                self.set_status(Status::Installing, record)
            }
            (Service::Boot, Phase::StageEnd) if waited => self.set_status(self.booting(), record),
            (_, Phase::ServiceEnd) if record.is_failure() => {
                self.set_status(Status::Failed, record)
            }
            (Service::Kickstart, Phase::ServiceEnd) => {
                self.kickstarted = true;
                self.set_status(Status::Booting, record);
            }
            (Service::Boot, Phase::ServiceEnd) => self.set_status(Status::Booted, record),
            _ => {}
        }
    }

    /// What a record of the run `run` tells of the node, at the server's time `at`.
    pub(crate) fn notice(&self, kind: NoticeKind, run: &str, at: Timestamp) -> Notice {
        let mut node = self.node();
        let lines = [&self.life, &self.rerun].into_iter().flatten();
        // What is shown of the node may be another run, which is newer.
        if let Some(progress) = lines.into_iter().find(|line| line.run == run)
            && node.run.as_deref() != Some(run)
        {
            node = progress.show(Node { detail: Detail::default(), ..node });
        }
        if kind == NoticeKind::Pending {
            let hint = Some(PUBLISH.to_owned());
            node.detail = Detail { error_message: node.waiting.clone(), hint, ..Detail::default() };
        }
        Notice::of(kind, node, at)
    }

    /// What it is while it boots.
    fn booting(&self) -> Status {
        if self.kickstarted { Status::Postbooting } else { Status::Netbooting }
    }

    /// Its name.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The newest generations that it has fetched.
    pub fn seen(&self) -> &ReportedGenerations {
        &self.seen
    }

    /// Whether the node has ever reported with its token.
    pub fn has_reported(&self) -> bool {
        // An older version has remembered only its runs.
        self.reported || self.life.is_some() || self.rerun.is_some()
    }

    /// Applies a claim, at the server's time `at`. Returns whether it is accepted: a claim has no
    /// token, so it changes nothing of a node that has ever reported with one. Any user of the node
    /// can claim.
    pub fn claim(&mut self, claim: &Claim, at: Timestamp) -> bool {
        if self.has_reported() {
            return false;
        }
        self.last_seen = Some(at);
        match &claim.content {
            ClaimContent::Program { program, appstatus } => {
                self.claims.program(program.clone(), appstatus.clone())
            }
            ClaimContent::Status { status, message } => {
                self.claims.status(*status, claim.by, message.clone(), at);
                self.boot_sent = None;
                self.rerun_is_newer = false;
                match status {
                    Status::Installing => self.kickstarted = false,
                    Status::Booting => self.kickstarted = true,
                    _ => {}
                }
                true
            }
        }
    }

    /// Counts attempts, in any order of the runs.
    fn count(&mut self, record: &Record, is_first: bool) {
        if is_first {
            self.attempts.begin(&record.run, record.run_began());
        }
        match record {
            Record { phase: Phase::ServiceEnd, result: Some(Outcome::Success), .. } => {
                self.attempts.end_well(&record.run);
                self.last_failure = None;
            }
            Record { phase: Phase::ServiceEnd, cause, stages_failed, .. }
                if *cause == Some(Cause::Held)
                    || !stages_failed.is_empty()
                    || self.is_unfetched(&record.run) =>
            {
                self.attempts.discount(&record.run);
            }
            _ => {}
        }
    }

    /// Whether the run had nothing to run, because it couldn't be fetched.
    fn is_unfetched(&self, run: &str) -> bool {
        self.life.as_ref().is_some_and(|life| life.run == run && life.is_unfetched())
    }

    /// The node's attempts, without its run `current`.
    pub fn standing(&self, current: Option<&str>) -> Standing {
        let earlier = self.life.as_ref().filter(|life| current != Some(&life.run));
        let last_failure = earlier.and_then(Progress::words).or_else(|| self.last_failure.clone());
        self.attempts.standing(current, last_failure)
    }

    /// Forgets the node's attempts, at the server's time `at`. Returns how many there were.
    pub fn release(&mut self, at: Timestamp) -> u32 {
        self.attempts.release(at)
    }

    /// Notes that it was sent a boot at the server's time `at`, or that it wasn't.
    pub(crate) fn note_boot_sent(&mut self, at: Option<Timestamp>) {
        self.boot_sent = at;
    }

    fn set_status(&mut self, status: Status, record: &Record) {
        if self.status != status {
            self.status = status;
            self.since = Some(record.timestamp);
        }
    }

    /// The node as it is shown: with the newest run; or, after a rerun that succeeded, with the
    /// failure that the node's status is about, if it is `failed`.
    pub fn node(&self) -> Node {
        let rerun = self.rerun.as_ref().filter(|rerun| {
            let is_done = rerun.ended == Some(Outcome::Success);
            let is_lost = self.life.as_ref().is_some_and(|life| life.lost.is_some());
            let claimed = self.claims.status.as_ref().map(|claimed| claimed.status);
            let has_failed = match claimed {
                Some(claimed) => claimed == Status::Failed,
                None => self.status == Status::Failed || is_lost,
            };
            self.rerun_is_newer && !(is_done && has_failed)
        });
        let lost = |line: &Option<Progress>| line.as_ref().and_then(|line| line.lost);
        let (status, since) = match lost(&self.life) {
            Some(at) => (Status::Failed, Some(at)),
            None => (self.status, self.since),
        };
        let node = Node {
            name: self.name.clone(),
            status,
            since,
            updatestatus: lost(&self.rerun).map(|_| UpdateStatus::Failed).or(self.updatestatus),
            last_seen: self.last_seen,
            boot_sent: self.boot_sent,
            bundle: Some(self.seen.bundle).filter(|seen| *seen > 0),
            plan: Some(self.seen.plan).filter(|seen| *seen > 0),
            server: self.server.clone(),
            program: self.program.clone(),
            facts: self.facts.clone(),
            plain_http: self.plain_http,
            ..Node::default()
        };
        let node = self.claims.programs(node);
        match (rerun, &self.claims.status, &self.life) {
            // The claim's reason isn't the rerun's.
            (Some(rerun), Some(claimed), _) => {
                rerun.show(Node { detail: Detail::default(), ..claimed.show(node) })
            }
            (None, None, Some(_)) if self.waiting.is_some() && node.status == Status::Defined => {
                let waiting = self.waiting.as_ref();
                let waiting = waiting.map(|(what, since)| format!("{what} (since {since})"));
                Node { waiting, ..node }
            }
            (Some(progress), None, _) | (None, None, Some(progress)) => progress.show(node),
            (None, Some(claimed), _) => claimed.show(node),
            (None, None, None) => node,
        }
    }
}

#[cfg(test)]
mod tests;
