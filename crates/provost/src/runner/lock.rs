use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use crate::failure::Failure;

/// Keeps a second run out for as long as it lives, and no longer: the kernel takes it back from
/// a run that was killed.
pub(crate) struct RunLock {
    _file: File,
}

/// Why a run can't begin.
pub(super) enum Refused {
    /// Another run is going on.
    Busy(Failure),
    /// The lock can't be had at all.
    Failed(Failure),
}

impl RunLock {
    /// Takes the lock in STATE, and leaves there who has it: `run` is for the message to whoever
    /// comes next.
    pub(super) fn take(state: &Path, run: &str) -> Result<Self, Refused> {
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
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // What can't be read is left out of the message.
                let _ = file.read_to_string(&mut holder);
                let message = format!("another run is going on: {}", holder.trim());
                let hint = "wait for its end, or see `provost status`";
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
    pub(crate) fn is_taken(state: &Path) -> bool {
        let Ok(file) = File::open(state.join("lock")) else { return false };
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }
}
