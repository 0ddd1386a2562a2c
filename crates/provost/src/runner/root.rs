//! What this root is: made by a kickstart, or not, and whether it has booted since.

use std::io;
use std::path::{Path, PathBuf};

/// How far an installed root is. A root without this file, as of a diskless node, was never
/// installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// Diskless, stateless, or installed by others.
    Other,
    /// A kickstart ended well; it has not booted yet.
    Installed,
    /// It has booted, and its postbootscripts ended well.
    Booted,
}

impl Root {
    pub(super) fn read(state: &Path) -> Self {
        match std::fs::read_to_string(file(state)).as_deref().map(str::trim) {
            Ok("installed") => Self::Installed,
            Ok("booted") => Self::Booted,
            _ => Self::Other,
        }
    }

    /// A kickstart ended well.
    pub(super) fn installed(state: &Path) -> io::Result<()> {
        super::write_durably(&file(state), b"installed\n")
    }

    /// A boot ended well.
    pub(super) fn booted(self, state: &Path) -> io::Result<()> {
        match self {
            Self::Installed => super::write_durably(&file(state), b"booted\n"),
            Self::Booted | Self::Other => Ok(()),
        }
    }
}

fn file(state: &Path) -> PathBuf {
    state.join("root")
}
