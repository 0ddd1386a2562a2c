use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::faults::Faulty;
use crate::processes::{self, Process};
use crate::{Cluster, Node, skip_part};

/// How long a keeper may take to go after its runner and its last script.
const PARTING: Duration = Duration::from_secs(1);

/// A node for scripts that misbehave. Every process of it carries a mark, by which survivors are
/// found; none outlives the test.
pub struct Ground {
    node: Node,
    cluster: Cluster,
    mark: String,
}

/// By which means a tree of processes is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum World {
    /// A cgroup, and the walk of the descendants.
    Cgroup,
    /// The walk of the descendants alone.
    Walk,
}

impl World {
    /// Those that this machine has.
    pub fn all() -> Vec<Self> {
        static ALL: LazyLock<Vec<World>> = LazyLock::new(|| {
            if cgroup_can_kill() {
                return vec![World::Cgroup, World::Walk];
            }
            skip_part("with cgroups: no cgroup v2 can be made that can kill");
            vec![World::Walk]
        });
        ALL.clone()
    }
}

fn cgroup_can_kill() -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mount = mounts.lines().find(|l| l.split(' ').nth(2) == Some("cgroup2"));
    let group = groups.lines().find_map(|l| l.strip_prefix("0::/"));
    let (Some(mount), Some(group)) = (mount, group) else { return false };
    let Some(mount) = mount.split(' ').nth(1) else { return false };
    let probe = Path::new(mount).join(group).join(format!("probe-{}", std::process::id()));
    let can_kill = std::fs::create_dir(&probe).is_ok() && probe.join("cgroup.kill").exists();
    let _ = std::fs::remove_dir(&probe);
    can_kill
}

impl Ground {
    /// A node `cn001` whose plan is to run `scripts`, each with its text, in order. `grace` is a
    /// second, `leak` half of one.
    pub fn new(scripts: &[(&str, &str)]) -> Self {
        let mut cluster = Cluster::new();
        for (name, text) in scripts {
            cluster.script(name, text);
        }
        let names: Vec<&str> = scripts.iter().map(|(name, _)| *name).collect();
        // The node's folder; the daemon's arguments don't have it.
        let mark = cluster.path("nodes/cn001").display().to_string();
        cluster.site(&format!(
            "[nodes.cn001]\npostscripts = {names:?}\n[nodes.cn001.env]\nPROVOST_TEST = {mark:?}\n"
        ));
        cluster.publish().expect(0);
        cluster.start();
        let ground = Self { node: cluster.node("cn001"), cluster, mark };
        ground.limits("grace = \"1s\"\nleak = \"500ms\"\n");
        ground
    }

    /// Configures the node's `[run]`.
    pub fn limits(&self, text: &str) {
        self.node.configure(&format!(
            "servers = [\"http://{}\"]\n[trust]\nkeys = [\"{}\"]\n[run]\n{text}",
            self.cluster.daemon().nodes(),
            self.cluster.key()
        ));
    }

    /// Has the node ask a server that may go wrong, before the daemon.
    pub fn server(&self) -> Faulty {
        let server = Faulty::before(self.cluster.daemon().nodes());
        self.node.configure(&self.cluster.settings_for(&[server.address()]));
        server
    }

    /// A path below the node's folder, which scripts know as `$PROVOST_TEST`.
    pub fn path(&self, name: &str) -> PathBuf {
        self.node.path(name)
    }

    /// The node.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// All that runs on the node: runner, keepers, scripts, and what scripts have started.
    pub fn processes(&self) -> Vec<Process> {
        processes::marked(&self.mark)
    }

    /// `provost ARGS`, out of reach of signals that are meant for the test's own group.
    pub fn command(&self, world: World, args: &[&str]) -> Command {
        self.command_by(&[], world, args)
    }

    /// The same, by a program that is given it as its last arguments, such as `nohup`.
    pub fn command_by(&self, by: &[&str], world: World, args: &[&str]) -> Command {
        let mut command = self.node.command_by(by, args);
        command.env("PROVOST_TEST", &self.mark).process_group(0);
        if world == World::Walk {
            command.env("PROVOST_NO_CGROUP", "1");
        }
        command
    }

    /// Starts `provost ARGS`. What it says goes to a file.
    pub fn start(&self, world: World, args: &[&str]) -> Run {
        self.start_by(&[], world, args)
    }

    /// The same, by a program that is given it as its last arguments.
    pub fn start_by(&self, by: &[&str], world: World, args: &[&str]) -> Run {
        let said = self.path("said");
        let file = File::create(&said).unwrap();
        let began = Instant::now();
        let mut command = self.command_by(by, world, args);
        let child = command.stdout(file.try_clone().unwrap()).stderr(file).spawn().unwrap();
        let pidfd = processes::open(child.id().cast_signed()).unwrap();
        Run { child, pidfd, began, said }
    }

    /// The newest record of the end of `stage` in the journal of `service`.
    #[track_caller]
    pub fn end_of(&self, service: &str, stage: &str) -> Value {
        let journal = self.node.journal(service);
        let ends = |e: &&Value| e["stage"] == stage && e["phase"] == "stage end";
        journal
            .iter()
            .rfind(ends)
            .unwrap_or_else(|| panic!("no end of {stage}: {journal:#?}"))
            .clone()
    }

    /// Asserts that nobody is left: no runner, keeper, script, descendant or zombie.
    #[track_caller]
    pub fn nobody_is_left(&self, context: &str) {
        let left = processes::all_gone(&self.mark, PARTING);
        assert!(left.is_empty(), "{context}: {left:#?} are left");
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        processes::kill(&self.mark);
    }
}

/// A run of provost that goes on.
pub struct Run {
    child: Child,
    pidfd: OwnedFd,
    began: Instant,
    said: PathBuf,
}

/// One that has ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status; none where a signal ended it.
    pub code: Option<i32>,
    /// How long it took.
    pub took: Duration,
    /// What it said.
    pub said: String,
}

impl Run {
    /// The runner's process id.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Sends the runner a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Whether it ends within `limit`.
    pub fn ends_within(&self, limit: Duration) -> bool {
        processes::ready(&self.pidfd, limit)
    }

    /// Waits for its end, which has to come within `limit` of its start.
    #[track_caller]
    pub fn end(mut self, limit: Duration) -> Ended {
        let in_time = self.ends_within(limit.saturating_sub(self.began.elapsed()));
        let took = self.began.elapsed();
        let said = std::fs::read_to_string(&self.said).unwrap();
        assert!(in_time, "it is still there after {took:?}; it said\n{said}");
        let code = self.child.wait().unwrap().code();
        Ended { code, took, said }
    }
}
