use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use provost_fs::Durability;
use serde_json::value::RawValue;

use super::array::{self, EMPTY, TAIL, content_len, parse, whole_entries};
use super::file::{aside_of, lock, new_file, open_or_create};
use super::repair::Repair;
use crate::{Phase, Record};

/// How many blanks are put behind the array at once, in bytes.
const RESERVE: u64 = 64 * 1024;
/// With fewer blanks than these left, in bytes, more are put there.
const LOW: u64 = 32 * 1024;
/// How much of the end is read where the newest entries are looked for, in bytes.
pub(super) const TAIL_READ: u64 = 64 * 1024;

/// A journal while no other program writes to it.
pub(super) struct Locked<'a> {
    path: &'a Path,
    file: &'a File,
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // Fails only for a closed descriptor, and ours is open.
        let _ = self.file.unlock();
    }
}

impl<'a> Locked<'a> {
    /// Waits for the other writers' lock, and opens the file anew if it was rotated meanwhile.
    pub(super) fn take(path: &'a Path, file: &'a mut File) -> io::Result<Self> {
        loop {
            lock(|| file.try_lock())?;
            let ours = file.metadata()?.ino();
            match std::fs::metadata(path) {
                Ok(there) if there.ino() == ours => return Ok(Self { path, file }),
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(e),
            }
            *file = open_or_create(path)?.0;
        }
    }

    pub(super) fn file(&self) -> &File {
        self.file
    }

    /// The file's length without the blanks at its end. It is probably `known`.
    pub(super) fn len(&self, known: u64) -> io::Result<u64> {
        if self.is_whole(known)? { Ok(known) } else { content_len(self.file) }
    }

    /// Adds `record` to the file, whose length is probably `known`.
    pub(super) fn append(&self, record: &Record, known: u64) -> io::Result<Appended> {
        let mut len = self.len(known)?;
        let mut repair = None;
        if len != known && !self.is_whole(len)? {
            repair = self.repair()?;
            len = content_len(self.file)?;
        }
        let mut text = Vec::with_capacity(512);
        let (at, separator): (u64, &[u8]) = match len > EMPTY.len() as u64 {
            true => (len - TAIL.len() as u64, b",\n"),
            false => (2, b""),
        };
        text.extend_from_slice(separator);
        serde_json::to_writer(&mut text, record)?;
        text.extend_from_slice(TAIL);
        let new_len = at + text.len() as u64;
        self.reserve(new_len)?;
        self.file.write_all_at(&text, at)?;
        if record.phase.is_last() {
            self.file.set_len(new_len)?;
        }
        Ok(Appended { len: new_len, repair })
    }

    /// Makes room up to `end`, and for later entries before they need it.
    pub(super) fn reserve(&self, end: u64) -> io::Result<()> {
        let len = self.file.metadata()?.len();
        if len >= end + LOW {
            return Ok(());
        }
        let blanks = vec![b' '; (end + RESERVE - len) as usize];
        match self.file.write_all_at(&blanks, len) {
            Ok(()) => Ok(()),
            // A full disk may have had room for this entry, if not for more.
            Err(_) if self.file.metadata()?.len() >= end => Ok(()),
            Err(e) => {
                // Blanks do no harm; take back what there is of them.
                let _ = self.file.set_len(len);
                Err(e)
            }
        }
    }

    /// Whether a whole array ends there, and nothing but blanks is behind it.
    fn is_whole(&self, len: u64) -> io::Result<bool> {
        let Some(from) = len.checked_sub(EMPTY.len() as u64) else { return Ok(false) };
        let mut end = [0; EMPTY.len() + 1];
        let read = self.file.read_at(&mut end, from)?;
        let Some((before, [b'\n', b']', b'\n', behind @ ..])) = end[..read].split_first() else {
            return Ok(false);
        };
        Ok((*before == b'}' || from == 0) && matches!(behind, [] | [b' ']))
    }

