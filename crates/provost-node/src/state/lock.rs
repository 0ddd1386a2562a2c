use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use crate::failure::Failure;

/// How many of those who look may be in the way, one after the other.
const LOOKERS: usize = 1000;

/// Keeps a second run out for as long as it lives, and no longer: the kernel takes it back from
/// a run that was killed.
pub struct RunLock {
    _file: File,
}

/// Why a run can't begin.
pub enum Refused {
    /// Another run is going on.
    Busy(Failure),
    /// The lock can't be had at all.
    Failed(Failure),
}

impl RunLock {
    /// Takes the lock in STATE, and leaves there who has it: `run` is for the message to whoever
    /// comes next.
    pub fn take(state: &Path, run: &str) -> Result<Self, Refused> {
        let path = state.join("lock");
        let failed = |e: std::io::Error| {
            let message = format!("taking the lock {}: {e}", path.display());
            let hint = "run as root, and see that STATE is on a writable file system";
            Refused::Failed(Failure::config(message, hint))
        };
        std::fs::create_dir_all(state).map_err(failed)?;
        let mut options = OpenOptions::new();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        match try_lock(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // What can't be read is left out of the message.
                let _ = file.read_to_string(&mut holder);
                if is_alive(&holder) {
                    let message = format!("another run is going on: {}", holder.trim());
                    let hint = "wait for its end, or see `provost status`";
                    return Err(Refused::Busy(Failure::config(message, hint)));
                }
                // Whoever may read the file may lock it as well.
                let message = format!("{} is locked, and not by the last run", path.display());
                let hint = format!("see who locks it, and end that: fuser -v {}", path.display());
                return Err(Refused::Busy(Failure::config(message, hint)));
            }
            Err(TryLockError::Error(e)) => return Err(failed(e)),
        }
        let note = format!("{run}, process {}\n", std::process::id());
        let write = |mut file: &File| -> std::io::Result<()> {
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(note.as_bytes())
        };
        write(&file).map_err(failed)?;
        Ok(Self { _file: file })
    }

    /// Whether a run is going on.
    pub fn is_taken(state: &Path) -> bool {
        let Ok(file) = File::open(state.join("lock")) else { return false };
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }
}

/// Whether the process that `note` names is there. One that says nothing yet has just begun.
fn is_alive(note: &str) -> bool {
    let pid = note.trim().rsplit(' ').next().and_then(|pid| pid.parse().ok());
    let pid = pid.and_then(rustix::process::Pid::from_raw);
    pid.is_none_or(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// Takes the lock, unless another run has it: who only looks shares it for an instant.
fn try_lock(file: &File) -> Result<(), TryLockError> {
    for _ in 0..LOOKERS {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => file.try_lock_shared()?,
            ended => return ended,
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
    fn who_looks_whether_a_run_goes_on_keeps_none_from_beginning() {
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
        // Between its fork and its exec, a child of another test has the lock, too.
        assert!(refused * 100 < taken, "{refused} refused, {taken} taken");
        let lock = RunLock::take(&state, "this run");
        assert!(lock.is_ok() && RunLock::is_taken(&state));
        assert!(matches!(RunLock::take(&state, "another"), Err(Refused::Busy(_))));
    }

    #[test]
    fn a_lock_of_no_run_is_told_from_one() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let path = dir.path().join("lock");
        let busy = || match RunLock::take(dir.path(), "a run") {
            Err(Refused::Busy(why)) => why.to_string(),
            Err(Refused::Failed(why)) => panic!("{why}"),
            Ok(_) => panic!("it is locked"),
        };
        std::fs::write(&path, format!("provost boot, process {}\n", child.id())).unwrap();
        let other = File::open(&path).unwrap();
        other.lock().unwrap();
        assert!(busy().contains("fuser"), "{}", busy());
        std::fs::write(&path, format!("provost boot, process {}\n", std::process::id())).unwrap();
        assert!(busy().contains("another run is going on"), "{}", busy());
    }
}
