//! Where the sandbox is built, and what stands where in it.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where the supervisor builds, in its own mount namespace: every system has this folder, and nothing
/// that is tried or compared is in it.
pub(super) const STAGE: &str = "/sys";
/// Where the program finds itself, and what is for the supervisor alone.
pub(super) const OWN_FOLDER: &str = "/run/provost-sandbox";

/// The root of the sandbox, as the supervisor sees it.
pub(super) fn root() -> PathBuf {
    Path::new(STAGE).join("root")
}

/// Where `path` is below `root`.
pub(super) fn inside(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// Makes a folder with this mode, whatever the umask is.
pub(super) fn make_folder(path: &Path, mode: u32) -> io::Result<()> {
    fs::create_dir_all(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}
