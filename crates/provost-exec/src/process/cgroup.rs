//! A cgroup v2 leaf for a keeper and its scripts, where it can be had: the kernel then kills the
//! whole tree at once, however quickly it forks.
//!
//! The keeper itself lives in the leaf, so that what it starts is in there from the first instant
//! and at no cost. To kill, it steps out, has the kernel kill the rest, and comes back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::XattrFlags;
use rustix::process::Pid;

use super::status;

/// The most processes at once, where the kernel can be told so; no provisioning script needs
/// more, and a fork bomb stays small.
const MOST_PROCESSES: &str = "8192";

/// How the name of a leaf begins; the keeper's process id follows.
const PREFIX: &str = "provost-";
/// How the name of a group begins that only shows whether there can be one.
const PROBE: &str = "check-provost-";
/// The variable that says that no cgroup is to be used.
const OFF: &str = "PROVOST_NO_CGROUP";
/// How many leaves are tried: daemons may live in those of keepers that had the same process id.
const MOST_NAMES: usize = 9;

/// The attribute of a leaf whose processes may not outlive the keeper.
const MARK: &str = "user.provost";

/// Why no cgroup holds a script's processes.
#[derive(Debug, thiserror::Error)]
pub enum NoCgroup {
    /// The variable `PROVOST_NO_CGROUP` is set.
    #[error("{OFF} is set")]
    Off,
    /// There is no cgroup v2.
    #[error("no cgroup v2 is mounted")]
    NotMounted,
    /// A group can't be made.
    #[error("making a group in {}: {source}", path.display())]
    Refused {
        /// In which one.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It has no `cgroup.kill`.
    #[error("it can't kill before Linux 5.14")]
    OldKernel,
}

/// Says why no cgroup can hold a script's processes here, if so. It makes one, and removes it.
///
/// # Errors
///
/// Why not.
pub fn can_use_cgroup() -> Result<(), NoCgroup> {
    if std::env::var_os(OFF).is_some() {
        return Err(NoCgroup::Off);
    }
    let outside = own_group().ok_or(NoCgroup::NotMounted)?;
    let probe = outside.join(format!("{PROBE}{}", std::process::id()));
    let refused = |source| NoCgroup::Refused { path: outside.clone(), source };
    fs::create_dir(&probe).map_err(refused)?;
    let can_kill = probe.join("cgroup.kill").exists();
    let _ = fs::remove_dir(&probe);
    if can_kill { Ok(()) } else { Err(NoCgroup::OldKernel) }
}

/// The keeper's own leaf.
pub(crate) struct Leaf {
    /// The group in which the runner is.
    outside: PathBuf,
    path: PathBuf,
}

impl Leaf {
    /// Makes a leaf and moves this process into it. None where there is no cgroup v2 that this
    /// user may write to, or one that can't kill (Linux before 5.14).
    pub(crate) fn enter() -> Option<Self> {
        if std::env::var_os(OFF).is_some() {
            return None;
        }
        let outside = own_group()?;
        for entry in fs::read_dir(&outside).ok()?.flatten() {
            if let Some(of) = entry.file_name().to_string_lossy().strip_prefix(PREFIX) {
                clear(&entry.path(), of);
            }
        }
        Self::below(&outside)
    }

    /// Makes another leaf next to this one and moves this process there.
    pub(crate) fn next(&self) -> Option<Self> {
        Self::below(&self.outside)
    }

    /// Removes the leaf of the keeper `pid`, which has gone: for itself to step out first takes the
    /// kernel ten times as long.
    pub(crate) fn remove_after(pid: Pid) {
        if let Some(outside) = own_group() {
            // A daemon that was left alone may still be in it; or there is none.
            let _ = fs::remove_dir(leaf(&outside, pid));
        }
    }

    fn below(outside: &Path) -> Option<Self> {
        let first = leaf(outside, rustix::process::getpid());
        let others = (1..MOST_NAMES).map(|n| first.with_extension(n.to_string()));
        let path = std::iter::once(first.clone()).chain(others);
        let path = path.into_iter().find(|path| fs::create_dir(path).is_ok())?;
        let leaf = Self { outside: outside.to_owned(), path };
        if !leaf.path.join("cgroup.kill").exists() || join(&leaf.path).is_err() {
            leaf.remove();
            return None;
        }
        // Where it can't be marked, only a kill of runner and keeper at once is less of one.
        let _ = rustix::fs::setxattr(&leaf.path, MARK, b"", XattrFlags::empty());
        // Only there where the group above hands the controller on.
        let _ = fs::write(leaf.path.join("pids.max"), MOST_PROCESSES);
        Some(leaf)
    }

    /// Kills all in the leaf but this process.
    pub(crate) fn kill(&self) -> io::Result<()> {
        join(&self.outside)?;
        let killed = fs::write(self.path.join("cgroup.kill"), "1");
        join(&self.path)?;
        killed
    }

    /// Removes the mark: processes in the leaf may outlive its keeper.
    pub(crate) fn unmark(&self) {
        let _ = rustix::fs::removexattr(&self.path, MARK);
    }

    /// Leaves the leaf, and removes it if nobody else is in it.
    pub(crate) fn leave(self) {
        if join(&self.outside).is_ok() {
            self.remove();
        }
    }

    fn remove(&self) {
        // A daemon that was left alone is still in it.
        let _ = fs::remove_dir(&self.path);
    }
}

/// The leaf of the keeper `pid` in the runner's group.
fn leaf(outside: &Path, pid: Pid) -> PathBuf {
    outside.join(format!("{PREFIX}{pid}"))
}

/// Removes an earlier leaf if it is empty: a daemon lived in it until now. Kills who is in it if
/// that is what is left of a step whose runner and keeper were killed at once. `of` is the name's
/// rest.
fn clear(leaf: &Path, of: &str) {
    let is_marked = || rustix::fs::getxattr(leaf, MARK, &mut [0; 0][..]).is_ok();
    if fs::remove_dir(leaf).is_ok() || !is_marked() {
        return;
    }
    let members = fs::read_to_string(leaf.join("cgroup.procs"));
    // Who is in another namespace has no number here.
    let is_keeper = |pid: &str| pid == "0" || pid.parse().is_ok_and(status::is_keeper);
    // One that kills is outside for a moment.
    let keeper = of.split('.').next();
    if members.is_ok_and(|members| !members.lines().chain(keeper).any(is_keeper)) {
        let _ = fs::write(leaf.join("cgroup.kill"), "1");
    }
}

fn join(group: &Path) -> io::Result<()> {
    fs::write(group.join("cgroup.procs"), "0")
}

/// The folder of the v2 group in which this process is.
fn own_group() -> Option<PathBuf> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mount = mounts.lines().find_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        kind.starts_with("cgroup2 ").then(|| mount.split(' ').nth(4))?
    })?;
    Some(Path::new(mount).join(group))
}
