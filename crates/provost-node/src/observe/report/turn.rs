use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;

use crate::settings::Paths;

/// The right to report. Only one process has it at a time, so that nothing is sent twice and no
/// cursor goes back; the kernel takes it from one that was killed.
pub(crate) struct Turn {
    _file: File,
}

impl Turn {
    /// Takes it. None while another process has it.
    pub(crate) fn take(paths: &Paths) -> io::Result<Option<Self>> {
        let folder = paths.state.join("report");
        std::fs::create_dir_all(&folder)?;
        let mut options = File::options();
        // Whoever may open it could keep it.
        options.mode(0o600);
        let file = options.create(true).truncate(false).write(true).open(folder.join("lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(e)) => Err(e),
        }
    }
}
