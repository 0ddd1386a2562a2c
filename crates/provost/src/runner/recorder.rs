use std::borrow::Cow;
use std::sync::mpsc;

use provost_exec::{Permit, Secrets};
use provost_record::{Journal, JournalError, Phase, Record, Service};
use tokio::sync::{oneshot, watch};

use super::paused::Paused;
use crate::settings::Paths;

/// The most bytes of a journal whose entries are all reported; a longer one is put aside.
const ROTATE_AT: u64 = 4 << 20;
/// The most bytes of any journal; of a longer one that isn't reported yet the newest half is kept.
const MOST: u64 = 16 << 20;

/// Writes the records of one run, numbered without a gap.
///
/// Waiting for the disk is a thread of its own: while a script starts, the record of that is on
/// its way.
pub(super) struct Recorder {
    journal: Journal,
    service: Service,
    node: String,
    run: String,
    seq: u64,
    secrets: Secrets,
    disk: mpsc::Sender<Sync>,
    synced: watch::Receiver<u64>,
    /// Tells when all that is on its way to the disk is there.
    settling: Option<oneshot::Receiver<std::io::Result<()>>>,
}

/// Something that waits for the disk.
struct Sync {
    /// How long the journal is with it, in bytes.
    length: u64,
    /// What is permitted when it is there.
    permit: Option<Permit>,
    /// Is told whether the disk took it.
    done: oneshot::Sender<std::io::Result<()>>,
}

impl Recorder {
    /// Opens the service's journal and closes in it what a crash cut off; or, for a run that goes
    /// on after the record `resumed`, goes on in it. Returns what is to be said about that.
    pub(super) fn open(
        paths: &Paths,
        service: Service,
        node: &str,
        run: &str,
        may_rotate: bool,
        resumed: Option<&Record>,
    ) -> Result<(Self, Vec<String>), JournalError> {
        let mut journal = Journal::open(paths.journal(service))?;
        let mut said = Vec::new();
        if let Some(mended) = journal.take_mended() {
            said.push(format!("the journal of {service} was damaged: {mended}"));
        }
        let mut seq = 0;
        match resumed {
            Some(end) => seq = go_on(&mut journal, end)?,
            None => {
                said.extend(journal.close_interrupted()?.last().map(was_cut_off));
                let (limit, keep) = if may_rotate { (ROTATE_AT, 0) } else { (MOST, MOST / 2) };
                let left = journal.rotate(limit, keep)?;
                if let Some(left) = left.filter(|_| !may_rotate) {
                    said.push(format!(
                        "nobody took the records of {service} for too long: the oldest {left} are \
                         in {service}.1.json alone; what of them isn't reported yet never will be"
                    ));
                }
            }
        }
        let (tell, synced) = watch::channel(journal.len());
        let (disk, waiting) = mpsc::channel();
        let file = journal.for_syncing()?;
        std::thread::spawn(move || sync(&file, &waiting, &tell));
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
                synced,
                settling: None,
            },
            said,
        ))
    }

    /// Lets none of these into the records from now on.
    pub(super) fn hide(&mut self, secrets: Secrets) {
        self.secrets = secrets;
    }

    /// What mustn't be in any record.
    pub(super) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// How much of the journal is surely on the disk, in bytes; changes with each record.
    pub(super) fn synced(&self) -> watch::Receiver<u64> {
        self.synced.clone()
    }

    /// A record of `phase` of this run, to be filled in.
    pub(super) fn record(&self, phase: Phase) -> Record {
        Record {
            service: self.service.to_string(),
            node: self.node.clone(),
            run: self.run.clone(),
            ..Record::new(phase)
        }
    }

    /// The record as [`put`](Self::put) will add it, if nothing is put before: numbered, and
    /// without secrets.
    pub(super) fn next(&self, record: &Record) -> Record {
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
    pub(super) fn put(&mut self, record: Record) -> Result<(), JournalError> {
        let record = self.next(&record);
        self.journal.append(&record)?;
        self.seq = record.seq;
        Ok(())
    }

    /// Sends what was added to the disk; [`settle`](Self::settle) waits until it is there, and
    /// `permit` is given then.
    pub(super) fn sync_soon(&mut self, permit: Option<Permit>) {
        let (done, settling) = oneshot::channel();
        // The thread lives as long as this sender.
        let _ = self.disk.send(Sync { length: self.journal.len(), permit, done });
        self.settling = Some(settling);
    }

    /// Waits until all that was sent to the disk is there.
    pub(super) async fn settle(&mut self) -> Result<(), JournalError> {
        let Some(done) = self.settling.take() else { return Ok(()) };
        // The thread ends after this sender alone.
        let result = done.await.unwrap_or_else(|e| Err(std::io::Error::other(e)));
        result.map_err(|e| self.journal.not_synced(e))
    }

    /// Adds `record` and waits until it is on the disk.
    pub(super) async fn put_durably(&mut self, record: Record) -> Result<(), JournalError> {
        self.put(record)?;
        self.sync_soon(None);
        self.settle().await
    }
}

