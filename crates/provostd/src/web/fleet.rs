//! All nodes, in memory while somebody looks at them, so that a look costs the store nothing however
//! many look. Events say which nodes have changed, and only these are read again.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use provost_record::wording::error_chain;
use provost_store::{Node, Store, StoreError, failure_id};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout};

use super::changed::Changed;
use crate::listener::Stop;
use crate::refusal::Refusal;

/// The shortest time between two reads.
const PACE: Duration = Duration::from_millis(400);
/// A read that took longer is followed by a pause, so that reading uses a twentieth of the time.
pub(super) const SHARE: u32 = 20;
/// How long the nodes are kept after the last look.
const KEPT: Duration = Duration::from_secs(300);
/// How often all of them are read again: what another daemon has removed, or defined, is no event.
const AGAIN: Duration = Duration::from_secs(300);
/// How long the first read may take until a look is refused.
const FIRST: Duration = Duration::from_secs(60);
/// The pause after an error of the store.
const RETRY: Duration = Duration::from_secs(5);

/// A node, and the failure group that it belongs to.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) node: Node,
    pub(super) group: Option<String>,
    /// The version of the first snapshot that has it.
    pub(super) version: u64,
}

/// All nodes at a time.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    /// By name.
    pub(super) members: Vec<Arc<Member>>,
    /// Another one for each snapshot.
    pub(super) version: u64,
}

impl Snapshot {
    /// The node of that name.
    pub(super) fn member(&self, name: &str) -> Option<&Arc<Member>> {
        let at = self.members.binary_search_by(|member| member.node.name.as_str().cmp(name));
        at.ok().map(|at| &self.members[at])
    }

    /// The same with what is known now of `names`: `found`, and nothing of the others.
    fn with(&self, names: BTreeSet<String>, found: Vec<Node>) -> Self {
        let version = self.version + 1;
        let mut members = self.members.clone();
        let mut found = found.into_iter().peekable();
        let mut new = Vec::new();
        for name in names {
            let node = found.next_if(|node| node.name == name);
            let at = members.binary_search_by(|member| member.node.name.cmp(&name));
            match (at, node) {
                (Ok(at), Some(node)) => members[at] = member(node, version),
                (Err(_), Some(node)) => new.push(member(node, version)),
                (Ok(at), None) => drop(members.remove(at)),
                (Err(_), None) => {}
            }
        }
        if !new.is_empty() {
            members.extend(new);
            members.sort_by(|a, b| a.node.name.cmp(&b.node.name));
        }
        Self { members, version }
    }
}

fn members(nodes: Vec<Node>, version: u64) -> Vec<Arc<Member>> {
    nodes.into_iter().map(|node| member(node, version)).collect()
}

fn member(node: Node, version: u64) -> Arc<Member> {
    Arc::new(Member { group: failure_id(&node), node, version })
}

/// What there is to see.
#[derive(Clone, Default)]
enum State {
    /// Nobody looks.
    #[default]
    Asleep,
    Ready(Arc<Snapshot>),
    /// The store can't be read, and why; and a hint.
    Failed(Arc<str>, Arc<str>),
}

/// The nodes.
pub(crate) struct Fleet {
    state: watch::Sender<State>,
    /// Somebody looks.
    wake: Notify,
    last_look: Mutex<Instant>,
    changed: Changed,
}

impl Default for Fleet {
    fn default() -> Self {
        Self {
            state: watch::Sender::default(),
            wake: Notify::new(),
            last_look: Mutex::new(Instant::now()),
            changed: Changed::default(),
        }
    }
}

impl Fleet {
    /// The nodes as they are now.
    pub(super) async fn look(&self) -> Result<Arc<Snapshot>, Refusal> {
        *self.last_look.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        let mut state = self.state.subscribe();
        let there = async {
            loop {
                let now = state.borrow_and_update().clone();
                match now {
                    State::Ready(snapshot) => return Ok(snapshot),
                    State::Failed(error, hint) => return Err(unreadable(&error, &hint)),
                    State::Asleep => self.wake.notify_one(),
                }
                if state.changed().await.is_err() {
                    return Err(unreadable("the daemon ends", "look again when it is up"));
                }
            }
        };
        let late = || unreadable("reading all nodes takes too long", "look again in a minute");
        timeout(FIRST, there).await.unwrap_or_else(|_| Err(late()))
    }

    /// Waits for a change.
    pub(super) fn changes(&self) -> Changes {
        Changes(self.state.subscribe())
    }

