//! The journal: a file of records that is a valid JSON array at every instant.

mod array;
mod error;
mod file;
mod interrupted;
mod locked;
mod repair;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use crate::{Inner, Phase, Record};
use array::{EMPTY, content_len};
pub use error::JournalError;
use error::{Result, failed};
use file::{open_or_create, open_shared};
use interrupted::{missing_ends, open_runs};
use locked::{Locked, TAIL_READ};
pub use repair::Repair;

/// A file of records: at every instant a valid JSON array, one entry a line.
///
/// An entry is added in place: one write puts the entry and the new end over the old end, and
/// over some of the blanks that stand behind it, which JSON allows after the array. Before the
/// blanks are used up, more are added. So a full disk fails the write before anything is
/// overwritten, and a reader whose second read comes after the write finds no middle of an entry
/// behind the old end. A run's last entry removes the blanks. Writers take turns by `flock(2)`.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// How long the file was when this was last written to, without the blanks, in bytes.
    len: u64,
    repair: Option<Repair>,
}

/// One entry of a journal.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The entry's text; the bytes that go over the wire.
    pub json: Box<RawValue>,
    /// What it says.
    pub record: Record,
    /// Where in the file the text after this entry begins, in bytes.
    pub end: u64,
}

impl Journal {
    /// Opens the journal at `path` for adding entries. Creates it, and its folder, where there is
    /// none; repairs it where it is damaged.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        let (file, aside) = open_or_create(&path).map_err(failed("opening", &path))?;
        let mut journal = Self { path, file, len: 0, repair: None };
        let (path, file) = (&journal.path, &mut journal.file);
        let locked = Locked::take(path, file).map_err(failed("locking", path))?;
        let repair = locked.repair().map_err(failed("repairing", path))?;
        let len = locked.len(0).map_err(failed("reading", path))?;
        // Ahead of the first entry. A full disk is an error when there is something to write.
        let _ = locked.reserve(len);
        drop(locked);
        let replaced = aside.map(|aside| Repair { cut: 0, kept: 0, aside: Some(aside) });
        (journal.repair, journal.len) = (replaced.or(repair), len);
        Ok(journal)
    }

    /// What had to be repaired when the journal was opened or last written to. Returned once.
    pub fn take_repair(&mut self) -> Option<Repair> {
        self.repair.take()
    }

    /// Adds `record`. It is in the file, and perhaps not yet on the disk: see [`sync`](Self::sync).
    pub fn append(&mut self, record: &Record) -> Result<()> {
        let (path, file) = (&self.path, &mut self.file);
        let locked = Locked::take(path, file).map_err(failed("locking", path))?;
        let appended = locked.append(record, self.len).map_err(failed("writing to", path))?;
        drop(locked);
        self.len = appended.len;
        self.repair = appended.repair.or(self.repair.take());
        Ok(())
    }

    /// Waits until all that was added is on the disk.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|e| self.not_synced(e))
    }

    /// The error of a sync that was done through [`for_syncing`](Self::for_syncing).
    pub fn not_synced(&self, e: io::Error) -> JournalError {
        failed("syncing", &self.path)(e)
    }

    /// The same open file, for a thread that syncs it.
    pub fn for_syncing(&self) -> Result<File> {
        self.file.try_clone().map_err(failed("opening", &self.path))
    }

    /// How long the file was when this was last written to, without the blanks, in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether no entry was in it then.
    pub fn is_empty(&self) -> bool {
        self.len <= EMPTY.len() as u64
    }

    /// The entries of the last run in the file, at a cost that doesn't grow with the file.
    pub fn last_run(&self) -> Result<Vec<Record>> {
        last_run(&self.file).map_err(failed("reading", &self.path))
    }

    /// The same of the journal at `path`, which is not changed. One that isn't there has none.
    pub fn last_run_in(path: &Path) -> Result<Vec<Record>> {
        let read = || open_shared(path)?.map_or(Ok(Vec::new()), |file| last_run(&file));
        read().map_err(failed("reading", path))
    }

    /// Closes what a crash or a kill cut off: where the last run has no end, adds the end of its
    /// open stage and of the run, both failures with the cause `interrupted`. Returns what it
    /// added. Call it only while a lock keeps other runs out. `inner` knows what the open stage, the
    /// last of the run's records, has recorded of its own stages.
    pub fn close_interrupted(
        &mut self,
        inner: impl Fn(&[Record]) -> Vec<Inner>,
    ) -> Result<Vec<Record>> {
        let run = self.last_run()?;
        let mut ends = missing_ends(&run);
        if ends.is_empty() {
            return Ok(ends);
        }
        if let Some(end) = ends.iter_mut().find(|end| end.phase == Phase::StageEnd) {
            end.inner = inner(&run);
        }
        for record in &ends {
            self.append(record)?;
        }
        self.sync()?;
        Ok(ends)
    }

    /// Closes what was cut off in a journal that several writers share, each run of which is a
    /// process: where a run has no end and `is_alive` denies that the process of its id lives,
    /// adds the ends of its open stage and its own. Returns what it added.
    ///
    /// A run of which the end of the file, 64 KiB, has no entry is left as it is.
    pub fn close_abandoned(&mut self, is_alive: impl Fn(&str) -> bool) -> Result<Vec<Record>> {
        let (path, file) = (&self.path, &mut self.file);
        // Locked throughout, so that two that begin at once don't both close the same run.
        let locked = Locked::take(path, file).map_err(failed("locking", path))?;
        let mut ends = Vec::new();
        let mut close = || {
            let mut len = locked.len(self.len)?;
            let tail = array::read_between(locked.file(), len.saturating_sub(TAIL_READ), len)?;
            for run in open_runs(array::records(&tail)) {
                if is_alive(&run[0].run) {
                    continue;
                }
                for end in missing_ends(&run) {
                    len = locked.append(&end, len)?.len;
                    ends.push(end);
                }
            }
            Ok(len)
        };
        let len = close().map_err(failed("writing to", path))?;
        drop(locked);
        self.len = len;
        Ok(ends)
    }

    /// Renames the journal to `NAME.1.json`, if it is longer than `limit` bytes, and begins a new
    /// one with its newest whole runs, as many as `keep` bytes hold. Returns how many entries are
    /// in the old one alone. Never call it in the middle of a run.
    pub fn rotate(&mut self, limit: u64, keep: u64) -> Result<Option<usize>> {
        if self.len <= limit {
            return Ok(None);
        }
        let (path, file) = (&self.path, &mut self.file);
        let locked = Locked::take(path, file).map_err(failed("locking", path))?;
        let left = locked.put_aside(keep).map_err(failed("rotating", path))?;
        drop(locked);
        *self = Self::open(self.path.clone())?;
        Ok(Some(left))
    }

    /// The text of the file at `path`, whatever is in it; none if there is no file.
    pub fn text(path: &Path) -> Result<Option<Vec<u8>>> {
        let read = || -> io::Result<Option<Vec<u8>>> {
            let Some(file) = open_shared(path)? else { return Ok(None) };
            let end = file.metadata()?.len();
            array::read_between(&file, 0, end).map(Some)
        };
        read().map_err(failed("reading", path))
    }

    /// Reads the entries from byte `from` on; 0 is the whole file. A file that isn't there has
    /// none; what is no whole entry is skipped.
    pub fn read(path: &Path, from: u64) -> Result<Vec<Entry>> {
        Self::read_some(path, from, u64::MAX)
    }

    /// As [`read`](Self::read), but no more than about `most` bytes, so that a long journal can
    /// be read in pieces: the next piece begins at the last entry's [`end`](Entry::end).
    pub fn read_some(path: &Path, from: u64, most: u64) -> Result<Vec<Entry>> {
        let read = || -> io::Result<Vec<u8>> {
            let Some(file) = open_shared(path)? else { return Ok(Vec::new()) };
            let end = file.metadata()?.len().min(from.saturating_add(most));
            array::read_between(&file, from, end)
        };
        let text = read().map_err(failed("reading", path))?;
        let entry = |(line, end): (&[u8], u64)| {
            let json: Box<RawValue> = serde_json::from_slice(line).ok()?;
            let record = serde_json::from_str(json.get()).ok()?;
            Some(Entry { json, record, end: from + end })
        };
        Ok(array::lines(&text).filter_map(entry).collect())
    }
}

fn last_run(file: &File) -> io::Result<Vec<Record>> {
    let len = content_len(file)?;
    let mut reach = TAIL_READ;
    loop {
        let from = len.saturating_sub(reach);
        let tail = array::read_between(file, from, len)?;
        let records: Vec<Record> = array::records(&tail).collect();
        let start = records.iter().rposition(|r| r.phase == Phase::ServiceStart);
        match start {
            Some(start) => return Ok(records[start..].to_vec()),
            None if from == 0 => return Ok(records),
            None => reach *= 8,
        }
    }
}