/// Closes what a crash cut off in the journals of the services beside `present`: while this run has
/// the lock, no run of theirs goes on. One that waits for a reboot isn't cut off. Returns what is
/// to be said about that.
pub(super) fn close_others(paths: &Paths, present: Service) -> Vec<String> {
    let waits = Paused::read(&paths.state).map(|paused| paused.run);
    let close = |service: Service| -> Result<Option<Record>, JournalError> {
        let path = paths.journal(service);
        let Some(last) = Journal::last_run_in(&path)?.pop() else { return Ok(None) };
        if last.phase.is_last() || waits.as_ref() == Some(&last.run) {
            return Ok(None);
        }
        Ok(Journal::open(path)?.close_interrupted()?.pop())
    };
    let others = Service::ALL.into_iter().filter(|service| *service != present);
    others
        .filter_map(|service| match close(service) {
            Ok(end) => end.map(|end| was_cut_off(&end)),
            // That journal's own next run will say more.
            Err(e) => Some(e.to_string()),
        })
        .collect()
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

/// One wait for the disk serves all that have come meanwhile. Once it failed, it has failed for
/// good: the kernel tells of what it lost only once.
fn sync(file: &std::fs::File, waiting: &mpsc::Receiver<Sync>, tell: &watch::Sender<u64>) {
    let mut result = Ok(());
    while let Ok(first) = waiting.recv() {
        let all: Vec<Sync> = std::iter::once(first).chain(waiting.try_iter()).collect();
        result = result.and_then(|()| file.sync_data());
        if let (Ok(()), Some(last)) = (&result, all.last()) {
            tell.send_replace(last.length);
        }
        for sync in all {
            if let (Ok(()), Some(permit)) = (&result, sync.permit) {
                permit.give();
            }
            let copy = result.as_ref().map_or_else(|e| Err(same(e)), |()| Ok(()));
            // Whoever asked may have stopped waiting.
            let _ = sync.done.send(copy);
        }
    }
}

fn same(e: &std::io::Error) -> std::io::Error {
    e.raw_os_error().map_or_else(|| e.kind().into(), std::io::Error::from_raw_os_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_disk_did_not_take_is_never_said_to_be_there() {
        // What can't be synced.
        let (file, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let file = std::fs::File::from(std::os::fd::OwnedFd::from(file));
        let (tell, synced) = watch::channel(7);
        let (disk, waiting) = mpsc::channel();
        let ask = |length| {
            let (done, told) = oneshot::channel();
            disk.send(Sync { length, permit: None, done }).unwrap();
            told
        };
        let asked = [ask(8), ask(9)];
        drop(disk);
        sync(&file, &waiting, &tell);
        for told in asked {
            let why = told.blocking_recv().unwrap().unwrap_err();
            assert_eq!(why.kind(), std::io::ErrorKind::InvalidInput);
        }
        assert_eq!(*synced.borrow(), 7);
    }
}
