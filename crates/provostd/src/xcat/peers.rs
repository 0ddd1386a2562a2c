use std::collections::{HashMap, HashSet};
use std::io;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::Duration;

use provost_plan::Plan;
use tokio::process::Command;
use tokio::sync::{Mutex, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// The variable of a plan that has its node's address, as in xCAT's environment.
const ADDRESS: &str = "IPADDR";
/// How long the lookup of an address may take, including the wait for its turn.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);
/// How many addresses are looked up at once.
const LOOKUPS: usize = 16;
/// How many unknown addresses are remembered, so that each is logged once.
const MAX_UNKNOWN: usize = 1024;

/// The node at the other end of a connection.
pub(super) struct Peer {
    pub(super) node: String,
    pub(super) address: IpAddr,
}

/// Finds nodes by their address: in the published plans, or with the host's name service.
pub(super) struct Peers {
    plans: PathBuf,
    index: Mutex<Option<(Stamp, Arc<Index>)>>,
    dns: Option<Semaphore>,
    unknown: StdMutex<HashSet<IpAddr>>,
}

/// Changes whenever plans are published: device, inode, and time of the change.
type Stamp = (u64, u64, i64, i64);

#[derive(Default)]
struct Index {
    addresses: HashMap<IpAddr, String>,
    nodes: HashSet<String>,
}

impl Peers {
    /// Uses the plans in the folder `plans`; with `dns`, an address that none of them has is looked
    /// up.
    pub(super) fn new(plans: PathBuf, dns: bool) -> Self {
        let dns = dns.then(|| Semaphore::new(LOOKUPS));
        Self { plans, index: Mutex::default(), dns, unknown: StdMutex::default() }
    }

    /// The node that has this address.
    pub(super) async fn node(&self, address: IpAddr) -> Option<String> {
        let index = match self.index().await {
            Ok(index) => index,
            Err(error) => {
                tracing::error!(
                    hint = "provostctl publish, to the folder that provostd.toml calls www",
                    "finding nodes by their address: reading {}: {error}",
                    self.plans.display()
                );
                return None;
            }
        };
        if let Some(node) = index.addresses.get(&address) {
            return Some(node.clone());
        }
        if let Some(node) = self.look_up(address, &index).await {
            return Some(node);
        }
        self.log_unknown(address);
        None
    }

    /// The plans' addresses. They are read anew if they have changed, by one task while the others
    /// wait.
    async fn index(&self) -> io::Result<Arc<Index>> {
        let mut index = self.index.lock().await;
        let about = tokio::fs::metadata(&self.plans).await?;
        let stamp = (about.dev(), about.ino(), about.mtime(), about.mtime_nsec());
        if let Some((read, index)) = &*index
            && *read == stamp
        {
            return Ok(Arc::clone(index));
        }
        let plans = self.plans.clone();
        let read =
            spawn_blocking(move || Index::read(&plans)).await.map_err(io::Error::other)??;
        let read = Arc::new(read);
        *index = Some((stamp, Arc::clone(&read)));
        self.unknown.lock().unwrap_or_else(PoisonError::into_inner).clear();
        Ok(read)
    }

    /// Asks the host's name service in a process that can be killed, because an answer can take
    /// arbitrarily long.
    async fn look_up(&self, address: IpAddr, index: &Index) -> Option<String> {
        let dns = self.dns.as_ref()?;
        let asking = async {
            let _turn = dns.acquire().await.map_err(io::Error::other)?;
            let mut getent = Command::new("getent");
            getent.args(["hosts", &address.to_string()]).stdin(Stdio::null()).kill_on_drop(true);
            getent.stderr(Stdio::null()).output().await
        };
        let answer = match timeout(LOOKUP_TIMEOUT, asking).await {
            Ok(Ok(answer)) => String::from_utf8_lossy(&answer.stdout).into_owned(),
            Ok(Err(error)) => {
                tracing::warn!("looking up {address}: getent: {error}");
                return None;
            }
            Err(_) => {
                tracing::warn!("looking up {address}: no answer within {LOOKUP_TIMEOUT:?}");
                return None;
            }
        };
        let names = answer.split_whitespace().skip(1);
        let mut all = names.flat_map(|name| [name, name.split('.').next().unwrap_or(name)]);
        all.find(|name| index.nodes.contains(*name)).map(str::to_owned)
    }

    fn log_unknown(&self, address: IpAddr) {
        let mut unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        if unknown.len() < MAX_UNKNOWN && unknown.insert(address) {
            tracing::warn!(
                hint = format!(
                    "set env.{ADDRESS} = \"{address}\" in the node's section of \
                                site.toml, and publish"
                ),
                "refusing {address}: it isn't a node's address"
            );
        }
    }
}

impl Index {
    fn read(plans: &Path) -> io::Result<Self> {
        let mut index = Self::default();
        let mut twice = HashSet::new();
        for entry in std::fs::read_dir(plans)? {
            let entry = entry?;
            let path = entry.path();
            // What is hidden is the publisher's own.
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if is_hidden || path.extension().is_none_or(|extension| extension != "toml") {
                continue;
            }
            // A publish may have replaced the folder meanwhile.
            let bytes = std::fs::read(&path).map_err(|e| e.to_string());
            let plan = match bytes.and_then(|b| Plan::parse(&b).map_err(|e| e.to_string())) {
                Ok(plan) => plan,
                Err(error) => {
                    tracing::warn!("{}: {error}", path.display());
                    continue;
                }
            };
            index.nodes.insert(plan.node.clone());
            let Some(text) = plan.env.get(ADDRESS).filter(|text| !text.is_empty()) else {
                continue;
            };
            let Ok(address) = text.parse::<IpAddr>() else {
                tracing::warn!("the plan of {}: {ADDRESS} {text:?} isn't an address", plan.node);
                continue;
            };
            let address = address.to_canonical();
            if let Some(other) = index.addresses.insert(address, plan.node.clone()) {
                tracing::warn!("ignoring {address}, which both {other} and {} have", plan.node);
                twice.insert(address);
            }
        }
        index.addresses.retain(|address, _| !twice.contains(address));
        Ok(index)
    }
}
