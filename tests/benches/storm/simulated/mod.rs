//! Many nodes that boot at once against real management nodes. The nodes of a share have one process, and each is
//! the real node's code from its settings to its last report: fetch, spool, reporter, their waits, retries
//! and jitter. What is left out is what no server sees: scripts are waits, and a node's folder is in memory.

mod books;
mod management;
mod network;
mod node;

use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::process::{Resource, getrlimit, nice};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use books::Books;
pub(crate) use books::Requests;
pub(crate) use management::{Management, Store};
pub(crate) use network::Network;
pub(crate) use node::Boot;
use node::SimulatedNode;

/// Scripts that each node runs.
pub(crate) const SCRIPTS: usize = 28;
/// Records of a node's boot: of the service, of `fetch`, and of the scripts.
pub(crate) const RECORDS: usize = 2 + 2 + 2 * SCRIPTS;
/// How much lower the priority of nodes is than that of the servers.
const GIVES_WAY: i32 = 10;
/// One of so many nodes is apart, and no more of them than so.
const ONE_OF: usize = 100;
const MOST_APART: usize = 100;
/// They are switched on within so much for each node of the storm, which it takes at least: what they see is
/// all of it.
const OF_EACH: Duration = Duration::from_millis(2);
/// File descriptors of a node.
const FILES: u64 = 12;
/// Nodes that are switched on one after the other are on for no longer than so, all together: a boot takes a tenth of it.
const BACKLOG: Duration = Duration::from_secs(120);
/// What the folder of a node takes, in bytes, and how many there are at once, at most.
const FOLDER: u64 = 256 << 10;
const FOLDERS: usize = 20_000;

/// What a storm was like for its nodes.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Storm {
    pub(crate) took: Duration,
    pub(crate) boots: Vec<Boot>,
    pub(crate) requests: Requests,
    /// How long each acknowledged report took of the nodes that were apart.
    pub(crate) acks_apart: Vec<Duration>,
}

/// The nodes of a storm, and where their folders are.
pub(crate) struct Nodes {
    names: Vec<String>,
    memory: TempDir,
}

/// Nodes that one process simulates.
#[derive(Serialize, Deserialize)]
pub(crate) struct Share {
    /// Within which time they are switched on.
    over: Duration,
    /// Whether they only fetch.
    only_fetches: bool,
    /// Whether they have the servers' priority, and are so few that none waits for the others. What they see is
    /// what a node with a processor of its own sees.
    is_apart: bool,
    nodes: Vec<SimulatedNode>,
}

impl Nodes {
    /// So many nodes.
    pub(crate) fn new(count: usize) -> Self {
        let names = (0..count).map(|n| format!("n{n:06}")).collect();
        Self { names, memory: memory_folder(count.min(FOLDERS) as u64 * FOLDER) }
    }

    /// All of them, as site.toml names them.
    pub(crate) fn range(&self) -> String {
        format!("n[{}-{}]", &self.names[0][1..], &self.names[self.names.len() - 1][1..])
    }

    /// All of them, to boot within `over`, each with its token, if there are some, and with the
    /// `settings` for its number, divided among so many processes. `name` is the storm's.
    pub(crate) fn shares(
        &self,
        name: &str,
        over: Duration,
        tokens: &[String],
        settings: impl Fn(usize) -> String,
        processes: usize,
    ) -> Vec<Share> {
        let share = || Share { over, only_fetches: false, is_apart: false, nodes: Vec::new() };
        let mut shares: Vec<Share> = (0..processes).map(|_| share()).collect();
        for (n, node) in self.names.iter().enumerate() {
            let folder = self.memory.path().join(name).join(node);
            let token = tokens.get(n).map(String::as_str);
            let node = SimulatedNode::new(folder, node, token, &settings(n));
            shares[n % processes].nodes.push(node);
        }
        shares
    }

    /// How many may be on at the same time, if they are switched on within `over`.
    pub(crate) fn at_once(&self, over: Duration) -> usize {
        let part = BACKLOG.as_secs_f64() / over.max(BACKLOG).as_secs_f64();
        (self.names.len() as f64 * part).ceil() as usize
    }

    /// How many processes have file descriptors for so many of them.
    pub(crate) fn processes(&self, over: Duration) -> usize {
        let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let most = (files.saturating_sub(100) / FILES).max(1) as usize;
        self.at_once(over).div_ceil(most)
    }
}

impl Share {
    /// The same nodes fetch what is published, and boot later.
    pub(crate) fn only_fetching(self) -> Self {
        Self { only_fetches: true, ..self }
    }

    /// The same nodes upload the logs of all steps.
    pub(crate) fn with_logs(self) -> Self {
        let nodes = self.nodes.into_iter().map(SimulatedNode::with_logs).collect();
        Self { nodes, ..self }
    }

    /// Takes some of the nodes of all `shares` to be apart.
    pub(crate) fn take_apart(shares: &mut [Self]) -> Self {
        let all: usize = shares.iter().map(|share| share.nodes.len()).sum();
        let first = &mut shares[0];
        let count = all.div_ceil(ONE_OF).min(MOST_APART).min(first.nodes.len());
        let nodes = first.nodes.split_off(first.nodes.len() - count);
        Self { is_apart: true, over: first.over.max(OF_EACH * all as u32), nodes, ..*first }
    }

    /// Boots all of them, divided among so many threads.
    pub(crate) fn boot(self, threads: usize) -> Storm {
        let mut parts: Vec<Vec<SimulatedNode>> = (0..threads).map(|_| Vec::new()).collect();
        for (n, node) in self.nodes.into_iter().enumerate() {
            parts[n % threads].push(node);
        }
        let books = Books::open();
        let boots: Vec<Boot> = thread::scope(|scope| {
            let boot_all = |part| {
                scope.spawn(move || {
                    if !self.is_apart {
                        // Of this thread: real nodes have processors of their own, and a daemon that has to wait
                        // for one is slow by that.
                        nice(GIVES_WAY).unwrap();
                    }
                    boot_all(part, self.over, self.only_fetches)
                })
            };
            let threads: Vec<_> = parts.into_iter().map(boot_all).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let requests = books.close();
        // Without what comes after the runs.
        let took = boots.iter().map(|boot| boot.ended).max().unwrap_or_default();
        let acks_apart = if self.is_apart { requests.acks.clone() } else { Vec::new() };
        Storm { took, boots, requests, acks_apart }
    }
}

impl Storm {
    /// Adds the part that another process has had.
    pub(crate) fn add(&mut self, other: Self) {
        self.took = self.took.max(other.took);
        self.boots.extend(other.boots);
        self.requests.add(other.requests);
        self.acks_apart.extend(other.acks_apart);
    }
}

fn boot_all(share: Vec<SimulatedNode>, over: Duration, only_fetches: bool) -> Vec<Boot> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let local = tokio::task::LocalSet::new();
    let boot = |node: SimulatedNode| local.spawn_local(node.boot(over, only_fetches));
    let boots: Vec<_> = share.into_iter().map(boot).collect();
    local.block_on(&runtime, async {
        let mut ended = Vec::new();
        for boot in boots {
            ended.push(boot.await.unwrap());
        }
        ended
    })
}

/// A folder that no disk has, if there is room for `bytes`: thousands of nodes have thousands of disks.
fn memory_folder(bytes: u64) -> TempDir {
    let memory = Path::new("/dev/shm");
    let has_room = rustix::fs::statvfs(memory).is_ok_and(|fs| fs.f_bavail * fs.f_frsize > bytes);
    if has_room { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}
