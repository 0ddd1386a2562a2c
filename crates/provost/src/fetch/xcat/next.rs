//! The next folder of scripts, while it arrives inside the present one: what is above that may be
//! on a root that can't be written, and the folder itself a mount, as with xCAT's statelite.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// How the name of a folder begins that is being filled or emptied. Nobody looks for scripts there.
const HIDDEN: &str = ".xcatpost-";

pub(super) struct Next {
    folder: PathBuf,
    hidden: TempDir,
}

impl Next {
    /// Begins it, and removes what a killed run left.
    pub(super) fn begin(folder: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        for name in names(folder)?.iter().filter(|name| is_hidden(name)) {
            std::fs::remove_dir_all(folder.join(name))?;
        }
        Ok(Self { folder: folder.to_owned(), hidden: hidden(folder)? })
    }

    pub(super) fn path(&self) -> &Path {
        self.hidden.path()
    }

    /// Makes it the present one. Whatever is seen there meanwhile is whole, the old or the new.
    pub(super) fn take_place(self) -> io::Result<()> {
        let (folder, old) = (&self.folder, hidden(&self.folder)?);
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755))?;
        let new = names(self.path())?;
        for name in names(folder)?.iter().filter(|name| !is_hidden(name) && !new.contains(name)) {
            put_away(&folder.join(name), &old.path().join(name))?;
        }
        for name in &new {
            put_away(&folder.join(name), &old.path().join(name))?;
            std::fs::rename(self.path().join(name), folder.join(name))?;
        }
        old.close()?;
        self.hidden.close()
    }
}

fn hidden(folder: &Path) -> io::Result<TempDir> {
    tempfile::Builder::new().prefix(HIDDEN).tempdir_in(folder)
}

fn is_hidden(name: &OsString) -> bool {
    name.as_encoded_bytes().starts_with(HIDDEN.as_bytes())
}

fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    std::fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
}

fn put_away(path: &Path, to: &Path) -> io::Result<()> {
    match std::fs::rename(path, to) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        // An overlay can't rename a folder that is in its lower layer.
        Err(e) if e.kind() == ErrorKind::CrossesDevices => std::fs::remove_dir_all(path),
        renamed => renamed,
    }
}
