use std::io;
use std::path::{Path, PathBuf};

use provost_bundle::{ManifestError, PublicKey};

use crate::key::KeyError;

/// Something in the input that has to be fixed before it can be published.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {what}")]
pub struct Problem {
    /// The file.
    pub file: String,
    /// What is wrong with it.
    pub what: String,
    /// What to do about it.
    pub fix: String,
}

impl Problem {
    pub(crate) fn new(
        file: impl ToString,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { file: file.to_string(), what: what.into(), fix: fix.into() }
    }

    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        self.fix.clone()
    }
}

/// Why nothing was published.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The input has problems; these are all of them.
    #[error("{} to fix; nothing was published", problems(.0.len()))]
    Refused(Vec<Problem>),
    /// The folder holds something that was not published.
    #[error("publishing to {}: {what}", path.display())]
    NotOurs {
        /// The folder.
        path: PathBuf,
        /// What is in it.
        what: String,
    },
    /// Another publish has not ended in time.
    #[error("publishing to {}: another publish has been going on for {seconds} s", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
        /// How long this one has waited for it, in seconds.
        seconds: u64,
    },
    /// A script changed between check and copy.
    #[error("publishing {}: it changed after it was checked", path.display())]
    Changed {
        /// The script.
        path: PathBuf,
    },
    /// Nothing is published to all nodes yet, which a channel could be ahead of.
    #[error("changing {}: nothing is published there yet", path.display())]
    Empty {
        /// The folder.
        path: PathBuf,
    },
    /// A file isn't what the key's owner wrote.
    #[error("checking {}: it isn't what was written with this key", path.display())]
    Unverified {
        /// The file.
        path: PathBuf,
    },
    /// The key was replaced: nodes refuse what it signs.
    #[error("publishing with key {key}: key {} has replaced it", next.id())]
    ReplacedKey {
        /// The key's id.
        key: String,
        /// The key that signs now.
        next: PublicKey,
    },
    /// The key was revoked.
    #[error("publishing with key {key}: it was revoked")]
    RevokedKey {
        /// The key's id.
        key: String,
        /// The key that signs now, where it is known.
        next: Option<PublicKey>,
    },
    /// What would be published isn't what a node accepts.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// It can't be signed.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A file couldn't be read or written.
    #[error("{doing} {}", path.display())]
    Disk {
        /// What was tried.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

impl PublishError {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Refused(_) => "fix them and publish again".to_owned(),
            Self::NotOurs { .. } => {
                "give a new or empty folder, or one that only provostctl publish writes to"
                    .to_owned()
            }
            Self::Busy { .. } => "wait until it ends, then publish again".to_owned(),
            Self::Changed { .. } => "publish again when nobody edits the scripts".to_owned(),
            Self::Empty { .. } => {
                "publish to all nodes first: provostctl publish … without --to-channel".to_owned()
            }
            Self::Unverified { path } => format!(
                "name the key that was used then; if it is the same, somebody has changed {0}: look who \
                 can write there, remove {0}, and publish from your own files",
                path.display()
            ),
            Self::ReplacedKey { next, .. } | Self::RevokedKey { next: Some(next), .. } => {
                format!("publish with key {}, which nodes know: {}", next.id(), next.line())
            }
            Self::RevokedKey { .. } => {
                "publish with the key that signs now: provostctl key show".to_owned()
            }
            Self::Manifest(e) => e.hint(),
            Self::Key(e) => e.hint(),
            Self::Disk { path, source, .. } => match source.kind() {
                io::ErrorKind::StorageFull => {
                    format!("make room on the file system of {}", path.display())
                }
                io::ErrorKind::ResourceBusy | io::ErrorKind::CrossesDevices => {
                    "publish to a folder inside the mount point, not to the mount point itself"
                        .to_owned()
                }
                _ => {
                    "check that this user may read the scripts, and write to the published folder \
                      and the one that holds it"
                        .to_owned()
                }
            },
        }
    }

    pub(crate) fn disk(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Disk { doing, path: path.to_owned(), source }
    }
}

fn problems(n: usize) -> String {
    format!("{n} problem{}", if n == 1 { "" } else { "s" })
}
