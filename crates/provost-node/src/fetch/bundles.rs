//! The scripts on this node's disk: the current set, and the next one while it is fetched.
//!
//! `STATE/bundle` is a link to the current set. The next one is built next to it and becomes the
//! current one by one rename, when all of it is verified.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use provost_bundle::{Digest, FileEntry, Manifest, Verifying};
use provost_fs::refusal;
use tempfile::TempDir;

use super::error::FetchError;
use super::mounts::mounts;
use crate::failure::Failure;

/// How the folder of a set that isn't whole yet begins.
const UNFINISHED: &str = ".new-";

/// The strong ETags of what has come in part, by URL.
type Tags = RefCell<HashMap<String, String>>;

/// STATE/bundles.
pub(crate) struct Bundles {
    pub(super) state: PathBuf,
    sets: PathBuf,
    pub(crate) tags: Tags,
}

impl Bundles {
    /// Opens the node's sets, and removes what a killed run left unfinished.
    pub(crate) fn open(state: &Path) -> Result<Self, Failure> {
        let bundles =
            Self { state: state.to_owned(), sets: state.join("bundles"), tags: Tags::default() };
        let open = || {
            provost_fs::create_private_folder(&bundles.sets)?;
            for entry in std::fs::read_dir(&bundles.sets)?.flatten() {
                if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                    std::fs::remove_dir_all(entry.path())?;
                }
            }
            Ok(())
        };
        open().map_err(|e| bundles.disk("preparing the scripts' folder", e))?;
        Ok(bundles)
    }

    /// Where the current set is.
    pub(crate) fn current(&self) -> PathBuf {
        self.state.join("bundle")
    }

    /// Whether nothing was ever fetched here, not even a part.
    pub(crate) fn are_none(&self) -> bool {
        std::fs::read_dir(&self.sets).is_ok_and(|mut entries| entries.next().is_none())
    }

    /// Whether there is a current set.
    pub(crate) fn has_current(&self) -> bool {
        self.current().exists()
    }

    /// The paths of those files of `manifest` that the current set lacks or has in another form.
    pub(crate) fn missing<'m>(&self, manifest: &'m Manifest) -> Vec<&'m str> {
        let current = self.current();
        let there = |entry: &&FileEntry| !is_as_published(&current, entry);
        manifest.files.iter().filter(there).map(|e| e.path.as_str()).collect()
    }

    /// Whether the current set has no file that `manifest` doesn't name.
    pub(crate) fn holds_no_other(&self, manifest: &Manifest) -> bool {
        let named: HashSet<PathBuf> =
            manifest.files.iter().map(|e| self.current().join(&e.path)).collect();
        let mut folders = vec![self.current()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(folder) else { return false };
            for entry in entries.flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    _ if named.contains(&entry.path()) => {}
                    _ => return false,
                }
            }
        }
        true
    }

    /// Begins the next set. It goes away again unless it becomes the current one.
    pub(crate) fn begin(&self) -> Result<TempDir, Failure> {
        tempfile::Builder::new()
            .prefix(UNFINISHED)
            .tempdir_in(&self.sets)
            .map_err(|e| self.disk("making a folder for new scripts", e))
    }

    /// What there is of the content with this digest, open to be read and added to. It stays
    /// until the next set is whole.
    pub(crate) fn part(&self, sha256: &Digest) -> Result<std::fs::File, FetchError> {
        let mut options = std::fs::OpenOptions::new();
        options.read(true).append(true).create(true);
        let path = self.part_path(sha256);
        let opened = provost_fs::open(&path, &mut options).or_else(|e| match refusal(&e) {
            // There is nothing in it that could be used.
            Some(_) => {
                std::fs::remove_file(&path)?;
                provost_fs::open(&path, &mut options)
            }
            None => Err(e),
        });
        opened.map_err(|e| FetchError::abort(self.disk("creating a file for what is fetched", e)))
    }

    /// Forgets what there is of it.
    pub(crate) fn drop_part(&self, sha256: &Digest) -> Result<(), FetchError> {
        let dropped = std::fs::remove_file(self.part_path(sha256));
        dropped.map_err(|e| FetchError::abort(self.disk("removing what didn't verify", e)))
    }

    fn part_path(&self, sha256: &Digest) -> PathBuf {
        self.sets.join(format!(".part-{sha256}"))
    }

    /// Puts the content with this digest, which is whole and verified, at the places of `entries`
    /// in the folder `new`.
    pub(crate) fn place(
        &self,
        sha256: &Digest,
        entries: &[&FileEntry],
        new: &Path,
    ) -> Result<(), Failure> {
        let part = self.part_path(sha256);
        let place = |entry: &FileEntry| {
            let to = new.join(&entry.path);
            std::fs::create_dir_all(to.parent().unwrap_or(new))?;
            std::fs::copy(&part, &to)?;
            std::fs::set_permissions(&to, PermissionsExt::from_mode(entry.mode.bits()))
        };
        entries
            .iter()
            .try_for_each(|entry| place(entry))
            .map_err(|e| self.disk("installing the new scripts", e))
    }

    /// Links into the folder `new` what the current set has already.
    pub(crate) fn take_over(
        &self,
        manifest: &Manifest,
        missing: &[&str],
        new: &Path,
    ) -> Result<(), Failure> {
        let current = self.current();
        for entry in manifest.files.iter().filter(|e| !missing.contains(&e.path.as_str())) {
            let (from, to) = (current.join(&entry.path), new.join(&entry.path));
            let link = || {
                std::fs::create_dir_all(to.parent().unwrap_or(new))?;
                std::fs::hard_link(&from, &to)
            };
            link().map_err(|e| self.disk(&format!("taking over {}", from.display()), e))?;
        }
        Ok(())
    }

    /// Makes `new` the current set and removes the old one.
    pub(crate) fn switch_to(&self, new: TempDir) -> Result<PathBuf, Failure> {
        let switch = || -> io::Result<()> {
            let name = uuid::Uuid::now_v7().to_string();
            std::fs::set_permissions(new.path(), PermissionsExt::from_mode(0o755))?;
            std::fs::rename(new.path(), self.sets.join(&name))?;
            let link = self.sets.join(".link");
            match std::fs::remove_file(&link) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
            std::os::unix::fs::symlink(Path::new("bundles").join(&name), &link)?;
            let current = self.current();
            std::fs::rename(&link, &current).map_err(provost_fs::in_the_way(&current))?;
            for entry in std::fs::read_dir(&self.sets)?.flatten() {
                let path = entry.path();
                match entry.file_type()?.is_dir() {
                    true if entry.file_name() == name.as_str() || may_hold_a_mount(&path) => {}
                    true => std::fs::remove_dir_all(path)?,
                    false => std::fs::remove_file(path)?,
                }
            }
            Ok(())
        };
        switch().map_err(|e| self.disk("switching to the new scripts", e))?;
        Ok(self.current())
    }

    /// A failure of this node's own disk.
    pub(crate) fn disk(&self, doing: &str, e: io::Error) -> Failure {
        Failure::of_state(format!("{doing} in {}", self.state.display()), &self.state, e)
    }
}

/// Whether something may be mounted below `folder`; true where that isn't known.
fn may_hold_a_mount(folder: &Path) -> bool {
    let (Some(mounts), Ok(folder)) = (mounts(), folder.canonicalize()) else { return true };
    mounts.iter().any(|at| at.starts_with(&folder))
}

/// Whether the file of `entry` below `folder` is what its manifest says, byte for byte.
fn is_as_published(folder: &Path, entry: &FileEntry) -> bool {
    let check = || -> io::Result<bool> {
        let path = folder.join(&entry.path);
        // Whatever a script may have put there.
        let mut file = provost_fs::open_to_read(&path)?;
        let metadata = file.metadata()?;
        if metadata.len() != entry.size
            || metadata.permissions().mode() & 0o7777 != entry.mode.bits()
        {
            return Ok(false);
        }
        let mut verifying =
            Verifying::new(io::sink(), entry.path.as_str(), entry.size, entry.sha256);
        io::copy(&mut file, &mut verifying)?;
        Ok(verifying.finish().is_ok())
    };
    check().unwrap_or(false)
}
