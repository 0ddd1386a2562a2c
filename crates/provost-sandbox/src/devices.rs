//! The few devices that a script may have.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::mount::{MountFlags, mount};

use super::error::{SandboxError, failed};
use super::mounts;
use super::places::make_folder;
use super::private_folders::private;
use super::unprivileged;

/// They hold nothing, and everybody may use them.
const DEVICES: &[&str] = &["full", "null", "random", "tty", "urandom", "zero"];

const LINKS: &[(&str, &str)] = &[
    ("fd", "/proc/self/fd"),
    ("ptmx", "pts/ptmx"),
    ("stderr", "/proc/self/fd/2"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
];

/// Those that this machine has, by name.
pub(super) fn open() -> Vec<(&'static str, OwnedFd)> {
    let device = |name: &&'static str| {
        let device = mounts::open(&Path::new("/dev").join(name)).ok()?;
        let kind = rustix::fs::fstat(&device).ok()?.st_mode;
        let is_device = rustix::fs::FileType::from_raw_mode(kind).is_char_device();
        is_device.then_some((*name, device))
    };
    DEVICES.iter().filter_map(device).collect()
}

/// Makes /dev of them.
pub(super) fn mount_all(
    root: &Path,
    devices: &[(&str, OwnedFd)],
    is_root: bool,
) -> Result<(), SandboxError> {
    let dev = private(root, "/dev", 0o755)?;
    for (name, device) in devices {
        let place = dev.join(name);
        let bind = || match is_root {
            true => mounts::bind_file(device, &place),
            false => unprivileged::device(device, &place),
        };
        let put = || fs::write(&place, "").and_then(|()| bind());
        put().map_err(failed("mounting", place.display()))?;
    }
    for (name, to) in LINKS {
        symlink(to, dev.join(name)).map_err(failed("linking", to))?;
    }
    let terminals = dev.join("pts");
    make_folder(&terminals, 0o755).map_err(failed("making", terminals.display()))?;
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    // An ordinary user has no group of terminals.
    let options = match is_root {
        true => c"newinstance,ptmxmode=0666,mode=0620,gid=5",
        false => c"newinstance,ptmxmode=0666,mode=0620",
    };
    mount("devpts", &terminals, "devpts", flags, Some(options))
        .map_err(failed("mounting", "/dev/pts"))?;
    make_folder(&dev.join("shm"), 0o755).map_err(failed("making", "/dev/shm"))?;
    private(root, "/dev/shm", 0o1777).map(|_| ())
}
