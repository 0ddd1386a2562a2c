//! The new root of an ordinary user, who has rights only in a user namespace of his own. An overlay can
//! be put over a folder in which nothing is mounted. What belongs to others can't be changed in it, so
//! above each lie empty folders of the same names, which are his, and copies of what is in `/etc`.

use std::ffi::CString;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, mount_bind_recursive};

use super::error::{SandboxError, failed};
use super::mounts::{self, Mount};
use super::overlay::{Built, Layer};
use super::places::{STAGE, inside, make_folder};
use super::private_folders::PRIVATE;

/// Whose files are copied, so that they can be written to.
const COPIED: &str = "/etc";
/// The biggest file that is copied, in bytes.
const MOST_OF_FILE: u64 = 1 << 20;
/// The most folders and files that are made so.
const MOST: usize = 20_000;
/// How deep folders are made below one of the root folder.
const DEPTH: usize = 3;

/// Mounts all folders of this machine below `root`. `host` has what is mounted on it.
pub(super) fn build(host: &[Mount], root: &Path) -> Result<Built, SandboxError> {
    let mut builder = Builder {
        host,
        root,
        room: MOST,
        built: Built { layers: Vec::new(), read_only: Vec::new() },
    };
    builder.probe().map_err(|e| match Errno::from_io_error(&e) {
        Some(Errno::NODEV) => SandboxError::NoOverlay,
        _ => SandboxError::NotRoot,
    })?;
    // Only what is mounted can become the root.
    mount_bind(root, root).map_err(failed("mounting", "the new root"))?;
    for folder in PRIVATE {
        make_folder(&inside(root, Path::new(folder)), 0o755).map_err(failed("making", folder))?;
    }
    for entry in fs::read_dir("/").map_err(failed("reading", "/"))?.flatten() {
        let point = entry.path();
        if !PRIVATE.iter().any(|private| point == Path::new(private)) {
            builder.add(&point).map_err(failed("mounting", point.display()))?;
        }
    }
    Ok(builder.built)
}

struct Builder<'a> {
    host: &'a [Mount],
    root: &'a Path,
    /// How many folders and files more may be made above those of others.
    room: usize,
    built: Built,
}

impl Builder<'_> {
    /// Finds out whether the kernel lets users mount overlays.
    fn probe(&mut self) -> io::Result<()> {
        let place = Path::new(STAGE).join("probe");
        make_folder(&place, 0o755)?;
        self.overlay(&place.clone(), &place)?;
        self.built.layers.clear();
        Ok(rustix::mount::unmount(place, UnmountFlags::DETACH)?)
    }

    /// Mounts what is at `point`; of a folder in which something is mounted, each entry by itself.
    fn add(&mut self, point: &Path) -> io::Result<()> {
        let (place, kind) = (inside(self.root, point), fs::symlink_metadata(point)?.file_type());
        if kind.is_symlink() {
            return symlink(fs::read_link(point)?, place);
        }
        if kind.is_file() {
            fs::write(&place, "")?;
            return mounts::bind_file(&mounts::open(point)?, &place);
        }
        if !kind.is_dir() {
            return Ok(());
        }
        make_folder(&place, 0o755)?;
        let is_inside = |mount: &Mount| mount.point != point && mount.point.starts_with(point);
        if !self.host.iter().any(is_inside) {
            if self.overlay(point, &place).is_err() {
                // Not even what is there: the user could change what is his.
                self.built.read_only.push(point.to_owned());
            }
            return Ok(());
        }
        for entry in fs::read_dir(point).into_iter().flatten().flatten() {
            if self.add(&entry.path()).is_err() {
                self.built.read_only.push(entry.path());
            }
        }
        Ok(())
    }

    fn overlay(&mut self, point: &Path, place: &Path) -> io::Result<()> {
        let own = Path::new(STAGE).join(format!("layer{}", self.built.layers.len()));
        let (upper, work, copy) = (own.join("upper"), own.join("work"), own.join("copy"));
        [&upper, &work, &copy].into_iter().try_for_each(|folder| make_folder(folder, 0o755))?;
        let lower = mounts::open(point)?;
        // The root of the overlay is the upper folder.
        let _ = set_mode(&upper, &fs::metadata(point)?);
        shadow(point, &copy, &mut self.room);
        let options = format!(
            "lowerdir={}:{},upperdir={},workdir={},userxattr",
            copy.display(),
            mounts::name(&lower).display(),
            upper.display(),
            work.display()
        );
        let options = CString::new(options).unwrap_or_default();
        let options = Some(options.as_c_str());
        if let Err(e) = mount("overlay", place, "overlay", MountFlags::NODEV, options) {
            fs::remove_dir_all(own)?;
            return Err(e.into());
        }
        self.built.layers.push(Layer { point: point.to_owned(), lower, upper, is_root: false });
        Ok(())
    }
}

/// Makes in `copy` the folders that are below `point`, and copies of what can be written to.
fn shadow(point: &Path, copy: &Path, room: &mut usize) {
    let _ = fs::metadata(point).and_then(|metadata| set_mode(copy, &metadata));
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(point.join(&folder)).into_iter().flatten().flatten() {
            let (Ok(metadata), path) = (entry.metadata(), folder.join(entry.file_name())) else {
                continue;
            };
            let to = copy.join(&path);
            let is_small = metadata.is_file() && metadata.len() <= MOST_OF_FILE;
            // What can't be read or made stays as it is below.
            let is_copied = point.starts_with(COPIED);
            let depth = path.components().count();
            let made = if metadata.is_dir() && *room > 0 && (is_copied || depth <= DEPTH) {
                folders.push(path);
                fs::create_dir(&to).and_then(|()| set_mode(&to, &metadata))
            } else if is_small && *room > 0 && is_copied {
                fs::copy(entry.path(), &to).map(drop)
            } else {
                continue;
            };
            *room -= usize::from(made.is_ok());
        }
    }
}

fn set_mode(path: &Path, like: &fs::Metadata) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(like.permissions().mode() & 0o7777))
}

/// Mounts `/sys`, in which nothing can be changed that isn't the user's own: his control groups are hidden.
pub(super) fn sys(sys: impl std::os::fd::AsFd, place: &Path) -> io::Result<()> {
    mount_bind_recursive(mounts::name(sys), place)?;
    let groups = place.join("fs/cgroup");
    if groups.is_dir() {
        let flags = MountFlags::NODEV | MountFlags::NOSUID | MountFlags::RDONLY;
        mount("tmpfs", groups, "tmpfs", flags, None)?;
    }
    Ok(())
}

/// Mounts a device, whose mode and owner only root can change.
pub(super) fn device(device: impl std::os::fd::AsFd, place: &Path) -> io::Result<()> {
    Ok(mount_bind(mounts::name(device), place)?)
}
