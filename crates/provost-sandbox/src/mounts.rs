//! What is mounted on this machine, and the few ways in which something is mounted here.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, StatVfsMountFlags};
use rustix::mount::{MountFlags, mount_bind, mount_remount};

/// A mount of this machine, which nothing hides.
pub(super) struct Mount {
    pub(super) point: PathBuf,
    pub(super) kind: String,
    /// What its mount allows less than the file system does.
    pub(super) flags: MountFlags,
    /// Its own root, whatever is mounted over it later.
    pub(super) at: OwnedFd,
}

/// A path without what it stands for being read or changed; a link at its end isn't followed.
pub(super) fn open(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// A name of an open file which mount(2) follows, whatever characters its path has.
pub(super) fn name(fd: impl AsFd) -> PathBuf {
    format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd()).into()
}

/// All that are visible, each after those in which it is.
pub(super) fn all() -> io::Result<Vec<Mount>> {
    let text = fs::read_to_string("/proc/self/mountinfo")?;
    let mut mounts: Vec<Mount> = text.lines().filter_map(visible).collect();
    mounts.sort_by_cached_key(|mount| mount.point.components().count());
    Ok(mounts)
}

/// Where something is mounted, hidden or not, by what is mounted at `proc`.
pub(super) fn points(proc: &Path) -> io::Result<Vec<PathBuf>> {
    let text = fs::read_to_string(proc.join("self/mountinfo"))?;
    let point = |line: &str| Some(path(line.split(' ').nth(4)?));
    Ok(text.lines().filter_map(point).collect())
}

fn path(escaped: &str) -> PathBuf {
    PathBuf::from(std::ffi::OsString::from_vec(unescape(escaped)))
}

/// A line: `ID PARENT MAJOR:MINOR ROOT POINT OPTIONS TAGS… - KIND SOURCE OPTIONS`.
fn visible(line: &str) -> Option<Mount> {
    let (own, of_kind) = line.split_once(" - ")?;
    let own: Vec<&str> = own.split(' ').collect();
    let [id, _, _, _, point, options, ..] = own[..] else { return None };
    let mut of_kind = of_kind.split(' ');
    let (kind, all) = (of_kind.next()?, of_kind.nth(1).unwrap_or_default());
    let point = path(point);
    let at = open(&point).ok()?;
    // Another one may be mounted over it, or over a folder above it.
    if mount_id(&at).as_deref() != Some(id) {
        return None;
    }
    let has = |option: &str| options.split(',').any(|one| one == option);
    let mut flags = MountFlags::empty();
    for (option, flag) in [("nosuid", MountFlags::NOSUID), ("noexec", MountFlags::NOEXEC)] {
        flags.set(flag, has(option));
    }
    flags.set(MountFlags::RDONLY, has("ro") || all.split(',').any(|one| one == "ro"));
    Some(Mount { point, kind: kind.to_owned(), flags, at })
}

fn mount_id(fd: &OwnedFd) -> Option<String> {
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{}", fd.as_raw_fd())).ok()?;
    let id = info.lines().find_map(|line| line.strip_prefix("mnt_id:"))?;
    Some(id.trim().to_owned())
}

/// Blanks, tabs, newlines and backslashes are written in octal.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        let code = others.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let code =
            code.filter(|_| *first == b'\\').and_then(|code| u8::from_str_radix(code, 8).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &others[3..] } else { others };
    }
    bytes
}

/// Mounts what is open at `target`, where nothing of it can be changed and no device be opened.
pub(super) fn bind_read_only(source: &OwnedFd, target: &Path) -> io::Result<()> {
    mount_bind(name(source), target)?;
    let flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NODEV | MountFlags::NOSUID;
    Ok(mount_remount(target, flags, "")?)
}

/// Mounts a program or a device at `target`, whose mode and content nobody can change; a device can be
/// written to.
pub(super) fn bind_file(source: &OwnedFd, target: &Path) -> io::Result<()> {
    mount_bind(name(source), target)?;
    let mut flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID;
    // An ordinary user can't take away what its mount has.
    let has = rustix::fs::fstatvfs(source)?.f_flag;
    flags.set(MountFlags::NODEV, has.contains(StatVfsMountFlags::NODEV));
    flags.set(MountFlags::NOEXEC, has.contains(StatVfsMountFlags::NOEXEC));
    Ok(mount_remount(target, flags, "")?)
}

/// Mounts a folder of the stage at `target`.
pub(super) fn bind_folder(source: &Path, target: &Path) -> io::Result<()> {
    mount_bind(source, target)?;
    let flags = MountFlags::BIND | MountFlags::NODEV | MountFlags::NOSUID;
    Ok(mount_remount(target, flags, "")?)
}

/// What a regular file holds that is open as a path only.
pub(super) fn read(file: &OwnedFd) -> io::Result<File> {
    File::open(name(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_point_may_have_any_name() {
        assert_eq!(unescape(r"/mnt/a\040b\134c\011"), b"/mnt/a b\\c\t");
        assert_eq!(unescape(r"/mnt/a\04"), b"/mnt/a\\04");
    }

    #[test]
    fn the_root_comes_first_and_nothing_twice() {
        let mounts = all().unwrap();
        let points: Vec<_> = mounts.iter().map(|mount| &mount.point).collect();
        assert_eq!(points[0], Path::new("/"));
        let mut once = points.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), points.len());
    }
}
