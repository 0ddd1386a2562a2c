//! A limit on the number of processes: root is exempt from `ulimit -u`, also in a user namespace.

use std::fs::{self, File};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::process::Pid;

/// The most processes at once. A fork bomb stays small beside what a machine has.
const MOST_PROCESSES: &str = "4096";
/// How often removing it is tried: the kernel takes a moment after the last process.
const TRIES: usize = 50;

/// A group of its own, removed at the end.
pub(super) struct Cgroup {
    parent: OwnedFd,
    name: String,
    processes: File,
}

impl Cgroup {
    /// Makes one, where this process may.
    pub(super) fn new() -> Option<Self> {
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        groups.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
            if controllers.is_empty() {
                Self::of_v2(path)
            } else if controllers.split(',').any(|controller| controller == "pids") {
                Self::below(&Path::new("/sys/fs/cgroup/pids").join(path))
            } else {
                None
            }
        })
    }

    /// Below the nearest group that hands the controller on.
    fn of_v2(path: &str) -> Option<Self> {
        let own = Path::new("/sys/fs/cgroup").join(path);
        let hands_on = |group: &&Path| {
            let controllers = fs::read_to_string(group.join("cgroup.subtree_control"));
            controllers.is_ok_and(|all| all.split_whitespace().any(|one| one == "pids"))
        };
        own.ancestors()
            .take_while(|group| group.starts_with("/sys/fs/cgroup"))
            .find(hands_on)
            .and_then(Self::below)
    }

    fn below(parent: &Path) -> Option<Self> {
        let name = format!("provost-dry-run-{}", std::process::id());
        let own: PathBuf = parent.join(&name);
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(parent, flags, Mode::empty()).ok()?;
        fs::create_dir(&own).ok()?;
        let open = || {
            fs::write(own.join("pids.max"), MOST_PROCESSES)?;
            File::options().write(true).open(own.join("cgroup.procs"))
        };
        match open() {
            Ok(processes) => Some(Self { parent: folder, name, processes }),
            Err(_) => {
                // Nothing is in it.
                let _ = fs::remove_dir(own);
                None
            }
        }
    }

    /// Moves a process into it, with all that it starts from now on.
    pub(super) fn take(&self, process: Pid) -> std::io::Result<()> {
        (&self.processes).write_all(process.as_raw_nonzero().to_string().as_bytes())
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        for _ in 0..TRIES {
            if rustix::fs::unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR)
                != Err(rustix::io::Errno::BUSY)
            {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}
