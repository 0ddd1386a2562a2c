//! Where the pieces of a management node are.

use std::path::{Path, PathBuf};

/// Where everything is.
pub(super) struct Places {
    pub(super) provostd: PathBuf,
    pub(super) provostctl: PathBuf,
    pub(super) key: PathBuf,
    pub(super) site: PathBuf,
    pub(super) scripts: PathBuf,
    pub(super) data: PathBuf,
    pub(super) www: PathBuf,
}

/// Whether the file is a secret key, not a public one.
pub(super) fn is_secret(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "key")
}
