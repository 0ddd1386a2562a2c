//! All nodes, in memory while somebody looks at them, so that a look costs the store nothing however
//! many look. Events say which nodes have changed, and only these are read again. Many nodes stay in memory,
//! because the first look would wait until all of them are read.

pub(crate) mod changed;
pub(crate) mod expiry;
pub(crate) mod history;
pub(crate) mod layout;
pub(crate) mod open_pages;
pub(crate) mod reasons;
pub(crate) mod recent;
pub(crate) mod snapshot;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use provost_steplog::wording::error_chain;
use provost_store::StoreError;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout};

use crate::listener::Stop;
use crate::listener::refusal::Refusal;
use crate::published::SiteNodes;
use changed::Changed;
use snapshot::Snapshot;

/// The shortest time between two reads.
const PACE: Duration = Duration::from_millis(500);
/// A read that took longer is followed by a pause, so that reading uses a fortieth of the time.
pub(crate) const SHARE: u32 = 40;
/// How long changes are followed after the last look.
const FOLLOWED: Duration = Duration::from_secs(300);
/// How often all of them are read again: what another daemon has removed, or defined, is no event.
const AGAIN: Duration = Duration::from_secs(300);
/// Where more than one node in so many has changed, all of them are read: by one query and on all processors,
/// instead of by a query for each node.
const MOST_CHANGED: usize = 4;
/// From how many nodes on they are kept while nobody looks. 100,000 are read in 0.4 s, on 2 processors.
const MANY: usize = 20_000;
/// How long the first read may take until a look is refused.
const FIRST: Duration = Duration::from_secs(60);
/// The pause after an error of the store.
const RETRY: Duration = Duration::from_secs(5);

/// All nodes as they were last read.
struct ReadNodes {
    snapshot: Arc<Snapshot>,
    /// When all of them were read at once.
    all_read: Instant,
}

/// What there is to see.
#[derive(Clone, Default)]
enum State {
    /// Nobody looks: what is kept may be old.
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
    pub(crate) async fn look(&self) -> Result<Arc<Snapshot>, Refusal> {
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
    pub(crate) fn changes(&self) -> Changes {
        Changes(self.state.subscribe())
    }

    /// Nodes have changed by what isn't an event, such as their removal.
    pub(crate) fn touch(&self, names: &[String]) {
        names.iter().for_each(|name| self.changed.note(name));
    }

    /// An event says that a node has changed.
    pub(crate) fn has_changed(&self, name: &str) {
        self.changed.note(name);
    }

    /// Events were missed: any node may have changed.
    pub(crate) fn has_missed(&self) {
        self.changed.note_any();
    }

    /// Keeps the nodes in memory, and follows their changes while somebody looks, until the daemon ends.
    pub(crate) async fn keep(self: Arc<Self>, site: SiteNodes, mut stop: Stop) {
        let keeping = async {
            let mut kept = None;
            // If that fails, the next look says why.
            let _ = self.refresh(&site, &mut kept, AGAIN).await;
            loop {
                if kept.as_ref().is_none_or(|kept| kept.snapshot.members.len() < MANY) {
                    kept = None;
                    self.changed.ignore();
                }
                self.wake.notified().await;
                if let Err(error) = self.follow(&site, &mut kept).await {
                    let text = error_chain(&error);
                    tracing::error!(hint = error.hint(), "reading nodes for the web page: {text}");
                    self.state.send_replace(State::Failed(text.into(), error.hint().into()));
                    sleep(RETRY).await;
                }
                self.state.send_replace(State::Asleep);
            }
        };
        tokio::select! {
            () = keeping => {}
            () = stop.wait() => {}
        }
    }

    /// Reads the nodes that have changed, again and again while somebody looks.
    async fn follow(
        &self,
        site: &SiteNodes,
        kept: &mut Option<ReadNodes>,
    ) -> Result<(), StoreError> {
        // The first look doesn't wait until all are read, however old they are.
        let mut oldest = Duration::MAX;
        let mut shown = None;
        // The first read, and those of all nodes because they are old, are rare: however long they took, what
        // changes next is shown soon.
        let mut is_rare = true;
        loop {
            let began = Instant::now();
            let now = self.refresh(site, kept, oldest).await?;
            if shown.replace(now.snapshot.version) != Some(now.snapshot.version) {
                self.state.send_replace(State::Ready(Arc::clone(&now.snapshot)));
            }
            let pause = if is_rare { PACE } else { PACE.max(began.elapsed() * SHARE) };
            (oldest, is_rare) = (AGAIN, now.all_read.elapsed() >= AGAIN);
            sleep(pause).await;
            if !is_rare {
                // Or it is time to see whether anybody looks.
                let _ = timeout(FOLLOWED, self.changed.comes()).await;
            }
            if !self.is_looked_at() {
                return Ok(());
            }
        }
    }

    /// Reads the nodes that have changed; or all, where they are not known, or not read all at once for
    /// `oldest`.
    async fn refresh<'a>(
        &self,
        site: &SiteNodes,
        kept: &'a mut Option<ReadNodes>,
        oldest: Duration,
    ) -> Result<&'a ReadNodes, StoreError> {
        // After an error they are not known: what has changed is taken.
        let (known, changed) = (kept.take(), self.changed.take());
        let next = match (known, changed) {
            (Some(known), Some(names))
                if known.all_read.elapsed() < oldest
                    && names.len() <= known.snapshot.members.len() / MOST_CHANGED =>
            {
                if names.is_empty() {
                    known
                } else {
                    let found = site.list(Some(names.iter().cloned().collect())).await?;
                    ReadNodes { snapshot: Arc::new(known.snapshot.with(names, found)), ..known }
                }
            }
            (known, _) => {
                let all_read = Instant::now();
                let version = match known {
                    Some(known) => known.snapshot.version + 1,
                    // By the clock: it is another one than before.
                    None => Timestamp::now().as_microsecond().unsigned_abs(),
                };
                let snapshot = Arc::new(Snapshot::of(site.list(None).await?, version));
                ReadNodes { snapshot, all_read }
            }
        };
        Ok(kept.insert(next))
    }

    fn is_looked_at(&self) -> bool {
        let last = *self.last_look.lock().unwrap_or_else(PoisonError::into_inner);
        last.elapsed() < FOLLOWED
    }
}

