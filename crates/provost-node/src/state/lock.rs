//! The lock of a run: one run at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::Path;

use provost_fs::refusal;

use crate::failure::Failure;

/// How often the lock may be busy because a process looks whether a run is in progress.
const LOOKERS: usize = 1000;
/// How much of the note in the lock is read, in bytes.
const MOST_NOTE: u64 = 1000;

/// Keeps a second run out for as long as it lives, and no longer: the kernel releases the lock of a
/// run that was killed.
///
/// Its file has two lines: who has it, and the id of the run that began last, in whatever order the
/// clock puts the runs.
pub struct RunLock {
    file: File,
    holder: String,
}

/// Why the lock wasn't taken.
pub enum LockError {
    /// Another run is going on.
    Busy(Failure),
    /// The lock can't be had at all.
    Failed(Failure),
}

impl RunLock {
    /// Takes the lock in STATE and notes in it who has it: `run` is for the message that the next
    /// one shows.
    pub fn take(state: &Path, run: &str) -> Result<Self, LockError> {
        let path = state.join("lock");
        let failed = |e: std::io::Error| {
            let message = format!("taking the lock {}", path.display());
            let hint = match refusal(&e) {
                Some(why) => why.hint(&path),
                None if e.kind() == ErrorKind::PermissionDenied => "run as root".to_owned(),
                None => return LockError::Failed(Failure::of_state(message, state, e)),
            };
            LockError::Failed(Failure::local(message, hint).caused_by(e))
        };
        provost_fs::create_private_folder(state).map_err(failed)?;
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = provost_fs::open(&path, options).map_err(failed)?;
        let taken = try_lock(&file);
        let mut note = String::new();
        // What can't be read is left out.
        let _ = (&file).take(MOST_NOTE).read_to_string(&mut note);
        let (holder, last) = note.split_once('\n').unwrap_or((&note, ""));
        match taken {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                if is_alive(holder) {
                    let message = format!("another run is in progress: {holder}");
                    let hint = "wait until it ends; see its progress with `provost status`";
                    return Err(LockError::Busy(Failure::local(message, hint)));
                }
                // Every process that may read the file may lock it.
                let message = format!("{} is locked, and not by the last run", path.display());
                let hint = format!(
                    "find the process that locks it, and stop it: fuser -v {}",
                    path.display()
                );
                return Err(LockError::Busy(Failure::local(message, hint)));
            }
            Err(TryLockError::Error(e)) => return Err(failed(e)),
        }
        let lock = Self { file, holder: format!("{run}, process {}", std::process::id()) };
        lock.note(last.trim()).map_err(failed)?;
        Ok(lock)
    }

    /// Notes that the run with this id has begun.
    pub fn note(&self, id: &str) -> std::io::Result<()> {
        let mut file = &self.file;
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(format!("{}\n{id}\n", self.holder).as_bytes())
    }

    /// The id of the run that began last, where that is known.
    pub fn last_run(state: &Path) -> Option<String> {
        let note = provost_fs::read(&state.join("lock"), MOST_NOTE).ok()?;
        let note = String::from_utf8(note).ok()?;
        note.lines().nth(1).filter(|id| !id.is_empty()).map(str::to_owned)
    }

    /// Waits until no run is in progress. The kernel says when: nothing is asked again and again.
    pub fn wait(state: &Path) -> std::io::Result<()> {
        let file = match provost_fs::open_to_read(&state.join("lock")) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            file => file?,
        };
        loop {
            match file.lock_shared() {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    /// Whether a run is in progress.
    pub fn is_taken(state: &Path) -> bool {
        let Ok(file) = provost_fs::open_to_read(&state.join("lock")) else { return false };
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }
}

/// Whether the process that `note` names is there. An empty note is of a run that has just begun.
fn is_alive(note: &str) -> bool {
    let pid = note.trim().rsplit(' ').next().and_then(|pid| pid.parse().ok());
    let pid = pid.and_then(rustix::process::Pid::from_raw);
    pid.is_none_or(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// Takes the lock, unless another run has it. A process that only looks shares it for an instant.
fn try_lock(file: &File) -> Result<(), TryLockError> {
    for _ in 0..LOOKERS {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => file.try_lock_shared()?,
            result => return result,
        }
        file.unlock().map_err(TryLockError::Error)?;
        std::thread::yield_now();
    }
    file.try_lock()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_whether_a_run_goes_on_keeps_no_run_from_beginning() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().to_owned();
        std::fs::write(state.join("lock"), "").unwrap();
        let looker = std::thread::spawn({
            let state = state.clone();
            move || (0..20_000).filter(|_| RunLock::is_taken(&state)).count()
        });
        let (mut taken, mut refused) = (0, 0);
        while !looker.is_finished() {
            match RunLock::take(&state, "this run") {
                Ok(_) => taken += 1,
                Err(_) => refused += 1,
            }
        }
        // A child of another test has the lock, too, between its fork and its exec.
        assert!(refused * 100 < taken, "{refused} refused, {taken} taken");
        let lock = RunLock::take(&state, "this run");
        assert!(lock.is_ok() && RunLock::is_taken(&state));
        assert!(matches!(RunLock::take(&state, "another"), Err(LockError::Busy(_))));
    }

    #[test]
    fn a_lock_of_no_run_is_told_from_one() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let path = dir.path().join("lock");
        let busy = || match RunLock::take(dir.path(), "a run") {
            Err(LockError::Busy(why)) => why.to_string(),
            Err(LockError::Failed(why)) => panic!("{why}"),
            Ok(_) => panic!("it is locked"),
        };
        std::fs::write(&path, format!("provost boot, process {}\n", child.id())).unwrap();
        let other = File::open(&path).unwrap();
        other.lock().unwrap();
        assert!(busy().contains("fuser"), "{}", busy());
        std::fs::write(&path, format!("provost boot, process {}\n", std::process::id())).unwrap();
        assert!(busy().contains("another run is in progress"), "{}", busy());
    }
}
