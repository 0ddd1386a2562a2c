//! Why there can be no sandbox.

use std::io;
use std::path::Path;

use rustix::io::Errno;
use thiserror::Error;

/// Why there can be no sandbox.
#[derive(Debug, Error)]
pub enum SandboxError {
    /// The kernel lets ordinary users make no user namespaces, or mount no overlays in them: Linux 5.11 is
    /// the first that does.
    #[error("making a sandbox: only root can on this machine")]
    NotRoot,
    /// Without one, nothing in it could be written to.
    #[error("making a sandbox: the kernel has no overlay file system")]
    NoOverlay,
    /// The kernel or a container refuses it.
    #[error("making a sandbox: {what}")]
    Failed {
        /// What was tried, on what.
        what: String,
        /// Why it failed.
        source: io::Error,
    },
    /// The process within couldn't go on.
    #[error("making a sandbox: {0}")]
    Init(String),
    /// A program that is needed for it.
    #[error("making a sandbox: {0}")]
    Scratch(String),
    /// An ordinary user can't mount a file.
    #[error("making a sandbox: only root can keep changes on a disk")]
    ScratchOfUser,
}

impl SandboxError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Scratch(_) => {
                "name a folder on a disk with room: --scratch DIR; it takes mkfs.ext4 (package e2fsprogs), \
                 mount and loop devices"
            }
            Self::NoOverlay => {
                "load its module: modprobe overlay; in a container, on its host; if there is none, install the \
                 package with all modules of this kernel"
            }
            Self::ScratchOfUser => "leave out --scratch: memory keeps them; or run it with sudo",
            _ => {
                "run it with sudo, on a machine or in a container that may mount; or let the script change \
                 this machine: provost try --here"
            }
        }
    }
}

/// For `map_err`: what was tried, on what.
pub(super) fn failed<E: Into<io::Error>>(
    verb: &str,
    on: impl std::fmt::Display,
) -> impl FnOnce(E) -> SandboxError {
    let what = format!("{verb} {on}");
    move |e| SandboxError::Failed { what, source: e.into() }
}

/// The same of mounting an overlay, or else something, at `point`.
pub(super) fn not_mounted(point: &Path) -> impl FnOnce(io::Error) -> SandboxError {
    move |e| match Errno::from_io_error(&e) {
        // There is no such kind of file system: mount(2). The kernel has tried to load its module.
        Some(Errno::NODEV) => SandboxError::NoOverlay,
        _ => failed("mounting", point.display())(e),
    }
}