fn unreadable(error: &str, hint: &str) -> Refusal {
    Refusal::new(axum::http::StatusCode::SERVICE_UNAVAILABLE, error, hint)
}

/// The changes of the nodes.
pub(crate) struct Changes(watch::Receiver<State>);

impl Changes {
    /// Waits for the next one. Returns the nodes then, if they can be read.
    pub(crate) async fn next(&mut self) -> Option<Arc<Snapshot>> {
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
    use std::net::{IpAddr, Ipv4Addr};

    use provost_store::{Claim, ClaimContent, NodeStates, Sqlite, Status};

    use super::*;
    use crate::published::PublishedFolder;

    const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

    async fn claim(store: &Sqlite, node: &str, status: Status) {
        let by = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let content = ClaimContent::Status { status, message: None };
        let claim = Claim { node: node.to_owned(), by, content };
        assert!(store.claim(claim, Timestamp::now()).await.unwrap());
    }

    fn failed(kept: &ReadNodes) -> Vec<&str> {
        let members = kept.snapshot.members.iter();
        let failed = members.filter(|member| member.node.status == Status::Failed);
        failed.map(|member| member.node.name.as_str()).collect()
    }

    #[tokio::test]
    async fn what_has_changed_while_nobody_looked_is_read_then() {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(Sqlite::open(folder.path()).unwrap());
        let www = PublishedFolder::new(&folder.path().join("www"));
        let site = SiteNodes { store: store.clone(), www };
        for name in NAMES {
            claim(&store, name, Status::Booting).await;
        }
        let (fleet, mut kept) = (Fleet::default(), None);
        let first = fleet.refresh(&site, &mut kept, AGAIN).await.unwrap();
        assert_eq!(first.snapshot.members.len(), NAMES.len());
        let version = first.snapshot.version;

        // Of the second no event tells.
        claim(&store, "b", Status::Failed).await;
        claim(&store, "d", Status::Failed).await;
        fleet.has_changed("b");
        let soon = fleet.refresh(&site, &mut kept, Duration::MAX).await.unwrap();
        assert_eq!(failed(soon), ["b"], "that one alone was read");
        assert!(soon.snapshot.version > version);
        let again = fleet.refresh(&site, &mut kept, Duration::ZERO).await.unwrap();
        assert_eq!(failed(again), ["b", "d"], "all were read");

        let version = again.snapshot.version;
        let same = fleet.refresh(&site, &mut kept, Duration::MAX).await.unwrap();
        assert_eq!(same.snapshot.version, version, "nothing has changed");
        claim(&store, "a", Status::Failed).await;
        fleet.has_missed();
        let missed = fleet.refresh(&site, &mut kept, Duration::MAX).await.unwrap();
        assert_eq!(failed(missed), ["a", "b", "d"]);
    }
}
