use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{PermissionsExt, fchown, symlink};
use std::path::{Path, PathBuf};

use provost_bundle::{Digest, Manifest, Pack};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use tempfile::TempDir;

use crate::check::Source;
use crate::error::PublishError;
use crate::history;
use crate::label::take_label;
use crate::pack::{self, PackError};
use crate::previous::Previous;
use crate::publication::{PLAN_MODE, SECRETS};
use crate::target::Target;

/// The new folder, next to the published one, until it takes its place.
pub(crate) struct Stage {
    folder: TempDir,
    /// The group that may read the plans.
    group: Option<u32>,
}

type Result<T> = std::result::Result<T, PublishError>;

impl Stage {
    pub(crate) fn new(target: &Target, group: Option<u32>) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix(target.prefix()).tempdir_in(target.parent());
        let folder =
            folder.map_err(|e| PublishError::disk("making a folder in", target.parent(), e))?;
        take_label(folder.path(), target.path());
        let stage = Self { folder, group };
        stage.open_up(stage.folder.path())?;
        for folder in ["objects", "packs", "plans"] {
            stage.make_folder(&stage.path(folder))?;
        }
        Ok(stage)
    }

    /// Writes the pack of all sources.
    pub(crate) fn write_pack(&self, sources: &[Source]) -> Result<Pack> {
        let path = self.path("packs/new");
        let failed = |e| PublishError::disk("writing", &path, e);
        let mut file = create(&path).map_err(failed)?;
        let pack = pack::write(sources, io::BufWriter::new(&mut file)).map_err(|e| match e {
            PackError::Write(e) => failed(e),
            PackError::Source(e) => e,
        })?;
        fs::rename(&path, self.path(&pack.path())).map_err(failed)?;
        Ok(pack)
    }

    /// Puts everything in its place: files that were published before and are right as hard links,
    /// the others written anew.
    /// `kept` is what stays beside them; `newest` is the bundle of all nodes.
    pub(crate) fn fill(
        &self,
        texts: &BTreeMap<String, String>,
        (manifest, newest): (&Manifest, &Manifest),
        sources: &[Source],
        kept: &BTreeSet<String>,
        previous: &Previous,
    ) -> Result<()> {
        for (file, text) in texts {
            self.write(file, text.as_bytes())?;
        }
        for source in sources {
            let file = source.entry.object_path();
            if !self.take_over(&file, previous)? {
                self.write(&file, &source.read()?)?;
            }
        }
        self.take_over(&manifest.pack.path(), previous)?;
        let link = self.path(provost_api::published::NEWEST_PACK);
        symlink(newest.pack.name(), &link)
            .map_err(|e| PublishError::disk("making the link", &link, e))?;
        for file in previous.kept(manifest)? {
            self.take_over(&file, previous)?;
        }
        for file in kept {
            match file.starts_with("objects/") || file.starts_with("packs/") {
                true => drop(self.take_over(file, previous)?),
                false => self.link(file, previous)?,
            }
        }
        Ok(())
    }

    /// Replaces the published folder by the new one, and removes the old one.
    pub(crate) fn switch(self, target: &Target) -> Result<()> {
        let failed = |e: io::Error| PublishError::disk("replacing", target.path(), e);
        let new = self.folder.path();
        // The names and the bytes of many small files at once.
        File::open(new).and_then(|f| Ok(rustix::fs::syncfs(f)?)).map_err(failed)?;
        if !target.path().exists() {
            fs::rename(new, target.path()).map_err(failed)?;
            self.has_moved();
        } else {
            match renameat_with(CWD, new, CWD, target.path(), RenameFlags::EXCHANGE) {
                Ok(()) => self.folder.close().map_err(failed)?,
                // Not every file system can.
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                    self.switch_in_two_steps(target).map_err(failed)?;
                }
                Err(e) => return Err(failed(e.into())),
            }
        }
        target.sync().map_err(failed)
    }

    /// Between the steps there is no published folder; if a crash leaves it so, [`Target::open`]
    /// moves the old one back.
    fn switch_in_two_steps(self, target: &Target) -> io::Result<()> {
        fs::rename(target.path(), target.aside())?;
        fs::rename(self.folder.path(), target.path())?;
        self.has_moved();
        fs::remove_dir_all(target.aside())
    }

    /// Nothing is left under the old name; there is nothing to remove.
    fn has_moved(self) {
        let _ = self.folder.keep();
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// Links an object or pack from the published folder, if it is there and is what its name
    /// says.
    fn take_over(&self, file: &str, previous: &Previous) -> Result<bool> {
        let new = self.path(file);
        if new.exists() {
            return Ok(true);
        }
        let name = file.rsplit('/').next().unwrap_or_default();
        let digest = name.split('.').next().unwrap_or_default().parse::<Digest>();
        if !digest.is_ok_and(|digest| previous.has(file, &digest)) {
            return Ok(false);
        }
        self.link(file, previous)?;
        Ok(true)
    }

    /// Links a file from the published folder, as it is.
    fn link(&self, file: &str, previous: &Previous) -> Result<()> {
        let (old, new) = (previous.path(file), self.path(file));
        self.make_folder_of(&new)?;
        // A file of another user, or a file system without hard links: copy it.
        if fs::hard_link(&old, &new).is_err() {
            let bytes = fs::read(&old).map_err(|e| PublishError::disk("reading", &old, e))?;
            self.write(file, &bytes)?;
        }
        Ok(())
    }

    /// Writes what only the publisher may read, or those who may read plans.
    pub(crate) fn write_private(&self, file: &str, bytes: &[u8]) -> Result<()> {
        self.write(file, bytes)
    }

    fn write(&self, file: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path(file);
        if path.exists() {
            // Two files with the same content are one object.
            return Ok(());
        }
        self.make_folder_of(&path)?;
        let write = || {
            let mut new = create(&path)?;
            // Before anything is in it.
            if is_private(file) {
                new.set_permissions(Permissions::from_mode(0o600))?;
            }
            if is_plan(file) {
                new.set_permissions(Permissions::from_mode(PLAN_MODE))?;
                fchown(&new, None, self.group)?;
            }
            new.write_all(bytes)
        };
        write().map_err(|e| PublishError::disk("writing", &path, e))
    }

    fn make_folder_of(&self, path: &Path) -> Result<()> {
        match path.parent() {
            Some(parent) if !parent.exists() => self.make_folder(parent),
            _ => Ok(()),
        }
    }

    fn make_folder(&self, path: &Path) -> Result<()> {
        fs::create_dir(path).map_err(|e| PublishError::disk("making the folder", path, e))?;
        match path.ends_with(history::FOLDER) {
            true => fs::set_permissions(path, Permissions::from_mode(0o700))
                .map_err(|e| PublishError::disk("closing", path, e)),
            false => self.open_up(path),
        }
    }

    /// Lets everybody enter, whatever the umask.
    fn open_up(&self, path: &Path) -> Result<()> {
        fs::set_permissions(path, Permissions::from_mode(0o755))
            .map_err(|e| PublishError::disk("making readable", path, e))
    }
}

/// Whether only the publisher may read it.
fn is_private(file: &str) -> bool {
    file.starts_with(history::FOLDER)
}

/// Whether those read it who may read plans: it is one, or has parts of some.
fn is_plan(file: &str) -> bool {
    ["plans", SECRETS]
        .iter()
        .any(|folder| file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
}

/// A new file that everybody may read, whatever the umask.
fn create(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.set_permissions(Permissions::from_mode(0o644))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_change_places_in_two_steps_where_they_have_to() {
        let home = tempfile::tempdir().unwrap();
        let scripts = tempfile::tempdir().unwrap();
        let www = home.path().join("www");
        fs::create_dir(&www).unwrap();
        fs::write(www.join("manifest.toml"), "old").unwrap();
        let target = Target::open(&www, scripts.path()).unwrap();
        let stage = Stage::new(&target, None).unwrap();
        stage.write("manifest.toml", b"new").unwrap();
        stage.switch_in_two_steps(&target).unwrap();
        assert_eq!(fs::read(www.join("manifest.toml")).unwrap(), b"new");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }
}
