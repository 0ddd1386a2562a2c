use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::durability::{Durability, context, folder_of, in_the_way, sync_name};
use crate::private::file_mode;

/// A new content for a path, which readers don't see yet. Dropped, it leaves nothing behind.
#[derive(Debug)]
pub struct NewFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl NewFile {
    /// An empty file that [`replace`](Self::replace) or [`create`](Self::create) puts at `path`.
    /// Its mode is 0600.
    pub fn at(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let folder = folder_of(&path);
        let file = tempfile::Builder::new()
            // Not by `new_in`, whose errors name the temporary file.
            .make_in(folder, |path| {
                File::options().read(true).write(true).create_new(true).mode(0o600).open(path)
            })
            .map_err(context("creating a file in", folder))?;
        Ok(Self { file, path })
    }

    /// The same for a path that a user has named: a link is followed, and what is there and is no
    /// regular file, such as `/dev/stdout`, is an error: it would be gone.
    pub fn named(path: &Path) -> io::Result<Self> {
        match fs::canonicalize(path) {
            Ok(path) if !path.is_file() => {
                Err(io::Error::new(io::ErrorKind::InvalidInput, "it is there, and no regular file"))
            }
            Ok(path) => Self::at(path),
            Err(_) => Self::at(path),
        }
    }

    /// Sets the permission bits, whatever the umask.
    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        self.file.as_file().set_permissions(Permissions::from_mode(mode))
    }

    /// Lets the group of its folder read it, if the folder is [shared](crate::SHARED) with one.
    pub fn share(&self) -> io::Result<()> {
        match file_mode(folder_of(&self.path)) {
            0o600 => Ok(()),
            mode => self.set_mode(mode),
        }
    }

    /// Appends `bytes`.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.as_file_mut().write_all(bytes)
    }

    /// The open file, for a program or a library that writes it.
    pub fn as_file_mut(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// The path that it will get.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the file at its path, in the place of one that is there.
    pub fn replace(self, durability: Durability) -> io::Result<()> {
        self.sync(durability)?;
        let Self { file, path } = self;
        file.persist(&path).map_err(|e| in_the_way(&path)(e.error))?;
        sync_name(&path, durability)
    }

    /// Puts the file at its path. If one is there, it stays, and the error is
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists).
    pub fn create(self, durability: Durability) -> io::Result<()> {
        self.sync(durability)?;
        let Self { file, path } = self;
        file.persist_noclobber(&path).map_err(|e| e.error)?;
        sync_name(&path, durability)
    }

    fn sync(&self, durability: Durability) -> io::Result<()> {
        match durability {
            Durability::Crash => Ok(()),
            Durability::PowerCut => self.file.as_file().sync_all(),
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