    /// Nodes have changed by what isn't an event, such as their removal.
    pub(crate) fn touch(&self, names: &[String]) {
        names.iter().for_each(|name| self.changed.note(name));
    }

    /// An event says that a node has changed.
    pub(super) fn has_changed(&self, name: &str) {
        self.changed.note(name);
    }

    /// Events were missed: any node may have changed.
    pub(super) fn has_missed(&self) {
        self.changed.note_any();
    }

    /// Keeps the nodes in memory while somebody looks, until the daemon ends.
    pub(crate) async fn keep(&self, store: &dyn Store, mut stop: Stop) {
        let keeping = async {
            loop {
                self.wake.notified().await;
                if let Err(error) = self.follow(store).await {
                    let text = error_chain(&error);
                    tracing::error!(hint = error.hint(), "reading nodes for the web page: {text}");
                    self.state.send_replace(State::Failed(text.into(), error.hint().into()));
                    sleep(RETRY).await;
                }
                self.changed.ignore();
                self.state.send_replace(State::Asleep);
            }
        };
        tokio::select! {
            () = keeping => {}
            () = stop.wait() => {}
        }
    }

    /// Reads the nodes, and those that change, while somebody looks.
    async fn follow(&self, store: &dyn Store) -> Result<(), StoreError> {
        self.changed.take();
        // By the clock: it is another one than before the last pause.
        let version = Timestamp::now().as_microsecond().unsigned_abs();
        let all = members(store.nodes().await?, version);
        let mut snapshot = self.show(Snapshot { members: all, version });
        let mut all_read = Instant::now();
        let mut pause = PACE;
        loop {
            sleep(pause).await;
            // Or it is time to see whether anybody looks.
            let _ = timeout(KEPT, self.changed.comes()).await;
            if !self.is_looked_at() {
                return Ok(());
            }
            let began = Instant::now();
            let next = match self.changed.take() {
                Some(names) if all_read.elapsed() < AGAIN => {
                    if names.is_empty() {
                        // It came before the last read.
                        pause = Duration::ZERO;
                        continue;
                    }
                    let found = store.nodes_named(names.iter().cloned().collect()).await?;
                    snapshot.with(names, found)
                }
                _ => {
                    all_read = began;
                    let version = snapshot.version + 1;
                    Snapshot { members: members(store.nodes().await?, version), version }
                }
            };
            snapshot = self.show(next);
            pause = PACE.max(began.elapsed() * SHARE);
        }
    }

    fn is_looked_at(&self) -> bool {
        let last = *self.last_look.lock().unwrap_or_else(PoisonError::into_inner);
        last.elapsed() < KEPT
    }

    fn show(&self, snapshot: Snapshot) -> Arc<Snapshot> {
        let snapshot = Arc::new(snapshot);
        self.state.send_replace(State::Ready(Arc::clone(&snapshot)));
        snapshot
    }
}

fn unreadable(error: &str, hint: &str) -> Refusal {
    Refusal::new(axum::http::StatusCode::SERVICE_UNAVAILABLE, error, hint)
}

/// The changes of the nodes.
pub(super) struct Changes(watch::Receiver<State>);

impl Changes {
    /// Waits for the next one. Returns the nodes then, if they can be read.
    pub(super) async fn next(&mut self) -> Option<Arc<Snapshot>> {
        if self.0.changed().await.is_err() {
            // The daemon ends, and whoever waits with it.
            std::future::pending::<()>().await;
        }
        match &*self.0.borrow_and_update() {
            State::Ready(snapshot) => Some(Arc::clone(snapshot)),
            State::Asleep | State::Failed(..) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str) -> Node {
        Node { name: name.to_owned(), ..Node::default() }
    }

    #[test]
    fn what_is_new_or_gone_is_seen() {
        let members = members(["a", "c", "d", "e"].map(node).to_vec(), 0);
        let snapshot = Snapshot { members, version: 0 };
        let names = ["b", "c", "d", "f", "x"].map(str::to_owned).into();
        let changed = Node { program: Some("2".to_owned()), ..node("c") };
        let snapshot = snapshot.with(names, vec![node("b"), changed, node("f")]);
        let shown: Vec<&str> =
            snapshot.members.iter().map(|member| member.node.name.as_str()).collect();
        assert_eq!(shown, ["a", "b", "c", "e", "f"]);
        assert!(snapshot.member("c").is_some_and(|member| member.node.program.is_some()));
        assert!(snapshot.member("d").is_none());
    }
}
