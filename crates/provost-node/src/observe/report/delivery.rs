//! Delivers what is in the spool, to the first server that takes it.

use std::time::Duration;

use provost_api::nodes::Acknowledgement;
use provost_api::{Directive, LogKind};
use provost_http::Client;
use provost_record::{Entry, Record, Service};
use tokio::sync::watch;
use tokio::time::Instant;

use super::logs::{self, Waiting};
use super::servers::{ReportError, Response, Servers};
use super::spool::ReportLock;
use super::spool::Spool;
use crate::failure::Failure;
use crate::settings::{Paths, Settings};

/// The most records of one report.
const MOST_RECORDS: usize = 500;

/// Delivers records and logs.
pub(super) struct Delivery {
    servers: Servers,
    paths: Paths,
    spool: Spool,
    current: Option<CurrentRun>,
}

impl Delivery {
    /// Of what is in `spool`; in a run that goes on, `current`.
    pub(super) fn new(
        settings: &Settings,
        client: &Client,
        paths: &Paths,
        spool: Spool,
        current: Option<CurrentRun>,
    ) -> Self {
        Self { servers: Servers::new(settings, client), paths: paths.clone(), spool, current }
    }

    /// Waits until it is known how to send them.
    pub(super) async fn wait_ready(&self) {
        self.servers.wait_ready().await;
    }

    /// For how long the management node asked, with its last answer, for no report that can wait.
    pub(super) fn pause(&self) -> Duration {
        self.servers.pause()
    }

    /// Delivers all records, then the logs of failed steps. `refused` gets a message about each of
    /// them that the management node will never take.
    pub(super) async fn deliver(
        &mut self,
        refused: &mut impl FnMut(&str),
    ) -> Result<(), ReportError> {
        let _lock = self.lock()?;
        self.spool.begin_report();
        for service in Service::ALL {
            loop {
                let entries = self.spool.next(service);
                if entries.is_empty() {
                    break;
                }
                for run in entries.chunk_by(|a, b| a.record.run == b.record.run) {
                    for batch in run.chunks(MOST_RECORDS) {
                        self.deliver_records(service, batch, refused).await?;
                    }
                }
            }
        }
        for log in logs::waiting(&self.paths, LogKind::Failure) {
            self.deliver_log(&log, refused).await?;
        }
        Ok(())
    }

    /// Delivers the logs of steps that succeeded, in half of the time: the other half is left for what is urgent, at
    /// the server and on the network.
    pub(super) async fn deliver_success_logs(
        &mut self,
        refused: &mut impl FnMut(&str),
    ) -> Result<(), ReportError> {
        let _lock = self.lock()?;
        for log in logs::waiting(&self.paths, LogKind::Success) {
            let begun = Instant::now();
            self.deliver_log(&log, refused).await?;
            tokio::time::sleep(begun.elapsed()).await;
        }
        Ok(())
    }

    async fn deliver_log(
        &mut self,
        log: &Waiting,
        refused: &mut impl FnMut(&str),
    ) -> Result<(), ReportError> {
        // One that was removed: there is nothing left to send.
        if let Some(packed) = log.packed().await {
            let response = self.servers.send_log(&log.run, &log.name, log.kind, packed).await?;
            if let Response::Refused(why) = response {
                refused(&format!("the log {} of run {} is refused: {why}", log.name, log.run));
            }
        }
        log.done();
        Ok(())
    }

    /// Sends records that are in no journal, once to each server until one takes them. Returns
    /// whether one did.
    pub(super) async fn send_unwritten(&mut self, records: &[Record]) -> bool {
        let Ok(json) = serde_json::to_string(records) else { return false };
        let last = records.last().map_or(0, |record| record.seq);
        for _ in 0..self.servers.count() {
            match self.servers.send_records(json.clone()).await {
                Ok(Response::Taken(answer))
                    if read(&answer, last).is_some_and(|a| a.acked == last) =>
                {
                    return true;
                }
                Ok(Response::Taken(_)) => drop(self.servers.acknowledged_nothing()),
                Ok(Response::Refused(_)) => return false,
                // The next server has its turn.
                Err(_) => {}
            }
        }
        false
    }

    /// Takes the lock. Where it can't be had at all, two may report the same, of which the management
    /// node keeps one.
    fn lock(&mut self) -> Result<Option<ReportLock>, ReportError> {
        match ReportLock::take(&self.paths) {
            Ok(Some(lock)) => Ok(Some(lock)),
            Ok(None) => {
                let message = "beginning to report: another process reports";
                Err(ReportError::Retry(Failure::local(message, "let it finish"), Duration::ZERO))
            }
            Err(e) => {
                self.spool.goes_without_disk(&e);
                Ok(None)
            }
        }
    }

    async fn deliver_records(
        &mut self,
        service: Service,
        entries: &[Entry],
        refused: &mut impl FnMut(&str),
    ) -> Result<(), ReportError> {
        let mut rest = entries;
        while !rest.is_empty() {
            let texts: Vec<&str> = rest.iter().map(|e| e.json.get()).collect();
            match self.servers.send_records(format!("[{}]", texts.join(","))).await? {
                Response::Taken(answer) => rest = self.acknowledge(service, rest, &answer).await?,
                Response::Refused(why) if rest.len() == 1 => {
                    let (run, seq) = (&rest[0].record.run, rest[0].record.seq);
                    refused(&format!(
                        "record {seq} of run {run:?} stays on this node; the management node \
                         refuses it: {why}"
                    ));
                    self.spool.acknowledged(service, &rest[0]).await;
                    return Ok(());
                }
                // One of them is to blame; the others must not wait for it.
                Response::Refused(_) => {
                    for entry in rest {
                        let one = std::slice::from_ref(entry);
                        Box::pin(self.deliver_records(service, one, refused)).await?;
                    }
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Notes what an answer acknowledges, and returns the `entries` that it doesn't.
    async fn acknowledge<'e>(
        &mut self,
        service: Service,
        entries: &'e [Entry],
        answer: &[u8],
    ) -> Result<&'e [Entry], ReportError> {
        let answer = read(answer, entries.last().map_or(0, |e| e.record.seq));
        let acked = |a: &Acknowledgement| entries.iter().rposition(|e| e.record.seq <= a.acked);
        let Some((answer, at)) = answer.and_then(|a| acked(&a).map(|at| (a, at))) else {
            return Err(self.servers.acknowledged_nothing());
        };
        let last = &entries[at];
        if let Some(current) = self.current.as_ref().filter(|run| run.id == last.record.run) {
            current.handle(answer);
        }
        self.spool.acknowledged(service, last).await;
        Ok(&entries[at + 1..])
    }
}

/// The run that goes on while its records are reported.
pub(super) struct CurrentRun {
    pub(super) id: String,
    /// Why the management node wants nothing more to run, while it does.
    pub(super) hold: watch::Sender<Option<String>>,
}

/// Reads the answer to a report whose last record is `last`. An answer that acknowledges what
/// was never sent is none.
pub(super) fn read(text: &[u8], last: u64) -> Option<Acknowledgement> {
    serde_json::from_slice(text).ok().filter(|answer: &Acknowledgement| answer.acked <= last)
}

impl CurrentRun {
    /// Passes on whether the run may go on.
    pub(super) fn handle(&self, answer: Acknowledgement) {
        let held = answer.directive == Directive::Hold;
        let unknown = || "the management node holds this node without a reason".to_owned();
        let hold = held.then(|| answer.reason.unwrap_or_else(unknown));
        self.hold.send_if_modified(|now| std::mem::replace(now, hold.clone()) != hold);
    }
}
