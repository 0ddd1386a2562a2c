//! Files that are made once: each is complete or absent, and one that is there stays.

use std::fs::{self, DirBuilder, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use provost_fs::{Durability, NewFile};

use crate::failure::Failure;
use crate::output;

/// Says what there is and what is made, and makes it, unless that is only to be shown.
#[derive(Clone, Copy)]
pub(super) struct Maker {
    pub(super) dry_run: bool,
}

impl Maker {
    /// Whether `path` has to be made. Says which.
    pub(super) fn lacks(self, path: &Path) -> Result<bool, Failure> {
        let path_shown = path.display();
        let is_there = path.symlink_metadata().is_ok();
        match (is_there, self.dry_run) {
            (true, _) => say(&format!("exists: {path_shown}"))?,
            (false, true) => say(&format!("would write: {path_shown}"))?,
            (false, false) => {}
        }
        Ok(!is_there && !self.dry_run)
    }

    /// Writes a file that isn't there.
    pub(super) fn write(self, path: &Path, mode: u32, text: &str) -> Result<(), Failure> {
        if self.lacks(path)? {
            create(path, mode, text.as_bytes()).map_err(|e| failed(path, &e))?;
            say(&format!("wrote: {}", path.display()))?;
        }
        Ok(())
    }

    /// Writes a folder with the files of `from`, if that is there, and a script.
    pub(super) fn write_scripts(
        self,
        path: &Path,
        from: &Path,
        script: (&str, &str),
    ) -> Result<(), Failure> {
        if self.lacks(path)? {
            fill(path, from, script).map_err(|e| failed(path, &e))?;
            say(&format!("wrote: {}/", path.display()))?;
        }
        Ok(())
    }

    /// Makes a folder, and those above it, that others may enter, whatever the umask.
    pub(super) fn folder(self, path: &Path) -> Result<(), Failure> {
        if self.dry_run {
            return Ok(());
        }
        open_folder(path).map_err(|e| failed(path, &e))
    }
}

/// Prints a line.
pub(super) fn say(line: &str) -> Result<(), Failure> {
    output::print(format!("{line}\n").as_bytes())
}

/// Waits until no other init works in `folder`, which is made, for as long as what is returned lives.
pub(super) fn only_one(folder: &Path) -> Result<File, Failure> {
    let locked = || {
        open_folder(folder)?;
        let lock = File::open(folder)?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => {
                output::note("waiting for another provostctl init, which works here");
                lock.lock()?;
            }
            tried => tried?,
        }
        Ok(lock)
    };
    locked().map_err(|e| failed(folder, &e))
}

pub(super) fn failed(path: &Path, e: &io::Error) -> Failure {
    let hint = "make room, or let root write there; then run provostctl init again: it continues from here";
    Failure::new(format!("writing {}: {e}", path.display()), hint)
}

fn create(path: &Path, mode: u32, bytes: &[u8]) -> io::Result<()> {
    let mut file = NewFile::at(path)?;
    file.set_mode(mode)?;
    file.write(bytes)?;
    file.create(Durability::PowerCut)
}

fn open_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(above) = path.parent() {
        open_folder(above)?;
    }
    match DirBuilder::new().mode(0o755).create(path) {
        // Another process was first.
        Err(_) if path.is_dir() => return Ok(()),
        made => made?,
    }
    fs::set_permissions(path, Permissions::from_mode(0o755))
}

/// The folder gets its name when all is in it.
fn fill(path: &Path, from: &Path, (name, text): (&str, &str)) -> io::Result<()> {
    let new = path.with_extension("partial");
    match fs::remove_dir_all(&new) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => open_folder(&new)?,
    }
    create(&new.join(name), 0o755, text.as_bytes())?;
    match fs::read_dir(from) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        entries => {
            for entry in entries? {
                let entry = entry?;
                let file = new.join(entry.file_name());
                if entry.file_type()?.is_file() && !file.exists() {
                    let mode = entry.metadata()?.permissions().mode() & 0o777;
                    create(&file, mode, &fs::read(entry.path())?)?;
                }
            }
        }
    }
    fs::rename(&new, path)?;
    // The names of all of them, and its own.
    File::open(path)?.sync_all()?;
    provost_fs::sync_folder(path.parent().unwrap_or(Path::new("/")))
}
