mod cut_off;
mod locked;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use crate::{Phase, Record};
use locked::{Locked, content_len};

/// How a journal ends, before and after every entry.
const TAIL: &[u8] = b"\n]\n";
/// A journal without an entry.
const EMPTY: &[u8] = b"[\n]\n";
/// How much of the end is read first when the last run is looked for, in bytes.
const TAIL_READ: u64 = 64 * 1024;

/// A file of records: at every instant a valid JSON array, one entry a line.
///
/// An entry is added in place: one write puts the entry and the new end over the old end, and
/// over some of the blanks that stand behind it, which JSON allows after the array. The file is
/// made longer by blanks in good time. So a full disk is met before anything is overwritten, and
/// a reader that needs two reads, the second to see that there is no more, doesn't find the
/// middle of a new entry there. A run's last entry takes the blanks away again. Writers take
/// turns by `flock(2)`.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// How long the file was, blanks behind it left out, when this was last seen, in bytes.
    len: u64,
    mended: Option<Mended>,
}

/// What had to be put right in a journal that a crash, a full disk or somebody's editor left
/// damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mended {
    /// Bytes that belonged to no whole entry and were cut off.
    pub cut: u64,
    /// Whole entries that were kept.
    pub kept: usize,
    /// Where the damaged file was kept, if nothing of it could be read.
    pub aside: Option<PathBuf>,
}

impl std::fmt::Display for Mended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.cut {
            0 => write!(f, "its end was missing, kept {} entries", self.kept)?,
            cut => {
                write!(f, "cut {cut} bytes that were no whole entry, kept {} entries", self.kept)?
            }
        }
        match &self.aside {
            Some(path) => write!(f, "; the damaged file is {}", path.display()),
            None => Ok(()),
        }
    }
}

/// One entry of a journal, as it stands there.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The entry's text; the bytes that go over the wire.
    pub json: Box<RawValue>,
    /// What it says.
    pub record: Record,
    /// Where in the file the text after this entry begins, in bytes.
    pub end: u64,
}

/// What went wrong with a journal.
#[derive(Debug, thiserror::Error)]
#[error("{doing} the journal {}: {source}", path.display())]
pub struct JournalError {
    doing: &'static str,
    path: PathBuf,
    source: io::Error,
}

impl JournalError {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        let folder = self.path.parent().unwrap_or(Path::new("/")).display();
        match self.source.kind() {
            io::ErrorKind::StorageFull => format!("make room on the file system of {folder}"),
            io::ErrorKind::PermissionDenied => format!("run as a user who may write to {folder}"),
            io::ErrorKind::TimedOut => {
                let path = self.path.display();
                format!("find who has it open, and end that: fuser -v {path}")
            }
            _ => format!("see that {folder} is a folder on a writable file system"),
        }
    }
}

type Result<T> = std::result::Result<T, JournalError>;

