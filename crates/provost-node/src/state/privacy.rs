//! STATE and LOG are for root alone, or for a group to read as well: `[paths] group`.

use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use provost_api::disclosed::{self, may_leave};
use provost_fs::{SHARED, refusal};
use rustix::fs::{Gid, Mode, OFlags};

use crate::failure::Failure;
use crate::settings::Paths;

/// The scripts, in STATE. Their modes are the publisher's.
const SCRIPTS: &str = "bundles";
/// Folders that others use as well.
const COMMON: [&str; 15] = [
    "/",
    "/etc",
    "/home",
    "/opt",
    "/root",
    "/run",
    "/srv",
    "/tmp",
    "/usr",
    "/var",
    "/var/cache",
    "/var/lib",
    "/var/log",
    "/var/spool",
    "/var/tmp",
];

/// The group that may read STATE and LOG, if one is configured.
pub fn group(paths: &Paths) -> Result<Option<u32>, Failure> {
    let Some(name) = &paths.group else { return Ok(None) };
    let hint = "name a group that /etc/group has, or its number, in `group` under [paths]";
    match provost_fs::group_id(name) {
        Ok(Some(id)) => Ok(Some(id)),
        Ok(None) => Err(Failure::config(format!("no group {name:?} is in /etc/group"), hint)),
        Err(e) => {
            Err(Failure::config(format!("looking for the group {name:?}"), hint).caused_by(e))
        }
    }
}

/// Creates STATE and LOG where they are missing, and corrects the modes of all in them, as earlier
/// versions, installers and scripts have left them. Returns what it can't do: a run goes on without.
pub fn protect(paths: &Paths) -> Vec<Failure> {
    let mut failures = Vec::new();
    let group = group(paths).unwrap_or_else(|failure| {
        failures.push(failure);
        None
    });
    for (name, root) in [("state", &paths.state), ("log", &paths.log)] {
        if COMMON.iter().any(|common| Path::new(common) == root) {
            let message = format!("{} is for others as well, so its mode stays", root.display());
            let hint = format!("set `{name}` under [paths] to a folder of its own");
            failures.push(Failure::local(message, hint));
            continue;
        }
        let create = || {
            // What is above it is the system's, and not private.
            provost_fs::create_folder_of(root)?;
            provost_fs::create_private_folder(root)
        };
        if create().is_err() {
            // What needs it says so.
            continue;
        }
        let mut walk = Walk { group, state: &paths.state, error: None };
        walk.folder(root);
        failures.extend(walk.error.map(|e| {
            let message = format!("keeping {} private", root.display());
            Failure::local(message, "run as root, and check the owner and the mode of its files")
                .caused_by(e)
        }));
    }
    failures
}

struct Walk<'a> {
    group: Option<u32>,
    state: &'a Path,
    /// The first error; what comes after it is corrected all the same.
    error: Option<io::Error>,
}

impl Walk<'_> {
    fn folder(&mut self, path: &Path) {
        let entries = path.metadata().and_then(|is| {
            self.correct(path, &is);
            std::fs::read_dir(path)
        });
        let entries = match entries {
            Ok(_) if path.parent() == Some(self.state) && path.ends_with(SCRIPTS) => return,
            Ok(entries) => entries,
            Err(e) => return self.note(e),
        };
        for entry in entries.flatten() {
            let path = entry.path();
            match entry.metadata() {
                Ok(is) if is.is_dir() => self.folder(&path),
                Ok(is) if is.is_file() => self.correct(&path, &is),
                // A link or a pipe has nothing to read.
                _ => {}
            }
        }
    }

    /// Gives a file or folder its mode and its group, if it has others.
    fn correct(&mut self, path: &Path, is: &Metadata) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_secret = path.parent() == Some(self.state) && !may_leave(disclosed::STATE, &name);
        let group = self.group.filter(|_| !is_secret);
        let own = is.mode() & 0o700;
        let mode = match (group, is.is_dir()) {
            (None, true) => 0o700,
            (None, false) => own,
            (Some(_), true) => 0o700 | SHARED,
            (Some(_), false) => own | (own >> 3 & 0o050),
        };
        let moves = group.filter(|group| is.gid() != *group);
        if moves.is_some() || is.mode() & 0o7777 != mode {
            match give(path, is.is_dir(), mode, moves) {
                // It isn't ours.
                Err(e) if refusal(&e).is_some() => {}
                given => drop(given.map_err(|e| self.note(e))),
            }
        }
    }

    /// That a file is gone isn't noted: others write there meanwhile.
    fn note(&mut self, e: io::Error) {
        if e.kind() != io::ErrorKind::NotFound {
            self.error.get_or_insert(e);
        }
    }
}

/// Gives the file or folder `mode`, and to the group `to`. It is opened first, so that no file that takes its
/// place meanwhile gets them.
fn give(path: &Path, is_folder: bool, mode: u32, to: Option<u32>) -> io::Result<()> {
    let file: File = match is_folder {
        false => provost_fs::open_to_read(path)?,
        true => {
            let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
            rustix::fs::open(path, flags, Mode::empty())?.into()
        }
    };
    if let Some(group) = to {
        rustix::fs::fchown(&file, None, Some(Gid::from_raw(group)))?;
    }
    // After the group, whose change takes the set-group-ID bit.
    file.set_permissions(Permissions::from_mode(mode))
}
