//! What is still to be reported. The journals hold it; a cursor next to each says how far the
//! management node has acknowledged it.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use provost_fs::atomic;
use provost_record::{Entry, Journal, Service};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::settings::{Input, Paths};

/// How much of a journal is read at once, in bytes; longer than any entry.
const PIECE: u64 = 1 << 20;
/// The same while no server takes what is read, in bytes: a dead server must not cost a run more
/// with each record.
const PROBE: u64 = 16 << 10;

/// How much of a journal before its cursor is read, in bytes: one after the other, until the last
/// record that was acknowledged is found. Most records are short.
const NEAR: [u64; 3] = [2 << 10, 64 << 10, PIECE];

/// The last record that the management node has acknowledged.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Cursor {
    run: String,
    seq: u64,
    /// Where the journal goes on after it, in bytes.
    end: u64,
}

/// What is still to be reported.
pub struct Spool {
    paths: Paths,
    /// How far each journal has been reported, once that was found out.
    reported: HashMap<Service, Reported>,
    /// The cursors that the disk doesn't take.
    in_memory: HashMap<Service, Cursor>,
    /// Whether no server has taken yet what was read last.
    is_stuck: bool,
    /// Whether it was said that the disk takes nothing.
    has_warned: bool,
    /// The journal that is being written, and how much of it is surely on the disk, in bytes.
    /// What a power cut could still take back must not be reported.
    live: Option<(Service, watch::Receiver<u64>)>,
    /// How much of it was there when the report began. What has come since goes with the next one.
    live_now: u64,
}

/// How far a journal has been reported.
struct Reported {
    /// The cursor, as its file has it.
    cursor: Option<Cursor>,
    /// Which file the journal is: its inode. If this or the cursor has changed, so has `from`.
    journal: Option<u64>,
    /// Where in the journal the rest begins, in bytes.
    from: u64,
}

impl Spool {
    /// The spool of a command that writes no journal.
    pub fn new(paths: &Paths) -> Self {
        Self {
            paths: paths.clone(),
            reported: HashMap::new(),
            in_memory: HashMap::new(),
            is_stuck: false,
            has_warned: false,
            live: None,
            live_now: 0,
        }
    }

    /// The spool of a run that is going on, which writes the journal `live`.
    pub(crate) fn of_run(paths: &Paths, live: (Service, watch::Receiver<u64>)) -> Self {
        Self { live: Some(live), ..Self::new(paths) }
    }

    /// A report begins, of what is there now.
    pub(crate) fn begin_report(&mut self) {
        self.live_now = self.live.as_ref().map_or(0, |(_, synced)| *synced.borrow());
    }

    /// How many records of `service` aren't acknowledged.
    pub fn unreported(&self, service: Service) -> usize {
        let mut from = self.begin(service);
        let mut count = 0;
        loop {
            let entries = self.piece(service, from, PIECE);
            let Some(last) = entries.last() else { return count };
            count += entries.len();
            from = last.end;
        }
    }

    /// How many records of all services aren't acknowledged.
    pub fn unreported_total(&self) -> usize {
        Service::ALL.into_iter().map(|service| self.unreported(service)).sum()
    }

    /// The next records of `service` to report.
    pub(crate) fn next(&mut self, service: Service) -> Vec<Entry> {
        let cursor = self.cursor(service);
        let journal = self.inode(service);
        let known = self.reported.get(&service);
        let known = known.filter(|known| known.cursor == cursor && known.journal == journal);
        let from = known.map_or_else(|| self.begin(service), |known| known.from);
        self.reported.insert(service, Reported { cursor, journal, from });
        let mut entries = self.piece(service, from, if self.is_stuck { PROBE } else { PIECE });
        if self.is_stuck && entries.is_empty() {
            // It may have been shorter than the entry.
            entries = self.piece(service, from, PIECE);
        }
        self.is_stuck |= !entries.is_empty();
        entries
    }