impl Journal {
    /// Opens the journal at `path` for adding entries; makes it, and its folder, where there is
    /// none; mends it where it is damaged.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        let file = open_or_create(&path).map_err(|e| failed("opening", &path, e))?;
        let mut journal = Self { path, file, len: 0, mended: None };
        let (path, file) = (&journal.path, &mut journal.file);
        let locked = Locked::take(path, file).map_err(|e| failed("locking", path, e))?;
        let mended = locked.mend().map_err(|e| failed("mending", path, e))?;
        let len = locked.len(0).map_err(|e| failed("reading", path, e))?;
        // Well before the first entry. A full disk is told when there is something to write.
        let _ = locked.reserve(len);
        drop(locked);
        (journal.mended, journal.len) = (mended, len);
        Ok(journal)
    }

    /// What had to be mended when the journal was opened or last written to, once.
    pub fn take_mended(&mut self) -> Option<Mended> {
        self.mended.take()
    }

    /// Adds `record`. It is in the file, not yet surely on the disk: see [`sync`](Self::sync).
    pub fn append(&mut self, record: &Record) -> Result<()> {
        let (path, file) = (&self.path, &mut self.file);
        let locked = Locked::take(path, file).map_err(|e| failed("locking", path, e))?;
        let (len, mended) =
            locked.append(record, self.len).map_err(|e| failed("writing to", path, e))?;
        drop(locked);
        self.len = len;
        self.mended = mended.or(self.mended.take());
        Ok(())
    }

    /// Waits until all that was added is on the disk.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|e| self.not_synced(e))
    }

    /// That the disk didn't take what was added, in this journal's words.
    pub fn not_synced(&self, e: io::Error) -> JournalError {
        failed("syncing", &self.path, e)
    }

    /// The same file, for whoever waits for the disk in this one's stead.
    pub fn for_syncing(&self) -> Result<File> {
        self.file.try_clone().map_err(|e| failed("opening", &self.path, e))
    }

    /// How long the file was when this was last written to, in bytes; blanks behind the array
    /// don't count.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether no entry was in it then.
    pub fn is_empty(&self) -> bool {
        self.len <= EMPTY.len() as u64
    }

    /// The entries of the last run in the file, at a cost that doesn't grow with the file.
    pub fn last_run(&self) -> Result<Vec<Record>> {
        last_run(&self.file).map_err(|e| failed("reading", &self.path, e))
    }

    /// The same of the journal at `path`, which is left as it is. One that isn't there has none.
    pub fn last_run_in(path: &Path) -> Result<Vec<Record>> {
        let read = || match File::open(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            file => {
                let file = file?;
                locked::in_time(|| file.try_lock_shared())?;
                last_run(&file)
            }
        };
        read().map_err(|e| failed("reading", path, e))
    }

    /// Puts the journal aside as `NAME.1.json`, if it is longer than `limit` bytes, and begins a
    /// new one with its newest whole runs, as many as `keep` bytes hold. Returns how many entries
    /// are in the old one alone. Never call it in the middle of a run.
    pub fn rotate(&mut self, limit: u64, keep: u64) -> Result<Option<usize>> {
        if self.len <= limit {
            return Ok(None);
        }
        let (path, file) = (&self.path, &mut self.file);
        let locked = Locked::take(path, file).map_err(|e| failed("locking", path, e))?;
        let left = locked.put_aside(keep).map_err(|e| failed("rotating", path, e))?;
        drop(locked);
        *self = Self::open(self.path.clone())?;
        Ok(Some(left))
    }

    /// Reads the entries from byte `from` on; 0 is the whole file. A file that isn't there has
    /// none; what is no whole entry is passed over.
    pub fn read(path: &Path, from: u64) -> Result<Vec<Entry>> {
        Self::read_some(path, from, u64::MAX)
    }

    /// As [`read`](Self::read), but no more than about `most` bytes, so that a long journal can
    /// be read in pieces: the next piece begins at the last entry's [`end`](Entry::end).
    pub fn read_some(path: &Path, from: u64, most: u64) -> Result<Vec<Entry>> {
        let read = || -> io::Result<Vec<u8>> {
            let file = match File::open(path) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
                file => file?,
            };
            locked::in_time(|| file.try_lock_shared())?;
            let len = file.metadata()?.len();
            let mut text = vec![0; len.saturating_sub(from).min(most) as usize];
            file.read_exact_at(&mut text, from)?;
            Ok(text)
        };
        let text = read().map_err(|e| failed("reading", path, e))?;
        let entry = |(line, end): (&[u8], u64)| {
            let json: Box<RawValue> = serde_json::from_slice(line).ok()?;
            let record = serde_json::from_str(json.get()).ok()?;
            Some(Entry { json, record, end: from + end })
        };
        Ok(lines(&text).filter_map(entry).collect())
    }
}

fn failed(doing: &'static str, path: &Path, source: io::Error) -> JournalError {
    JournalError { doing, path: path.to_owned(), source }
}

/// The entries' lines in `text`, each with where the next line begins.
fn lines(text: &[u8]) -> impl Iterator<Item = (&[u8], u64)> {
    let mut at = 0;
    text.split_inclusive(|b| *b == b'\n').filter_map(move |line| {
        at += line.len() as u64;
        // A power cut may leave NULs where data was on its way.
        let trailing = line.iter().rev().take_while(|b| **b == 0 || b.is_ascii_whitespace());
        let line = &line[..line.len() - trailing.count()];
        let line = line.strip_suffix(b",").unwrap_or(line);
        line.starts_with(b"{").then_some((line, at))
    })
}

fn last_run(file: &File) -> io::Result<Vec<Record>> {
    let len = content_len(file)?;
    let mut want = TAIL_READ;
    loop {
        let from = len.saturating_sub(want);
        let mut tail = vec![0; (len - from) as usize];
        file.read_exact_at(&mut tail, from)?;
        let records: Vec<Record> = lines(&tail).filter_map(|(line, _)| parse(line)).collect();
        let start = records.iter().rposition(|r| r.phase == Phase::ServiceStart);
        match start {
            Some(start) => return Ok(records[start..].to_vec()),
            None if from == 0 => return Ok(records),
            None => want *= 8,
        }
    }
}

fn parse(line: &[u8]) -> Option<Record> {
    serde_json::from_slice(line).ok()
}

/// A new journal appears whole: made beside its place, then linked to its name.
fn open_or_create(path: &Path) -> io::Result<File> {
    let open = || OpenOptions::new().read(true).write(true).open(path);
    match open() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        file => return file,
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let new = new_file(folder, EMPTY)?;
    match new.persist_noclobber(path) {
        Ok(_) => File::open(folder)?.sync_all()?,
        // Another writer was first; its journal is as good.
        Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(e) => return Err(e.error),
    }
    open()
}

/// A file with `text` that has no name of its own yet.
fn new_file(folder: &Path, text: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let mut new = tempfile::Builder::new().prefix(".journal-").tempfile_in(folder)?;
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    new.as_file().set_permissions(readable)?;
    new.write_all(text)?;
    new.as_file().sync_data()?;
    Ok(new)
}
