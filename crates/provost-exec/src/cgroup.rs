//! A cgroup v2 leaf for a keeper and its scripts, where it can be had: the kernel then kills the
//! whole tree at once, however quickly it forks.
//!
//! The keeper itself lives in the leaf, so that what it starts is in there from the first instant
//! and at no cost. To kill, it steps out, has the kernel kill the rest, and comes back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::process::Pid;

/// The most processes at once, where the kernel can be told so; no provisioning script needs
/// more, and a fork bomb stays small.
const MOST_PROCESSES: &str = "8192";

/// How the name of a leaf begins; the keeper's process id follows.
const PREFIX: &str = "provost-";

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
        if std::env::var_os("PROVOST_NO_CGROUP").is_some() {
            return None;
        }
        let outside = own_group()?;
        // What earlier keepers had to leave because a daemon lived in it, and is empty now.
        for entry in fs::read_dir(&outside).ok()?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(PREFIX) {
                let _ = fs::remove_dir(entry.path());
            }
        }
        Self::below(&outside)
    }

    /// Makes another leaf beside this one and moves this process there.
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
        let path = leaf(outside, rustix::process::getpid());
        match fs::create_dir(&path) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return None,
            _ => {}
        }
        let leaf = Self { outside: outside.to_owned(), path };
        if !leaf.path.join("cgroup.kill").exists() || join(&leaf.path).is_err() {
            leaf.remove();
            return None;
        }
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
