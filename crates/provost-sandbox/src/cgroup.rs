//! Limits on processes and memory, in control groups: root is exempt from `ulimit -u`, also in a user namespace, and
//! `ulimit -v` ends programs that only reserve addresses, as Java and Go do.

use std::fs::{self, File};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};

use super::mounts;

/// The most processes at once. A fork bomb stays small beside what a machine has.
pub(super) const MOST_PROCESSES: u64 = 4096;
/// How often removing it is tried: the kernel takes a moment after the last process.
const TRIES: usize = 50;
/// Where systemd mounts them: v2 itself, or each controller of v1 in a folder of its name.
const ROOT: &str = "/sys/fs/cgroup";

/// What all processes of a sandbox may use together; none is without a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The most processes at once.
    pub processes: Option<u64>,
    /// The most memory in bytes, with the changes that are kept in it.
    pub memory: Option<u64>,
}

/// Groups of its own, removed at the end: one of v2, or one for each controller of v1.
pub(super) struct Cgroups {
    groups: Vec<Group>,
    limits: Limits,
}

struct Group {
    parent: OwnedFd,
    name: String,
    processes: File,
}

impl Cgroups {
    /// Makes those that this process may make.
    pub(super) fn new() -> Self {
        let mut all = Self { groups: Vec::new(), limits: Limits::default() };
        let memory = most_memory();
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        for line in groups.lines() {
            let mut parts = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
            let path = path.trim_start_matches('/');
            let is_one = |one: &&str| controllers.split(',').any(|controller| controller == *one);
            if controllers.is_empty() {
                all.add_v2(path, memory);
            } else if let Some(controller) = ["pids", "memory"].iter().find(|one| is_one(one)) {
                all.add(&Path::new(ROOT).join(controller).join(path), memory);
            }
        }
        all
    }

    /// Adds one below the nearest group that hands both controllers on, or else that of processes.
    fn add_v2(&mut self, path: &str, memory: Option<u64>) {
        let own = Path::new(ROOT).join(path);
        let hands_on = |group: &Path, controllers: &[&str]| {
            let all = fs::read_to_string(group.join("cgroup.subtree_control")).unwrap_or_default();
            controllers.iter().all(|one| all.split_whitespace().any(|other| other == *one))
        };
        let _ = [&["memory", "pids"][..], &["pids"]].iter().any(|controllers| {
            let mut above = own.ancestors().take_while(|group| group.starts_with(ROOT));
            let parent = above.find(|group| hands_on(group, controllers));
            parent.is_some_and(|parent| self.add(parent, memory))
        });
    }

    /// Adds one that limits something.
    fn add(&mut self, parent: &Path, memory: Option<u64>) -> bool {
        let Some((group, limits)) = Group::below(parent, memory) else { return false };
        self.groups.push(group);
        self.limits.processes = self.limits.processes.or(limits.processes);
        self.limits.memory = self.limits.memory.or(limits.memory);
        true
    }

    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    /// Those limits that were reached.
    pub(super) fn reached(&self) -> Limits {
        let has = |file, key| self.groups.iter().any(|group| group.counts(file, key));
        let is_out = || has("memory.events", "oom_kill") || has("memory.oom_control", "oom_kill");
        Limits {
            processes: self.limits.processes.filter(|_| has("pids.events", "max")),
            memory: self.limits.memory.filter(|_| is_out()),
        }
    }

    /// Moves a process into them, with all that it starts from now on.
    pub(super) fn take(&self, process: Pid) -> std::io::Result<()> {
        let pid = process.as_raw_nonzero().to_string();
        self.groups.iter().try_for_each(|group| (&group.processes).write_all(pid.as_bytes()))
    }
}

impl Group {
    fn below(parent: &Path, memory: Option<u64>) -> Option<(Self, Limits)> {
        let name = format!("provost-dry-run-{}", std::process::id());
        let own: PathBuf = parent.join(&name);
        let parent = mounts::open(parent).ok()?;
        fs::create_dir(&own).ok()?;
        // Each file is there where its controller is.
        let write = |file, value: u64| fs::write(own.join(file), value.to_string()).is_ok();
        let limits = Limits {
            processes: Some(MOST_PROCESSES).filter(|most| write("pids.max", *most)),
            memory: memory
                .filter(|most| write("memory.max", *most) || write("memory.limit_in_bytes", *most)),
        };
        // Nor is the swap space filled instead.
        let _ = write("memory.swap.max", 0) || write("memory.swappiness", 0);
        let processes = File::options().write(true).open(own.join("cgroup.procs"));
        match processes {
            Ok(processes) if limits != Limits::default() => {
                Some((Self { parent, name, processes }, limits))
            }
            _ => {
                // Nothing is in it.
                let _ = fs::remove_dir(own);
                None
            }
        }
    }

    /// Whether a file has `KEY COUNT` with more than none. The supervisor no longer sees it by its path.
    fn counts(&self, file: &str, key: &str) -> bool {
        let text = fs::read_to_string(mounts::name(&self.parent).join(&self.name).join(file));
        let text = text.unwrap_or_default();
        text.lines().any(|line| line.split_once(' ').is_some_and(|(k, n)| k == key && n != "0"))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let own = mounts::name(&self.parent).join(&self.name);
        for _ in 0..TRIES {
            match fs::remove_dir(&own) {
                Err(e) if e.kind() == std::io::ErrorKind::ResourceBusy => {}
                _ => return,
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

/// Half of what the machine has, and no more than three quarters of what is free.
fn most_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let kib = |key| -> Option<u64> {
        let value = text.lines().find_map(|line| line.strip_prefix(key))?;
        value.split_whitespace().next()?.parse().ok()
    };
    Some((kib("MemTotal:")? / 2).min(kib("MemAvailable:")? / 4 * 3) << 10)
}

/// Limits the processes of an ordinary user, who can't make a group: they are counted by user namespace since Linux
/// 5.14, before that with all others of this user. It has no effect on root.
pub(super) fn limit_processes_of_user() {
    let before = getrlimit(Resource::Nproc).maximum;
    let most = Some(before.map_or(MOST_PROCESSES, |most| most.min(MOST_PROCESSES)));
    // A lower one is no error.
    let _ = setrlimit(Resource::Nproc, Rlimit { current: most, maximum: most });
}
