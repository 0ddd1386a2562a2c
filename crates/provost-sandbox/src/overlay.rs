//! The new root: an overlay over each file system that can be written to, with what changes in one
//! place, which is bounded.

use std::ffi::CString;
use std::fs::{self, Permissions};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Gid, Uid};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};

use super::error::{SandboxError, failed, not_mounted};
use super::mounts::{self, Mount};
use super::places::{STAGE, inside, make_folder};
use super::private_folders::PRIVATE;
use super::scratch::mount_image;

/// File systems of the kernel, which hold no files.
const OF_KERNEL: &[&str] = &[
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fusectl",
    "hugetlbfs",
    "mqueue",
    "nsfs",
    "proc",
    "pstore",
    "rpc_pipefs",
    "securityfs",
    "selinuxfs",
    "sysfs",
    "tracefs",
];
/// A file that is a mount of its own, such as a container's /etc/hosts, is copied up to this size, in
/// bytes.
const MOST_OF_FILE: u64 = 1 << 20;
/// Options beside the layers, the newest kernels' first: what is renamed or changed is whole in the upper
/// layer.
const OPTIONS: &[&str] = &[
    ",redirect_dir=off,index=off,metacopy=off",
    ",redirect_dir=off,index=off",
    ",redirect_dir=off",
    "",
];

/// The same of an ordinary user.
const OF_USERS: &[&str] = &[",userxattr"];

/// An overlay.
pub(super) struct Layer {
    /// Where it is mounted.
    pub(super) point: PathBuf,
    /// What is below.
    pub(super) lower: OwnedFd,
    /// What has changed.
    pub(super) upper: PathBuf,
    /// Whether all of it has the owner that it has on this machine.
    pub(super) is_root: bool,
}

/// What was mounted.
pub(super) struct Built {
    pub(super) layers: Vec<Layer>,
    /// What no overlay could be put over.
    pub(super) read_only: Vec<PathBuf>,
}

/// All of the host that the new root is made of.
pub(super) fn open_host() -> Result<Vec<Mount>, SandboxError> {
    let mut all = mounts::all().map_err(failed("reading", "/proc/self/mountinfo"))?;
    all.retain(|mount| {
        !OF_KERNEL.contains(&mount.kind.as_str())
            && !PRIVATE.iter().any(|private| mount.point.starts_with(private))
    });
    match all.first() {
        Some(root) if root.point == Path::new("/") => Ok(all),
        _ => Err(SandboxError::Init("this process is in a chroot, whose / is no mount".to_owned())),
    }
}

/// The folders that are to be there although they are in a private one.
pub(super) fn open_shown(shown: &[PathBuf]) -> Result<Vec<(PathBuf, OwnedFd)>, SandboxError> {
    let is_hidden = |path: &&PathBuf| PRIVATE.iter().any(|private| path.starts_with(private));
    let open = |path: &PathBuf| {
        let at = mounts::open(path).map_err(failed("opening", path.display()))?;
        Ok((path.clone(), at))
    };
    shown.iter().filter(is_hidden).map(open).collect()
}

/// Mounts what has room for what changes: a file in `scratch`, or half of the `memory` that processes have together with
/// it.
pub(super) fn stage(scratch: Option<&Path>, memory: Option<u64>) -> Result<(), SandboxError> {
    if let Some(scratch) = scratch {
        mount_image(scratch, Path::new(STAGE))?;
    } else {
        let size = memory.map_or("25%".to_owned(), |bytes| (bytes / 2).to_string());
        let options = CString::new(format!("mode=0700,size={size}")).unwrap_or_default();
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("tmpfs", STAGE, "tmpfs", flags, Some(options.as_c_str()))
            .map_err(failed("mounting", "memory for what changes"))?;
    }
    make_folder(&Path::new(STAGE).join("root"), 0o755).map_err(failed("making", "the new root"))
}

