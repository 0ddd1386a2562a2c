use std::io;
use std::path::{Path, PathBuf};

/// What went wrong with a journal.
#[derive(Debug, thiserror::Error)]
#[error("{doing} the journal {}", path.display())]
pub struct JournalError {
    doing: &'static str,
    path: PathBuf,
    source: io::Error,
}

pub(super) type Result<T> = std::result::Result<T, JournalError>;

impl JournalError {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        let folder = provost_fs::folder_of(&self.path).display();
        if let Some(why) = provost_fs::refusal(&self.source) {
            return why.hint(&self.path);
        }
        match self.source.kind() {
            io::ErrorKind::StorageFull => format!("make room on the file system of {folder}"),
            io::ErrorKind::PermissionDenied => format!("run as a user who may write to {folder}"),
            io::ErrorKind::TimedOut => {
                let path = self.path.display();
                format!("find the program that has it open, and stop it: fuser -v {path}")
            }
            _ => format!("check that {folder} is a folder on a writable file system"),
        }
    }
}

/// Turns an error of `doing` something with the journal at `path` into one that says so.
pub(super) fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> JournalError {
    move |source| JournalError { doing, path: path.to_owned(), source }
}
