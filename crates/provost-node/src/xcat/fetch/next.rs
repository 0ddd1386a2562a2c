//! The next folder of scripts, while it arrives inside the present one: what is above that may be
//! on a root that can't be written, and the folder itself a mount, as with xCAT's statelite.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::fetch::mounts::mounts;

/// How the name of a folder begins that is being filled or emptied. Nobody looks for scripts there.
const HIDDEN: &str = ".xcatpost-";

pub(crate) struct Next {
    folder: PathBuf,
    hidden: TempDir,
}

impl Next {
    /// Begins it, and removes what a killed run left.
    pub(crate) fn begin(folder: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let mounted = mounted(folder);
        for name in names(folder)? {
            if is_hidden(&name) && !mounted.contains(&name) {
                remove(&folder.join(name))?;
            }
        }
        Ok(Self { folder: folder.to_owned(), hidden: hidden(folder)? })
    }

    pub(crate) fn path(&self) -> &Path {
        self.hidden.path()
    }

    /// Makes it the present one. Whatever is seen there meanwhile is whole, the old or the new.
    pub(crate) fn take_place(self) -> io::Result<()> {
        let (folder, old) = (&self.folder, hidden(&self.folder)?);
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755))?;
        let (new, mounted) = (names(self.path())?, mounted(folder));
        if let Some(name) = new.iter().find(|name| mounted.contains(name)) {
            let path = folder.join(name);
            let busy = format!("{} has a mount, and can't be replaced", path.display());
            return Err(io::Error::new(ErrorKind::ResourceBusy, busy));
        }
        for name in names(folder)? {
            if !is_hidden(&name) && !new.contains(&name) && !mounted.contains(&name) {
                put_away(&folder.join(&name), &old.path().join(&name))?;
            }
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

/// What in `folder` something is mounted in, or at. Where that can't be known it is taken for
/// nothing.
fn mounted(folder: &Path) -> Vec<OsString> {
    let first = |at: PathBuf| Some(at.strip_prefix(folder).ok()?.iter().next()?.to_owned());
    mounts().unwrap_or_default().into_iter().filter_map(first).collect()
}

/// Removes a file, or a folder with all that is in it.
fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(e) if e.kind() == ErrorKind::NotADirectory => std::fs::remove_file(path),
        removed => removed,
    }
}

fn put_away(path: &Path, to: &Path) -> io::Result<()> {
    match std::fs::rename(path, to) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        // An overlay can't rename a folder that is in its lower layer.
        Err(e) if e.kind() == ErrorKind::CrossesDevices => std::fs::remove_dir_all(path),
        renamed => renamed,
    }
}
