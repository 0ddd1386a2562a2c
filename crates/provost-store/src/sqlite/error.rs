use std::error::Error;
use std::io;
use std::path::Path;

use rusqlite::ffi;

use crate::StoreError;

/// The error of `doing` something with the file or folder at `path`.
pub(super) fn failed(
    doing: &str,
    path: &Path,
    source: impl Into<Box<dyn Error + Send + Sync>>,
) -> StoreError {
    let source = source.into();
    let hint = hint(path, source.as_ref());
    StoreError::new(format!("{doing} {}", path.display()), hint, source)
}

/// Whether an error may be that of a full disk. The index of the write-ahead log is a file in memory:
/// without room for it, the error is one of input and output.
pub(super) fn has_no_room(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|e| e.extended_code & 0xff);
    matches!(code, Some(ffi::SQLITE_FULL | ffi::SQLITE_IOERR | ffi::SQLITE_CANTOPEN))
}

fn hint(path: &Path, error: &(dyn Error + Send + Sync + 'static)) -> String {
    let folder = path.parent().unwrap_or(Path::new("/")).display();
    let sqlite = error.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error);
    let io = error.downcast_ref::<io::Error>().map(io::Error::kind);
    match (sqlite.map(|e| e.extended_code & 0xff), io) {
        (Some(ffi::SQLITE_FULL), _) | (_, Some(io::ErrorKind::StorageFull)) => {
            format!("make room on the file system of {folder}")
        }
        (Some(ffi::SQLITE_BUSY), _) => {
            format!("end the other program that has {} open: fuser -v {0}", path.display())
        }
        (Some(ffi::SQLITE_CORRUPT | ffi::SQLITE_NOTADB), _) => {
            format!("stop provostd, then move {} aside or restore it from a backup", path.display())
        }
        _ => format!(
            "check that provostd's user may write to {folder}, and that the disk has room and is healthy"
        ),
    }
}