    fn piece(&self, service: Service, from: u64, most: u64) -> Vec<Entry> {
        // A journal that can't be read now is there for the next run.
        let mut entries =
            Journal::read_some(&self.paths.journal(service), from, most).unwrap_or_default();
        if self.live.as_ref().is_some_and(|(live, _)| *live == service) {
            entries.retain(|e| e.end <= self.live_now);
        }
        entries
    }

    /// Where in the journal begins what isn't reported, in bytes.
    fn begin(&self, service: Service) -> u64 {
        let Some(cursor) = self.cursor(service) else { return 0 };
        let is_last = |e: &Entry| e.record.run == cursor.run && e.record.seq == cursor.seq;
        let journal = self.paths.journal(service);
        for near in NEAR {
            let entries = Journal::read_some(&journal, cursor.end.saturating_sub(near), near + 1);
            if let Some(entry) = entries.unwrap_or_default().iter().rfind(|e| is_last(e)) {
                return entry.end;
            }
        }
        // After a rotation or a repair it may be elsewhere, or gone.
        let all = Journal::read(&journal, 0).unwrap_or_default();
        all.iter().rfind(|e| is_last(e)).map_or(0, |e| e.end)
    }

    /// Notes that everything up to and with `entry` is acknowledged: on the disk, or in memory where
    /// the disk takes nothing.
    pub(crate) async fn acknowledged(&mut self, service: Service, entry: &Entry) {
        self.is_stuck = false;
        let (run, seq) = (entry.record.run.clone(), entry.record.seq);
        let cursor = Cursor { run, seq, end: entry.end };
        let (path, noted) = (self.cursor_file(service), cursor.clone());
        let write = move || atomic::write(&path, &serde_json::to_vec(&noted)?);
        // Waiting for the disk must not hold up the loop.
        let written = tokio::task::spawn_blocking(write).await;
        match written.unwrap_or_else(|e| Err(std::io::Error::other(e))) {
            Ok(()) => drop(self.in_memory.remove(&service)),
            Err(e) => {
                self.goes_without_disk(&e);
                self.in_memory.insert(service, cursor.clone());
            }
        }
        let journal = self.reported.get(&service).and_then(|known| known.journal);
        let reported = Reported { cursor: Some(cursor), journal, from: entry.end };
        self.reported.insert(service, reported);
    }

    /// Says once that what is reported can't be noted.
    pub(crate) fn goes_without_disk(&mut self, e: &std::io::Error) {
        if !std::mem::replace(&mut self.has_warned, true) {
            let folder = self.paths.state.join("report");
            tracing::warn!(
                "noting in {} what was reported: {e}; the next run reports it again\n\
                 hint: see that it is a folder on a writable file system with some room: \
                 ls -ld {0}; df {0}",
                folder.display()
            );
        }
    }

    /// Which file the journal of `service` is.
    fn inode(&self, service: Service) -> Option<u64> {
        std::fs::metadata(self.paths.journal(service)).ok().map(|journal| journal.ino())
    }

    fn cursor(&self, service: Service) -> Option<Cursor> {
        if let Some(cursor) = self.in_memory.get(&service) {
            return Some(cursor.clone());
        }
        serde_json::from_slice(&atomic::read(&self.cursor_file(service)).ok()?).ok()
    }

    fn cursor_file(&self, service: Service) -> PathBuf {
        self.paths.state.join(format!("report/{service}.json"))
    }
}

/// How many records are still to be reported to the management node, if it takes records.
pub fn unreported(input: &Input) -> usize {
    if input.takes_records() { Spool::new(&input.paths()).unreported_total() } else { 0 }
}

/// The right to report. One process has it at a time, so that nothing is sent twice and no cursor
/// goes back. The kernel takes it from a process that is killed.
pub(super) struct ReportLock {
    _file: File,
}

impl ReportLock {
    /// Takes it. None while another process has it.
    pub(super) fn take(paths: &Paths) -> io::Result<Option<Self>> {
        let folder = paths.state.join("report");
        provost_fs::create_private_folder(&folder)?;
        let mut options = File::options();
        let options = options.create(true).truncate(false).write(true);
        let file = provost_fs::open(&folder.join("lock"), options)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(e)) => Err(e),
        }
    }
}
