//! Why there can be no sandbox.

use std::io;

use thiserror::Error;

/// Why there can be no sandbox.
#[derive(Debug, Error)]
pub enum SandboxError {
    /// The kernel lets ordinary users make no user namespaces, or mount no overlays in them: Linux 5.11 is
    /// the first that does.
    #[error("making a sandbox: only root can on this machine")]
    NotRoot,
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
}

impl SandboxError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Scratch(_) => {
                "name a folder with --scratch on a disk with room, and install e2fsprogs and mount"
            }
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
