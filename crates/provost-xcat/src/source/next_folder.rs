//! The next folder of scripts, while it arrives. It is inside the present one, because the folder above
//! that may be read-only, and the present one a mount, as with xCAT's statelite.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use provost_node::failure::Failure;
use provost_node::fetch::mounts::mounts;
use tempfile::TempDir;

/// The prefix of a folder that is being filled or emptied, which is no place for scripts.
const HIDDEN: &str = ".xcatpost-";

/// The folder while it is filled.
pub(super) struct NextFolder {
    folder: PathBuf,
    hidden: TempDir,
}

impl NextFolder {
    /// Begins it, and removes what a killed run left.
    pub(super) fn begin(folder: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let mounted = mounted(folder);
        for name in names(folder)? {
            if is_hidden(&name) && !mounted.contains(&name) {
                remove(&folder.join(name))?;
            }
        }
        Ok(Self { folder: folder.to_owned(), hidden: hidden(folder)? })
    }

    pub(super) fn path(&self) -> &Path {
        self.hidden.path()
    }

    /// Makes it the present one. At every instant each name there is whole, old or new.
    pub(super) fn take_place(self) -> io::Result<()> {
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

/// The names in `folder` that are mount points or have one below. None where that can't be known.
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

/// Makes the file `from` be at `to` as well.
pub(super) fn link_or_copy(from: &Path, to: &Path) -> io::Result<()> {
    if from == to {
        return Ok(());
    }
    std::fs::create_dir_all(to.parent().unwrap_or(to))?;
    std::fs::hard_link(from, to).or_else(|_| std::fs::copy(from, to).map(drop))
}

/// The failure of a step in `folder`.
pub(super) fn disk(folder: &Path, doing: &str, e: io::Error) -> Failure {
    let folder = folder.display();
    let hint = match e.kind() {
        ErrorKind::StorageFull => format!("make room on the file system of {folder}"),
        ErrorKind::ResourceBusy => {
            format!("something is mounted inside {folder}: unmount it")
        }
        _ => format!("run as root, and check that {folder} is on a writable file system"),
    };
    Failure::local(format!("{doing}, {folder}"), hint).caused_by(e)
}
