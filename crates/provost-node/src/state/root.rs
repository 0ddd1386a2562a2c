//! What this root is: made by a kickstart, or not, and whether it has booted since.

use std::io;
use std::path::{Path, PathBuf};

use provost_record::Service;

use crate::settings::Paths;
use provost_fs::atomic;

/// How far the installation of this root is: STATE/root. A root without this file, such as that of
/// a diskless node, was never installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// Diskless, stateless, or installed by others.
    Other,
    /// A kickstart succeeded; it has not booted yet.
    Installed,
    /// It has booted, and its postbootscripts succeeded.
    Booted,
}

impl Root {
    /// Reads it. A file that can't be read counts as that of an installed root: a kickstart ended
    /// well, and its scripts must not run again.
    pub fn read(state: &Path) -> Self {
        match atomic::read(&file(state)) {
            Ok(text) if text.trim_ascii() == b"booted" => Self::Booted,
            Err(e) if e.kind() == io::ErrorKind::NotFound => Self::Other,
            Ok(_) | Err(_) => Self::Installed,
        }
    }

    /// This one, or `other` where the root has no file: others may have installed it.
    pub fn or(self, other: Self) -> Self {
        if self == Self::Other { other } else { self }
    }

    /// Notes that a kickstart succeeded.
    pub fn installed(state: &Path) -> io::Result<()> {
        atomic::write(&file(state), b"installed\n")
    }

    /// Notes that a boot succeeded.
    pub fn booted(self, state: &Path) -> io::Result<()> {
        match self {
            Self::Installed => atomic::write(&file(state), b"booted\n"),
            Self::Booted | Self::Other => Ok(()),
        }
    }
}

/// Whether a kickstart began in this root, and none has succeeded.
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
