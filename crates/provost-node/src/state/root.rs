//! What this root is: made by a kickstart, or not, and whether it has booted since.

use crate::state::atomic;
use std::io;
use std::path::{Path, PathBuf};

use provost_record::Service;

use crate::runner::Wanted;
use crate::settings::Paths;

/// How far an installed root is. A root without this file, as of a diskless node, was never
/// installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// Diskless, stateless, or installed by others.
    Other,
    /// A kickstart ended well; it has not booted yet.
    Installed,
    /// It has booted, and its postbootscripts ended well.
    Booted,
}

impl Root {
    /// A file that can't be read is there all the same: a kickstart ended well, and its scripts
    /// must not run on what it installed.
    pub fn read(state: &Path) -> Self {
        match std::fs::read(file(state)) {
            Ok(text) if text.trim_ascii() == b"booted" => Self::Booted,
            Err(e) if e.kind() == io::ErrorKind::NotFound => Self::Other,
            Ok(_) | Err(_) => Self::Installed,
        }
    }

    /// What it is where the caller knows more than the disk: a root that others installed has no
    /// file.
    pub fn meant(self, wanted: &Wanted) -> Self {
        match (self, wanted) {
            (Self::Other, Wanted::FirstBoot) => Self::Installed,
            (Self::Other, Wanted::Reboot) => Self::Booted,
            (root, _) => root,
        }
    }

    /// A kickstart ended well.
    pub fn installed(state: &Path) -> io::Result<()> {
        atomic::write(&file(state), b"installed\n")
    }

    /// A boot ended well.
    pub fn booted(self, state: &Path) -> io::Result<()> {
        match self {
            Self::Installed => atomic::write(&file(state), b"booted\n"),
            Self::Booted | Self::Other => Ok(()),
        }
    }
}

/// Whether a kickstart began in this root, and none has ended well.
pub fn is_unfinished(paths: &Paths) -> bool {
    Root::read(&paths.state) == Root::Other && paths.journal(Service::Kickstart).exists()
}

fn file(state: &Path) -> PathBuf {
    state.join("root")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_installed_stays_so_when_its_file_is_damaged() {
        let state = tempfile::tempdir().unwrap();
        assert_eq!(Root::read(state.path()), Root::Other);
        Root::installed(state.path()).unwrap();
        assert_eq!(Root::read(state.path()), Root::Installed);
        Root::Installed.booted(state.path()).unwrap();
        assert_eq!(Root::read(state.path()), Root::Booted);
        for damaged in ["", "boo", "\0\0\0"] {
            std::fs::write(file(state.path()), damaged).unwrap();
            assert_eq!(Root::read(state.path()), Root::Installed, "{damaged:?}");
        }
    }
}
