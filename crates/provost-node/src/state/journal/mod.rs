//! The journal of a run: its records, in order, on the disk in time.

use std::borrow::Cow;

use provost_exec::{Secrets, kill_marked};
use provost_record::{Journal, JournalError, Phase, Record, Service};
use provost_steplog::wording;
use tokio::sync::{oneshot, watch};

mod disk;

use super::own_stages::of_cut_off;
use crate::settings::Paths;
use crate::state::progress::Paused;
use disk::Disk;

/// The most bytes of a journal whose entries are all reported; a longer one is put aside.
const ROTATE_AT: u64 = 4 << 20;
/// The most bytes of any journal; of a longer one that isn't reported yet the newest half is kept.
const MOST: u64 = 16 << 20;

/// Writes the records of one run, numbered without a gap.
///
/// While a script starts, the record of that is on its way to the disk.
pub struct Recorder {
    journal: Journal,
    service: Service,
    node: String,
    run: String,
    seq: u64,
    secrets: Secrets,
    disk: Disk,
    /// Tells when all that is on its way to the disk is there.
    settling: Option<oneshot::Receiver<std::io::Result<()>>>,
}

impl Recorder {
    /// Opens the service's journal and closes in it what a crash cut off; or, for a run that goes
    /// on after the record `resumed`, goes on in it. Returns messages about that, too.
    pub fn open(
        paths: &Paths,
        service: Service,
        node: &str,
        run: &str,
        may_rotate: bool,
        resumed: Option<&Record>,
    ) -> Result<(Self, Vec<String>), JournalError> {
        let mut journal = Journal::open(paths.journal(service))?;
        let mut messages = Vec::new();
        if let Some(repair) = journal.take_repair() {
            messages.push(format!(
                "the journal of {service} was damaged: {}",
                wording::repair(&repair)
            ));
        }
        let mut seq = 0;
        match resumed {
            Some(end) => seq = go_on(&mut journal, end)?,
            None => {
                let ends = journal.close_interrupted(|run| of_cut_off(paths, run))?;
                kill_cut_off(&ends);
                messages.extend(ends.last().map(was_cut_off));
                let (limit, keep) = if may_rotate { (ROTATE_AT, 0) } else { (MOST, MOST / 2) };
                let left = journal.rotate(limit, keep)?;
                if let Some(left) = left.filter(|_| !may_rotate) {
                    messages.push(format!(
                        "the records of {service} were not reported for too long: the oldest {left} \
                         are now in {service}.1.json; those of them that are not reported yet never \
                         will be"
                    ));
                }
            }
        }
        let disk = Disk::start(journal.for_syncing()?, journal.len());
        let disk = disk.map_err(|e| journal.not_synced(e))?;
        let (node, run) = (node.to_owned(), run.to_owned());
        Ok((
            Self {
                journal,
                service,
                node,
                run,
                seq,
                secrets: Secrets::default(),
                disk,
                settling: None,
            },
            messages,
        ))
    }

    /// Hides these in the records from now on.
    pub fn hide(&mut self, secrets: Secrets) {
        self.secrets = secrets;
    }

    /// What is hidden in the records.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// How much of the journal is synced to the disk, in bytes; changes with each record.
    pub fn synced(&self) -> watch::Receiver<u64> {
        self.disk.synced()
    }

    /// A record of `phase` of this run, to be filled in.
    pub fn record(&self, phase: Phase) -> Record {
        Record {
            service: self.service.to_string(),
            node: self.node.clone(),
            run: self.run.clone(),
            ..Record::new(phase)
        }
    }

    /// The record as [`put`](Self::put) will add it, if nothing is put before: numbered, and
    /// without secrets.
    pub fn next(&self, record: &Record) -> Record {
        let mut record = Record { seq: self.seq + 1, ..record.clone() };
        for text in record.texts_mut() {
            if let Cow::Owned(hidden) = self.secrets.hide(text) {
                *text = hidden;
            }
        }
        record
    }

    /// Numbers `record` and adds it. It is on the disk no later than the next one that is waited
    /// for.
    pub fn put(&mut self, record: Record) -> Result<(), JournalError> {
        let record = self.next(&record);
        self.journal.append(&record)?;
        self.seq = record.seq;
        Ok(())
    }

    /// Sends what was added to the disk; [`settle`](Self::settle) waits until it is there.
    pub fn sync_soon(&mut self) {
        self.settling = Some(self.disk.sync(self.journal.len()));
    }

    /// Waits until all that was sent to the disk is there.
    pub async fn settle(&mut self) -> Result<(), JournalError> {
        let Some(done) = self.settling.take() else { return Ok(()) };
        // The thread ends after this alone.
        let result = done.await.unwrap_or_else(|e| Err(std::io::Error::other(e)));
        result.map_err(|e| self.journal.not_synced(e))
    }

    /// Adds `record` and waits until it is on the disk.
    pub async fn put_durably(&mut self, record: Record) -> Result<(), JournalError> {
        self.put(record)?;
        self.sync_soon();
        self.settle().await
    }
}

/// Closes what a crash cut off in the journals of the services next to `present`: while this run has
/// the lock, none of theirs is going on. A run that waits for a reboot isn't cut off. Returns
/// messages about that.
pub fn close_others(paths: &Paths, present: Service) -> Vec<String> {
    let waits = Paused::read(&paths.state).map(|paused| paused.run);
    let close = |service: Service| -> Result<Option<Record>, JournalError> {
        let path = paths.journal(service);
        let Some(last) = Journal::last_run_in(&path)?.pop() else { return Ok(None) };
        if last.phase.is_last() || waits.as_ref() == Some(&last.run) {
            return Ok(None);
        }
        let mut ends = Journal::open(path)?.close_interrupted(|run| of_cut_off(paths, run))?;
        kill_cut_off(&ends);
        Ok(ends.pop())
    };
    let others = Service::ALL.into_iter().filter(|service| *service != present);
    others
        .filter_map(|service| match close(service) {
            Ok(end) => end.map(|end| was_cut_off(&end)),
            // The next run of that service reports it in full.
            Err(e) => Some(e.to_string()),
        })
        .collect()
}

/// Kills what is left of the step that was cut off, of which these are the ends. What an earlier step has
/// left on purpose lives on.
fn kill_cut_off(ends: &[Record]) {
    for end in ends {
        if let Some(stage) = &end.stage {
            kill_marked(&[("PROVOST_RUN", &end.run), ("PROVOST_STAGE", stage)]);
        }
    }
}

fn was_cut_off(end: &Record) -> String {
    format!("run {} was cut off; it is recorded as interrupted", end.run)
}

/// Adds the last record before the reboot, if a power cut took it, and returns the number up to
/// which the run has come.
fn go_on(journal: &mut Journal, end: &Record) -> Result<u64, JournalError> {
    let last = journal.last_run()?.pop().filter(|last| last.run == end.run);
    let seq = last.map_or(0, |last| last.seq);
    if seq < end.seq {
        journal.append(end)?;
    }
    Ok(seq.max(end.seq))
}
