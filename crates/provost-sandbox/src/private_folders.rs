//! The folders that a script has for itself, empty: what is in the host's are sockets of daemons, locks
//! and files that are gone after a boot.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::{SandboxError, failed};
use super::mounts;
use super::places::{OWN_FOLDER, STAGE, inside, make_folder};

/// Those that are private. What is mounted in them isn't there.
pub(super) const PRIVATE: &[&str] = &["/dev", "/proc", "/run", "/sys", "/tmp"];

/// The name servers, where their file is in a folder that is private.
pub(super) struct Resolver(Option<(PathBuf, Vec<u8>)>);

impl Resolver {
    /// As they are on this machine.
    pub(super) fn read() -> Self {
        let file = fs::canonicalize("/etc/resolv.conf").ok();
        let file = file.filter(|file| file.starts_with("/run"));
        Self(file.and_then(|file| fs::read(&file).ok().map(|text| (file, text))))
    }
}

/// Mounts them, but for `/dev`, `/proc` and `/sys`, which others fill.
pub(super) fn mount(root: &Path, resolver: &Resolver) -> Result<(), SandboxError> {
    private(root, "/run", 0o755)?;
    private(root, "/tmp", 0o1777)?;
    for (folder, mode) in [("/run/lock", 0o1777), (OWN_FOLDER, 0o700)] {
        make_folder(&inside(root, Path::new(folder)), mode).map_err(failed("making", folder))?;
    }
    if let Some((file, text)) = &resolver.0 {
        let place = inside(root, file);
        let put = || {
            fs::create_dir_all(place.parent().unwrap_or(root))?;
            fs::write(&place, text)
        };
        put().map_err(failed("writing", file.display()))?;
    }
    Ok(())
}

/// Mounts an empty folder of the stage at `path`, which is made if it isn't there.
pub(super) fn private(root: &Path, path: &str, mode: u32) -> Result<PathBuf, SandboxError> {
    let own = Path::new(STAGE).join("private").join(path.trim_start_matches('/').replace('/', "-"));
    make_folder(&own, mode).map_err(failed("making", own.display()))?;
    let place = inside(root, Path::new(path));
    fs::create_dir_all(&place).map_err(failed("making", place.display()))?;
    mounts::bind_folder(&own, &place).map_err(failed("mounting", path))?;
    Ok(place)
}
