//! Opening a journal's file, and waiting for its lock.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use provost_fs::{Durability, NewFile};

use super::array::EMPTY;

/// How long to wait for a journal's lock. Who may read a journal, as a member of its group may, can lock
/// it as well, and keep the lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// The most bytes of a journal: four times what a node's grows to before a run puts it aside.
const MOST: u64 = 64 << 20;
/// The longest time between two tries to lock: nothing reports that a lock is free.
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// Takes a lock by `try_lock`, for at most [`LOCK_TIMEOUT`].
pub(super) fn lock(mut try_lock: impl FnMut() -> Result<(), TryLockError>) -> io::Result<()> {
    let until = Instant::now() + LOCK_TIMEOUT;
    let mut pause = Duration::from_micros(20);
    loop {
        match try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(e)) => return Err(e),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => {
                let why = format!("another program has kept it locked for {LOCK_TIMEOUT:?}");
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(pause),
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Opens the file for reading, under a shared lock; none if it isn't there.
pub(super) fn open_shared(path: &Path) -> io::Result<Option<File>> {
    let file = match provost_fs::open_bounded(path, MOST) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    lock(|| file.try_lock_shared())?;
    Ok(Some(file))
}

/// Opens the file for writing. A new one appears whole, with its folder. What can't be a journal is
/// put aside: it is renamed to the path that is returned.
pub(super) fn open_or_create(path: &Path) -> io::Result<(File, Option<PathBuf>)> {
    let open = || -> io::Result<File> {
        let file = provost_fs::open(path, OpenOptions::new().read(true).write(true))?;
        provost_fs::check_len(&file, MOST)?;
        Ok(file)
    };
    let mut aside = None;
    match open() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) if provost_fs::refusal(&e).is_some() => {
            let to = aside_of(path);
            // A folder can't take the place of a file.
            if std::fs::rename(path, &to).is_err() {
                return Err(e);
            }
            aside = Some(to);
        }
        file => return Ok((file?, None)),
    }
    provost_fs::create_private_folder_of(path)?;
    match new_file(path, EMPTY)?.create(Durability::PowerCut) {
        // Another writer was first; its journal is as good.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
        created => created?,
    }
    Ok((open()?, aside))
}

/// Where what can't be read of the journal at `path` is kept. A folder of that name stays as it is.
pub(super) fn aside_of(path: &Path) -> PathBuf {
    let aside = path.with_extension("damaged");
    if aside.is_dir() { path.with_extension("damaged.1") } else { aside }
}

/// A new journal. Who may read it could also lock it, so others can't.
pub(super) fn new_file(path: &Path, text: &[u8]) -> io::Result<NewFile> {
    let mut new = NewFile::at(path)?;
    new.share()?;
    new.write(text)?;
    Ok(new)
}