/// Mounts them below `root`.
pub(super) fn build(host: &[Mount], root: &Path) -> Result<Built, SandboxError> {
    let mut built = Built { layers: Vec::new(), read_only: Vec::new() };
    for mount in host {
        let target = inside(root, &mount.point);
        let mode = rustix::fs::fstat(&mount.at).map(|stat| stat.st_mode).unwrap_or_default();
        let done = match FileType::from_raw_mode(mode) {
            FileType::Directory if mount.flags.contains(MountFlags::RDONLY) => {
                mounts::bind_read_only(&mount.at, &target)
            }
            FileType::Directory => {
                add(&mount.point, &mount.at, mount.flags, &target, &mut built, true)
            }
            FileType::RegularFile => copy(&mount.at, &target).or_else(|_| {
                built.read_only.push(mount.point.clone());
                mounts::bind_read_only(&mount.at, &target)
            }),
            _ => Ok(()),
        };
        done.map_err(not_mounted(&mount.point))?;
    }
    Ok(built)
}

/// Mounts a folder that is hidden otherwise.
pub(super) fn add_shown(
    (path, at): (PathBuf, OwnedFd),
    root: &Path,
    built: &mut Built,
    is_root: bool,
) -> Result<(), SandboxError> {
    let target = inside(root, &path);
    let done = fs::create_dir_all(&target)
        .and_then(|()| add(&path, &at, MountFlags::empty(), &target, built, is_root));
    done.map_err(not_mounted(&path))
}

/// An overlay where that can be had, else what is there, read-only.
fn add(
    point: &Path,
    lower: &OwnedFd,
    flags: MountFlags,
    target: &Path,
    built: &mut Built,
    is_root: bool,
) -> std::io::Result<()> {
    let own = Path::new(STAGE).join(built.layers.len().to_string());
    let (upper, work) = (own.join("upper"), own.join("work"));
    make_folder(&work, 0o700)?;
    make_folder(&upper, 0o755)?;
    // The root of the overlay is the upper folder.
    let stat = rustix::fs::fstat(lower)?;
    let (uid, gid) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
    if is_root {
        rustix::fs::chown(&upper, Some(uid), Some(gid))?;
    }
    fs::set_permissions(&upper, Permissions::from_mode(stat.st_mode & 0o7777))?;
    let layers = format!(
        "lowerdir={},upperdir={},workdir={}",
        mounts::name(lower).display(),
        upper.display(),
        work.display()
    );
    let flags = flags | MountFlags::NODEV;
    let all = if is_root { OPTIONS } else { OF_USERS };
    for options in all {
        let options = CString::new(format!("{layers}{options}")).unwrap_or_default();
        match mount("overlay", target, "overlay", flags, Some(options.as_c_str())) {
            Ok(()) => {
                let lower = lower.try_clone()?;
                built.layers.push(Layer { point: point.to_owned(), lower, upper, is_root });
                return Ok(());
            }
            Err(Errno::NODEV) => return Err(Errno::NODEV.into()),
            Err(_) => {}
        }
    }
    fs::remove_dir_all(own)?;
    built.read_only.push(point.to_owned());
    mounts::bind_read_only(lower, target)
}

/// Puts a file's content where it was mounted.
fn copy(file: &OwnedFd, target: &Path) -> std::io::Result<()> {
    let file = mounts::read(file)?;
    let metadata = file.metadata()?;
    if metadata.len() > MOST_OF_FILE {
        return Err(std::io::ErrorKind::FileTooLarge.into());
    }
    let mut text = Vec::new();
    file.take(MOST_OF_FILE).read_to_end(&mut text)?;
    fs::write(target, text)?;
    let (uid, gid) = (Uid::from_raw(metadata.uid()), Gid::from_raw(metadata.gid()));
    rustix::fs::chown(target, Some(uid), Some(gid))?;
    fs::set_permissions(target, Permissions::from_mode(metadata.mode() & 0o7777))
}
