use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;

use super::{EMPTY, Mended, TAIL, TAIL_READ, lines, new_file, open_or_create, parse};
use crate::{Phase, Record};

/// How many blanks are put behind the array at once, in bytes.
const RESERVE: u64 = 64 * 1024;
/// With fewer blanks than these left, in bytes, more are put there.
const LOW: u64 = 32 * 1024;

/// How long a journal's lock is waited for: whoever may read a journal may lock it as well, and
/// keep it.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest time between two looks at a lock; nothing tells when one is free.
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// Takes a lock by `try_lock`, if it can be had in time.
pub(super) fn in_time(mut try_lock: impl FnMut() -> Result<(), TryLockError>) -> io::Result<()> {
    let until = Instant::now() + PATIENCE;
    let mut pause = Duration::from_micros(20);
    loop {
        match try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(e)) => return Err(e),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => {
                let why = format!("another program has kept it locked for {PATIENCE:?}");
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(pause),
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// A journal while no other writer is at it.
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

/// How long the file is without the blanks at its end, in bytes.
pub(super) fn content_len(file: &File) -> io::Result<u64> {
    let mut len = file.metadata()?.len();
    let mut piece = [0; 4096];
    while len > 0 {
        let from = len.saturating_sub(piece.len() as u64);
        let piece = &mut piece[..(len - from) as usize];
        file.read_exact_at(piece, from)?;
        if let Some(last) = piece.iter().rposition(|b| *b != b' ') {
            return Ok(from + last as u64 + 1);
        }
        len = from;
    }
    Ok(0)
}

impl<'a> Locked<'a> {
    /// Waits for the other writers, if not for ever; opens the file anew if it was rotated away in the meantime.
    pub(super) fn take(path: &'a Path, file: &'a mut File) -> io::Result<Self> {
        loop {
            in_time(|| file.try_lock())?;
            let ours = file.metadata()?.ino();
            match std::fs::metadata(path) {
                Ok(there) if there.ino() == ours => return Ok(Self { path, file }),
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(e),
            }
            *file = open_or_create(path)?;
        }
    }

    pub(super) fn file(&self) -> &File {
        self.file
    }

    /// The file's length without the blanks at its end. It is probably `known`.
    pub(super) fn len(&self, known: u64) -> io::Result<u64> {
        if self.is_whole(known)? { Ok(known) } else { content_len(self.file) }
    }

    /// Adds `record` to the file, whose length is probably `known`. Returns its new length, and
    /// what had to be mended.
    pub(super) fn append(&self, record: &Record, known: u64) -> io::Result<(u64, Option<Mended>)> {
        let mut len = self.len(known)?;
        let mut mended = None;
        if len != known && !self.is_whole(len)? {
            mended = self.mend()?;
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
        Ok((new_len, mended))
    }

    /// Sees that there is room up to `end`, and in good time that there will be.
    pub(super) fn reserve(&self, end: u64) -> io::Result<()> {
        let len = self.file.metadata()?.len();
        if len >= end + LOW {
            return Ok(());
        }
        let blanks = vec![b' '; (end + RESERVE - len) as usize];
        match self.file.write_all_at(&blanks, len) {
            Ok(()) => Ok(()),
            // A full disk may still have room for this entry, if not for more.
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

    /// Puts the file right, if it needs that. What was written by another program and is a valid
    /// array is kept whole and only laid out one entry a line.
    pub(super) fn mend(&self) -> io::Result<Option<Mended>> {
        let len = content_len(self.file)?;
        if self.is_whole(len)? && self.last_line_parses(len)? {
            return Ok(None);
        }
        let mut text = vec![0; len as usize];
        self.file.read_exact_at(&mut text, 0)?;
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
        let (entries, rest) = whole_entries(&text);
        let mut aside = None;
        if entries.is_empty() && !rest.is_empty() {
            let path = self.path.with_extension("damaged");
            std::fs::write(&path, &text)?;
            aside = Some(path);
        }
        let cut = rest.len() as u64;
        let kept = self.lay_out(entries.into_iter())?;
        // A journal that was made empty has lost nothing.
        Ok((cut > 0 || kept > 0).then_some(Mended { cut, kept, aside }))
    }

    /// Gives the file a second name, `NAME.1.json`, and puts a new one in its place with the
    /// newest whole runs that `keep` bytes hold. Returns how many entries are left behind.
    pub(super) fn put_aside(&self, keep: u64) -> io::Result<usize> {
        let len = content_len(self.file)?;
        let mut text = vec![0; len as usize];
        self.file.read_exact_at(&mut text, 0)?;
        let entries: Vec<(&[u8], u64)> = lines(&text).collect();
        let begins_run = |(at, (line, _)): &(usize, &(&[u8], u64))| {
            let begin = if *at == 0 { 0 } else { entries[at - 1].1 };
            len - begin <= keep && parse(line).is_some_and(|r| r.phase == Phase::ServiceStart)
        };
        let first = entries.iter().enumerate().find(begins_run);
        let first = first.map_or(entries.len(), |(at, _)| at);
        let kept: Vec<&[u8]> = entries[first..].iter().map(|(line, _)| *line).collect();
        let new = match kept.is_empty() {
            true => EMPTY.to_vec(),
            false => [b"[\n", &*kept.join(&b",\n"[..]), TAIL].concat(),
        };
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let new = new_file(folder, &new)?;
        let aside = self.path.with_extension("1.json");
        match std::fs::remove_file(&aside) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => std::fs::hard_link(self.path, &aside)?,
        }
        new.persist(self.path)?;
        File::open(folder)?.sync_all()?;
        Ok(first)
    }

    fn last_line_parses(&self, len: u64) -> io::Result<bool> {
        let from = len.saturating_sub(TAIL_READ);
        let mut tail = vec![0; (len - from) as usize];
        self.file.read_exact_at(&mut tail, from)?;
        let before = tail.strip_suffix(TAIL).unwrap_or_default();
        let last = before.rsplit(|b| *b == b'\n').next().unwrap_or_default();
        let entry = last.starts_with(b"{") && serde_json::from_slice::<&RawValue>(last).is_ok();
        Ok(entry || len == EMPTY.len() as u64)
    }

    /// Writes the file anew, in place, since the lock is on this very file.
    fn lay_out<'e>(&self, entries: impl Iterator<Item = &'e [u8]>) -> io::Result<usize> {
        let mut text = b"[\n".to_vec();
        let mut count = 0;
        for entry in entries {
            if count > 0 {
                text.extend_from_slice(b",\n");
            }
            // A newline inside an entry can only be layout: in a string it would be `\n`.
            text.extend(entry.iter().filter(|b| !matches!(b, b'\n' | b'\r')));
            count += 1;
        }
        text.extend_from_slice(if count > 0 { TAIL } else { b"]\n" });
        self.file.write_all_at(&text, 0)?;
        self.file.set_len(text.len() as u64)?;
        self.file.sync_data()?;
        Ok(count)
    }
}

/// The entries at the beginning of `text`, however it is laid out, and what comes after the last
/// that is whole.
fn whole_entries(text: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    // A power cut may leave NULs where data was on its way.
    let between = |b: &u8| matches!(b, b',' | 0) || b.is_ascii_whitespace();
    let mut rest = text.trim_ascii_start();
    rest = rest.strip_prefix(b"[").unwrap_or(rest);
    let mut entries = Vec::new();
    loop {
        let blank = rest.iter().take_while(|b| between(b)).count();
        rest = &rest[blank..];
        // Readers take objects alone.
        let mut stream = serde_json::Deserializer::from_slice(rest).into_iter::<&RawValue>();
        match stream.next().filter(|_| rest.starts_with(b"{")) {
            Some(Ok(entry)) => entries.push(entry.get().as_bytes()),
            _ => {
                let end = rest.iter().rposition(|b| !between(b)).map_or(0, |at| at + 1);
                return (entries, &rest[..end]);
            }
        }
        rest = &rest[stream.byte_offset()..];
    }
}
