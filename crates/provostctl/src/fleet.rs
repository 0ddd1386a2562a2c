use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use provost_store::Node;
use tokio::time::{Instant, timeout_at};

use crate::client::Client;
use crate::events::Events;
use crate::failure::Failure;
use crate::node_set::NodeSet;

/// The pause between an event and the request for what changed, so that a burst of events costs one
/// request.
const BURST: Duration = Duration::from_millis(200);

/// How long to wait after a request, by the time that it took.
const PAUSE: u32 = 10;

/// Nodes as they are now. Events say which of them changed, and only these are asked for again, so
/// that a node that does nothing costs the daemon nothing.
pub(crate) struct Fleet<'a> {
    client: &'a Client,
    /// Which nodes; none for all of them.
    set: Option<&'a NodeSet>,
    names: Option<HashSet<String>>,
    /// Whether a beat of a node is a change of it.
    beats: bool,
    /// Those of them that the daemon knows.
    pub(crate) nodes: BTreeMap<String, Node>,
    events: Option<Events>,
    changed: Changed,
    /// How long events are collected before the next request.
    pause: Duration,
}

impl<'a> Fleet<'a> {
    pub(crate) fn new(client: &'a Client, set: Option<&'a NodeSet>) -> Self {
        let names = set.map(|set| set.names.iter().cloned().collect());
        Self {
            client,
            set,
            names,
            beats: false,
            nodes: BTreeMap::new(),
            events: None,
            changed: Changed::default(),
            pause: BURST,
        }
    }

    /// The same, with beats as changes.
    pub(crate) fn with_beats(self) -> Self {
        Self { beats: true, ..self }
    }

    /// Gets the nodes; after that, waits until some have changed. After an error, the next call
    /// begins anew. A call that is dropped loses nothing.
    pub(crate) async fn update(&mut self) -> Result<(), Failure> {
        if self.events.is_none() {
            let events = Events::new(self.client.events(self.beats).await?, self.names.clone());
            self.fetch(None).await?;
            self.events = Some(events);
            return Ok(());
        }
        let updated = self.follow().await;
        if updated.is_err() {
            self.events = None;
            self.changed = Changed::default();
        }
        updated
    }

    async fn follow(&mut self) -> Result<(), Failure> {
        let Some(events) = &mut self.events else { return Ok(()) };
        self.changed.collect(events, self.pause).await.map_err(|why| {
            let hint = "check that provostd runs: systemctl status provostd";
            Failure { is_transient: true, ..Failure::new(why, hint) }
        })?;
        let began = Instant::now();
        let names = self.changed.names.iter().cloned().collect();
        self.fetch((!self.changed.missed).then_some(names)).await?;
        // A daemon that has much to send isn't asked all the time.
        self.pause = BURST.max(began.elapsed() * PAUSE);
        self.changed = Changed::default();
        Ok(())
    }

    /// Asks for the nodes `names`, or for all.
    async fn fetch(&mut self, names: Option<Vec<String>>) -> Result<(), Failure> {
        let names = names.map(|names| NodeSet { names });
        let found: Vec<Node> = match self.client.nodes(names.as_ref().or(self.set)).await {
            Ok(found) => found,
            // The daemon was there.
            Err(failure) => return Err(Failure { is_transient: true, ..failure }),
        };
        // The answer to a long request has all nodes.
        let is_one = |node: &Node| self.names.as_ref().is_none_or(|set| set.contains(&node.name));
        let found = found.into_iter().filter(is_one);
        self.nodes.extend(found.map(|node| (node.name.clone(), node)));
        Ok(())
    }
}

/// What events say.
#[derive(Default)]
struct Changed {
    /// The nodes that changed.
    names: BTreeSet<String>,
    /// Whether others may have, too.
    missed: bool,
    /// Until when more events are collected.
    until: Option<Instant>,
}

impl Changed {
    /// Waits for an event, and for more within `pause`.
    async fn collect(&mut self, events: &mut Events, pause: Duration) -> Result<(), String> {
        loop {
            let next = match self.until {
                None => events.next().await,
                Some(until) => match timeout_at(until, events.next()).await {
                    Ok(next) => next,
                    Err(_) => return Ok(()),
                },
            };
            match next? {
                Some(name) => drop(self.names.insert(name)),
                None => self.missed = true,
            }
            self.until.get_or_insert_with(|| Instant::now() + pause);
        }
    }
}