    /// Repairs the file where it needs that. A valid array that another program wrote is kept
    /// whole, and only laid out one entry a line; that is no repair.
    pub(super) fn repair(&self) -> io::Result<Option<Repair>> {
        let len = content_len(self.file)?;
        if self.is_whole(len)? && self.last_line_parses(len)? {
            return Ok(None);
        }
        let text = array::read_between(self.file, 0, len)?;
        let trimmed = text.trim_ascii_end();
        // Readers take objects alone: one entry that is none makes the whole file unreadable.
        let object = |json: &[u8]| json.starts_with(b"{");
        let array = serde_json::from_slice::<Vec<&RawValue>>(trimmed).ok();
        let array = array.filter(|entries| entries.iter().all(|e| object(e.get().as_bytes())));
        if let Some(entries) = array {
            let whole = self.lay_out(entries.iter().map(|e| e.get().as_bytes()))?;
            debug_assert_eq!(whole, entries.len());
            return Ok(None);
        }
        let whole = whole_entries(&text);
        let mut aside = None;
        if whole.entries.is_empty() && !whole.rest.is_empty() {
            let path = aside_of(self.path);
            new_file(&path, &text)?.replace(Durability::Crash)?;
            aside = Some(path);
        }
        let cut = whole.rest.len() as u64;
        let kept = self.lay_out(whole.entries.into_iter())?;
        // A journal that was made empty has lost nothing.
        Ok((cut > 0 || kept > 0).then_some(Repair { cut, kept, aside }))
    }

    /// Gives the file a second name, `NAME.1.json`, and puts a new one in its place with the
    /// newest whole runs that `keep` bytes hold. Returns how many entries are left behind.
    pub(super) fn put_aside(&self, keep: u64) -> io::Result<usize> {
        let len = content_len(self.file)?;
        let text = array::read_between(self.file, 0, len)?;
        let entries: Vec<(&[u8], u64)> = array::lines(&text).collect();
        let begins_run = |(at, (line, _)): &(usize, &(&[u8], u64))| {
            let begin = if *at == 0 { 0 } else { entries[at - 1].1 };
            len - begin <= keep && parse(line).is_some_and(|r| r.phase == Phase::ServiceStart)
        };
        let first = entries.iter().enumerate().find(begins_run);
        let first = first.map_or(entries.len(), |(at, _)| at);
        let kept = array::text(entries[first..].iter().map(|(line, _)| *line));
        let new = new_file(self.path, &kept.text)?;
        let aside = self.path.with_extension("1.json");
        provost_fs::remove(&aside, Durability::Crash)?;
        std::fs::hard_link(self.path, &aside)?;
        new.replace(Durability::PowerCut)?;
        Ok(first)
    }

    fn last_line_parses(&self, len: u64) -> io::Result<bool> {
        let from = len.saturating_sub(TAIL_READ);
        let tail = array::read_between(self.file, from, len)?;
        let before = tail.strip_suffix(TAIL).unwrap_or_default();
        let last = before.rsplit(|b| *b == b'\n').next().unwrap_or_default();
        let entry = last.starts_with(b"{") && serde_json::from_slice::<&RawValue>(last).is_ok();
        Ok(entry || len == EMPTY.len() as u64)
    }

    /// Writes the file anew, in place, because the lock is on this very file.
    fn lay_out<'e>(&self, entries: impl Iterator<Item = &'e [u8]>) -> io::Result<usize> {
        let array::Text { text, count } = array::text(entries);
        self.file.write_all_at(&text, 0)?;
        self.file.set_len(text.len() as u64)?;
        self.file.sync_data()?;
        Ok(count)
    }
}

/// What adding a record came to.
pub(super) struct Appended {
    /// The file's length without the blanks at its end, in bytes.
    pub(super) len: u64,
    /// What had to be repaired first.
    pub(super) repair: Option<Repair>,
}
