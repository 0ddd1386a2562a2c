//! A storm is many nodes that boot or install at once; it is done when none of them does any more. The
//! store keeps when it began, so that its end is told once, whichever daemon is there by then.

use std::collections::HashSet;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use provost_record::Cause;
use provost_steplog::wording::error_chain;
use provost_store::{
    Event, Node, Notice, NoticeKind, ServiceChangeKind, Status, Store, StoreError, Storm,
};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::sleep;

/// The pause after some events were missed, or after an error of the store.
const LATER: Duration = Duration::from_secs(3);
/// How many nodes at once are a storm.
const LEAST: usize = 10;
/// How long after its report a node's record becomes an event.
const STORING: SignedDuration = SignedDuration::from_secs(1);

/// The nodes that boot or install now, and what has become of the others since the first began.
#[derive(Default)]
struct Watch {
    running: HashSet<String>,
    storm: Storm,
    seen: HashSet<String>,
    /// Whether so many ran at once that it is a storm.
    is_storm: bool,
}

/// Watches for ever, while this daemon is who delivers.
pub(super) async fn watch(store: &dyn Store) {
    loop {
        let followed = async {
            store.wait_to_deliver().await?;
            follow(store, &mut store.events()).await
        };
        if let Err(error) = followed.await {
            let (hint, why) = (error.hint(), error_chain(&error));
            tracing::error!(hint, "watching for the end of a storm: {why}");
        }
        sleep(LATER).await;
    }
}

/// Follows what happens until some of it is missed, or another daemon delivers.
async fn follow(store: &dyn Store, events: &mut Receiver<Event>) -> Result<(), StoreError> {
    if !store.delivers().await? {
        return Ok(());
    }
    let began = store.storm().await?;
    let mut watch = Watch::of(&store.nodes().await?, began, Timestamp::now());
    let mut is_kept = began.is_some();
    loop {
        if watch.is_storm && !watch.running.is_empty() && !is_kept {
            store.begin_storm(watch.storm.began).await?;
            is_kept = true;
        }
        if is_kept && watch.running.is_empty() {
            // Else the one that delivers tells it: it has seen the same.
            if !store.delivers().await? {
                return Ok(());
            }
            let (kind, at, storm) = (NoticeKind::StormDone, Timestamp::now(), watch.told());
            store.end_storm(Notice { kind, at, node: None, storm: Some(storm) }).await?;
            is_kept = false;
        }
        match events.recv().await {
            Ok(Event::Missed) | Err(RecvError::Lagged(_) | RecvError::Closed) => return Ok(()),
            Ok(event) => watch.note(&event, Timestamp::now()),
        }
    }
}

impl Watch {
    /// Begins with what is known of all nodes, in a storm that `began` then, if one is under way.
    fn of(nodes: &[Node], began: Option<Timestamp>, now: Timestamp) -> Self {
        let mut watch = Self::default();
        let runs = |status| {
            matches!(status, Status::Installing | Status::Netbooting | Status::Postbooting)
        };
        for node in nodes.iter().filter(|node| runs(node.status)) {
            watch.begin(&node.name, began.unwrap_or(now));
        }
        let Some(began) = began else { return watch };
        (watch.is_storm, watch.storm.began) = (true, began);
        // By the clock of the server: `since` is by the node's.
        let took_part = |node: &&Node| node.last_seen.is_some_and(|at| at + STORING >= began);
        for node in nodes.iter().filter(|node| !runs(node.status)).filter(took_part) {
            match (node.status, node.detail.cause) {
                (Status::Failed, Some(Cause::Lost)) => watch.storm.lost += 1,
                (Status::Failed, _) => watch.storm.failed += 1,
                (Status::Defined, _) => continue,
                _ => watch.storm.succeeded += 1,
            }
            watch.seen.insert(node.name.clone());
        }
        watch
    }

    fn begin(&mut self, node: &str, at: Timestamp) {
        if self.running.is_empty() {
            *self = Self { storm: Storm { began: at, ..Storm::default() }, ..Self::default() };
        }
        self.running.insert(node.to_owned());
        self.seen.insert(node.to_owned());
        self.is_storm |= self.running.len() >= LEAST;
    }

    /// The storm as it is told.
    fn told(&self) -> Storm {
        Storm { nodes: self.seen.len() as u64, ..self.storm.clone() }
    }

    fn note(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::Records(arrivals) => {
                for arrival in &arrivals.parts {
                    for change in arrival.services.iter().filter(|change| !change.is_run) {
                        self.service(&arrival.node, change.kind, at);
                    }
                }
            }
            Event::Lost(lost) if self.running.remove(&lost.node) => self.storm.lost += 1,
            _ => {}
        }
    }

    fn service(&mut self, node: &str, change: ServiceChangeKind, at: Timestamp) {
        match change {
            ServiceChangeKind::Began => return self.begin(node, at),
            ServiceChangeKind::Succeeded => self.storm.succeeded += 1,
            ServiceChangeKind::Failed => self.storm.failed += 1,
        }
        self.running.remove(node);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use provost_store::ServiceChangeKind::{Began, Failed, Succeeded};
    use provost_store::{Arrival, Arrivals, Lost, ServiceChange};

    use super::*;

    fn boot(node: u32, kind: ServiceChangeKind) -> Event {
        let services = vec![ServiceChange { kind, is_run: false }];
        let arrival = Arrival { node: format!("cn{node}"), records: 1, services };
        Event::Records(Arc::new(Arrivals::of(vec![arrival], Vec::new())))
    }

    #[test]
    fn a_storm_is_done_with_its_last_node_and_few_nodes_are_none() {
        let done = |watch: &Watch| watch.is_storm && watch.running.is_empty();
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut watch = Watch::default();
        for n in 0..12 {
            watch.note(&boot(n, Began), at(n.into()));
        }
        for n in 0..10 {
            watch.note(&boot(n, Succeeded), at(50));
        }
        watch.note(&boot(10, Failed), at(60));
        assert!(!done(&watch));
        let lost =
            Event::Lost(Arc::new(Lost { node: "cn11".into(), stage: None, last_seen: None }));
        watch.note(&lost, at(90));
        let storm = Storm { nodes: 12, succeeded: 10, failed: 1, lost: 1, began: at(0) };
        assert!(done(&watch));
        assert_eq!(watch.told(), storm);
        for n in 0..9 {
            watch.note(&boot(n, Began), at(100));
        }
        for n in 0..9 {
            watch.note(&boot(n, Succeeded), at(110));
            assert!(!done(&watch), "too few");
        }
    }

    #[test]
    fn a_storm_that_was_under_way_goes_on_with_what_the_store_knows() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let node = |name: &str, status, seen| Node {
            name: name.to_owned(),
            status,
            last_seen: Some(at(seen)),
            ..Node::default()
        };
        let nodes = [
            node("cn1", Status::Netbooting, 120),
            node("cn2", Status::Booted, 130),
            node("cn3", Status::Failed, 140),
            node("before", Status::Booted, 90),
        ];
        let mut watch = Watch::of(&nodes, Some(at(100)), at(200));
        assert!(watch.is_storm && !watch.running.is_empty());
        watch.note(&boot(1, Succeeded), at(210));
        let storm = Storm { nodes: 3, succeeded: 2, failed: 1, lost: 0, began: at(100) };
        assert!(watch.running.is_empty());
        assert_eq!(watch.told(), storm);
        let watch = Watch::of(&nodes, None, at(200));
        assert!(!watch.is_storm && watch.running.len() == 1, "one node is no storm");
    }
}
