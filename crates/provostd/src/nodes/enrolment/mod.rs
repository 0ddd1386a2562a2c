//! How a node comes by an identity: a key of its own, which the store has.

pub(crate) mod csr;
pub(crate) mod node;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use provost_api::admins::PendingNode;
use provost_api::{AuthFailure, UNPUBLISHED};
use provost_bundle::Fingerprint;
use provost_store::{Identity, Network, Node, PendingKey, Status, Store, StoreError};
use tokio::sync::broadcast;
use tokio::time::timeout;

pub(crate) use node::enroll;

use crate::listener::tls::Authority;
use crate::nodes::pending::Pending;
use crate::published::PublishedFolder;

/// How many approvals a request that waits may be behind. Then it asks the store.
const BACKLOG: usize = 256;

/// What this daemon needs to give nodes identities.
pub(crate) struct Enrolment {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) www: PublishedFolder,
    pub(crate) pending: Arc<Pending>,
    /// What signs their certificates; none where there is no listener for TLS.
    authority: Option<Authority>,
    /// For how long an identity counts.
    valid_for: SignedDuration,
    /// The nodes for which an admin has just done something.
    changed: broadcast::Sender<Arc<[String]>>,
}

impl Enrolment {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        www: PublishedFolder,
        pending: Arc<Pending>,
        authority: Option<Authority>,
        valid_for: SignedDuration,
    ) -> Self {
        let (changed, _) = broadcast::channel(BACKLOG);
        Self { store, www, pending, authority, valid_for, changed }
    }

    /// Until when an identity counts that is given at the time `at`.
    pub(crate) fn until(&self, at: Timestamp) -> Timestamp {
        at.saturating_add(self.valid_for).unwrap_or(Timestamp::MAX)
    }

    /// Whether an identity that counts until `until` has to be renewed: half of its time is over.
    pub(crate) fn is_due(&self, until: Timestamp, at: Timestamp) -> bool {
        until.duration_since(at) < self.valid_for / 2
    }

    /// Whether an open window gives the node an identity: it has none, and hasn't booted.
    pub(crate) async fn takes_window(&self, node: &str) -> Result<bool, StoreError> {
        let (identity, stored) = (self.store.identity(node).await?, self.store.node(node).await?);
        let counts = |one: &Identity| one.revoked.is_none() && one.until > Timestamp::now();
        let status = stored.map(|node| node.status).unwrap_or_default();
        Ok(!identity.as_ref().is_some_and(counts) && has_not_booted(status))
    }

    /// Whether the node has only to ask, and gets an identity by its window.
    pub(crate) async fn is_open_to(&self, node: &str) -> Result<bool, StoreError> {
        // Anybody may ask: one row is read, however many windows there are.
        let is_open = self.store.has_window(node, Timestamp::now()).await?;
        Ok(is_open && self.takes_window(node).await?)
    }

    /// Those of `nodes` to which an open window gives nothing.
    pub(crate) async fn without_effect(&self, nodes: &[String]) -> Result<Vec<String>, StoreError> {
        let now = Timestamp::now();
        let identities = self.store.identities_until(Timestamp::MAX).await?.into_iter();
        let identities = identities.filter(|one| one.until > now && one.revoked.is_none());
        let mut found: HashSet<String> = identities.map(|one| one.node).collect();
        let stored = self.store.nodes_named(nodes.to_vec()).await?.into_iter();
        found.extend(stored.filter(|node| !has_not_booted(node.status)).map(|node| node.name));
        Ok(nodes.iter().filter(|name| found.contains(*name)).cloned().collect())
    }

    /// The nodes that can't get on, and the keys that wait for an admin, by node.
    pub(crate) async fn waiting(&self) -> Result<Vec<PendingNode>, StoreError> {
        let keys = self.store.pending_keys().await?;
        let mut all = self.pending.list();
        // A key says more of the same node; but not of another machine, which may be the node.
        let with_key: HashSet<_> =
            keys.iter().map(|key| (&*key.node, Network::of_client(key.by))).collect();
        let says_more = |one: &PendingNode| {
            one.why == AuthFailure::TooMany
                || !with_key.contains(&(&*one.node, Network::of_client(one.address)))
        };
        all.retain(says_more);
        all.extend(keys.into_iter().map(waiting_key));
        all.sort_by(|a, b| a.node.cmp(&b.node));
        Ok(all)
    }

    /// Adds to each of `nodes` why it can't go on, where that is so.
    pub(crate) async fn show(&self, nodes: &mut [Node]) -> Result<(), StoreError> {
        let mut why = HashMap::new();
        for one in self.waiting().await? {
            // What has been published since needs nothing but the node's next try.
            if one.why != AuthFailure::Unpublished {
                why.entry(one.node.clone()).or_insert_with(|| reason(&one));
            }
        }
        for node in nodes {
            if let Some(why) = why.remove(&node.name) {
                node.waiting = Some(why);
            }
        }
        Ok(())
    }

    /// The nodes that have asked for an identity while no plan was published for them, by name.
    pub(crate) fn unpublished(&self) -> BTreeMap<String, Node> {
        let mut nodes = BTreeMap::new();
        for one in self.pending.list() {
            if one.why == AuthFailure::Unpublished {
                let waiting = Some(reason(&one));
                let node =
                    Node { name: one.node, since: Some(one.since), waiting, ..Node::default() };
                nodes.entry(node.name.clone()).or_insert(node);
            }
        }
        nodes
    }

    /// Requests of `nodes` that wait may have another answer now.
    pub(crate) fn wake(&self, nodes: &[String]) {
        // Fails where none waits.
        let _ = self.changed.send(nodes.into());
    }

    /// Waits until there may be another answer for `node`, for at most `most`. Of what other
    /// daemons have decided it learns nothing.
    async fn wait(heard: &mut broadcast::Receiver<Arc<[String]>>, node: &str, most: Duration) {
        let about_it = async {
            while let Ok(nodes) = heard.recv().await {
                if nodes.iter().any(|name| name == node) {
                    break;
                }
            }
        };
        let _ = timeout(most, about_it).await;
    }
}

/// A window is for nodes that are set up.
fn has_not_booted(status: Status) -> bool {
    matches!(status, Status::Defined | Status::Installing)
}

/// Why a node can't go on, and what to do.
fn reason(PendingNode { why, address, since, hint, .. }: &PendingNode) -> String {
    let hint = hint.as_deref().unwrap_or_default();
    match why {
        // As a node says it that may report.
        AuthFailure::Unpublished => {
            format!("{UNPUBLISHED} (since {since}), from {address}: {hint}")
        }
        why => format!("{}, from {address}: {hint}", why.words()),
    }
}

fn waiting_key(waiting: PendingKey) -> PendingNode {
    let PendingKey { node, key, by, since, last, is_second } = waiting;
    let key = Fingerprint(key).to_string();
    PendingNode {
        address: by,
        why: if is_second { AuthFailure::SecondKey } else { AuthFailure::NotApproved },
        since,
        last,
        attempts: None,
        hint: Some(format!("provostctl approve {node} {key}")),
        key: Some(key),
        node,
    }
}
