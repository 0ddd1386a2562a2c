use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::{FileEntry, Mismatch, Verifying};

/// A file of the bundle while it is written into a folder. Only its owner can read it, and nobody
/// can run it, until all of it is there and matches the manifest. If that fails, it is removed.
#[derive(Debug)]
pub struct IncomingFile {
    name: String,
    mode: u32,
    /// None when it is verified and stays.
    path: Option<PathBuf>,
    file: Option<Verifying<File>>,
}

/// Why a file of the bundle couldn't be put in its place.
#[derive(Debug, thiserror::Error)]
pub enum IncomingFileError {
    /// It doesn't match the manifest.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// Writing it failed.
    #[error("writing {}", path.display())]
    Disk {
        /// Where it was to be.
        path: PathBuf,
        /// Why that failed.
        source: io::Error,
    },
}

impl IncomingFileError {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Mismatch(mismatch) => mismatch.hint(),
            Self::Disk { path, source } => {
                let folder = path.parent().unwrap_or(path).display();
                match source.kind() {
                    io::ErrorKind::StorageFull => {
                        format!("make room on the file system of {folder}")
                    }
                    _ => format!("check that {folder} is a folder on a writable file system"),
                }
            }
        }
    }
}

impl IncomingFile {
    /// Creates the file `entry` in the folder `into`, with the folders between. There must be
    /// nothing at its place yet.
    pub fn new(entry: &FileEntry, into: &Path) -> Result<Self, IncomingFileError> {
        let path = into.join(&entry.path);
        let open = || OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        // Most files are for a folder that exists.
        let opened = open().or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                std::fs::create_dir_all(path.parent().unwrap_or(into)).and_then(|()| open())
            }
            _ => Err(error),
        });
        let file =
            opened.map_err(|source| IncomingFileError::Disk { path: path.clone(), source })?;
        let file = Verifying::new(file, &*entry.path, entry.size, entry.sha256);
        let (name, mode) = (entry.path.clone(), entry.mode.bits());
        Ok(Self { name, mode, path: Some(path), file: Some(file) })
    }

    /// The file's path in the bundle.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Appends `bytes`. More than the manifest's size is an error at once.
    pub fn write_all(&mut self, bytes: &[u8]) -> Result<(), IncomingFileError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.write_all(bytes).map_err(|source| match source.downcast::<Mismatch>() {
            Ok(mismatch) => IncomingFileError::Mismatch(mismatch),
            Err(source) => self.disk(source),
        })
    }

    /// Gives the file its mode, if it matches the manifest.
    pub fn finish(mut self) -> Result<(), IncomingFileError> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let file = file.finish()?;
        file.set_permissions(Permissions::from_mode(self.mode)).map_err(|e| self.disk(e))?;
        self.path = None;
        Ok(())
    }

    fn disk(&self, source: io::Error) -> IncomingFileError {
        IncomingFileError::Disk { path: self.path.clone().unwrap_or_default(), source }
    }
}

impl Drop for IncomingFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // It can't be run in any case; a disk that fails here has failed before, which was reported.
            let _ = std::fs::remove_file(path);
        }
    }
}
