//! The lock of those who report.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;

use crate::settings::Paths;

/// The right to report. One process has it at a time, so that nothing is sent twice and no cursor
/// goes back. The kernel takes it from a process that is killed.
pub(super) struct ReportLock {
    _file: File,
}

impl ReportLock {
    /// Takes it. None while another process has it.
    pub(super) fn take(paths: &Paths) -> io::Result<Option<Self>> {
        let folder = paths.state.join("report");
        std::fs::create_dir_all(&folder)?;
        let mut options = File::options();
        // Anybody who may open it could keep it.
        options.mode(0o600);
        let options = options.create(true).truncate(false).write(true);
        let file = provost_fs::open(&folder.join("lock"), options)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(e)) => Err(e),
        }
    }
}
