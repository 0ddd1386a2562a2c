//! A storm is many nodes that boot or install at once; it is done when none of them does any more.

use std::collections::HashSet;
use std::time::Duration;

use jiff::Timestamp;
use provost_record::{Outcome, Phase};
use provost_store::{Event, Node, Notice, NoticeKind, Status, Storm};
use serde::Deserialize;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::sleep;

use crate::app::App;

/// The pause of a daemon that doesn't deliver, or after an error of the store.
const LATER: Duration = Duration::from_secs(3);
/// How many nodes at once are a storm.
const LEAST: u64 = 10;

/// The nodes that boot or install now, and what has become of the others since the first began.
#[derive(Default)]
struct Watch {
    running: HashSet<String>,
    /// The most that ran at once.
    most: u64,
    storm: Storm,
    seen: HashSet<String>,
}

/// What is read of a record.
#[derive(Deserialize)]
struct Brief {
    phase: Phase,
    service: String,
    node: String,
    result: Option<Outcome>,
}

/// Watches for ever, while this daemon is who delivers.
pub(super) async fn watch(app: &App) {
    loop {
        if !matches!(app.store.delivers().await, Ok(true)) {
            sleep(LATER).await;
            continue;
        }
        let mut events = app.store.events();
        let Ok(nodes) = app.store.nodes().await else {
            sleep(LATER).await;
            continue;
        };
        let mut watch = Watch::default();
        watch.reset(&nodes);
        drop(nodes);
        loop {
            let done = match events.recv().await {
                Ok(event @ Event::Missed) => {
                    drop(event);
                    break;
                }
                Ok(event) => watch.note(&event, Timestamp::now()),
                Err(RecvError::Lagged(_)) => break,
                Err(RecvError::Closed) => return,
            };
            let Some(storm) = done else { continue };
            // What another daemon delivers it has seen as well.
            if !matches!(app.store.delivers().await, Ok(true)) {
                break;
            }
            let (kind, at) = (NoticeKind::StormDone, Timestamp::now());
            let notice = Notice { kind, at, node: None, storm: Some(storm) };
            if let Err(error) = app.store.queue(notice).await {
                tracing::error!(hint = error.hint(), "queueing that a storm is done: {error}");
            }
        }
    }
}

impl Watch {
    /// Begins with what is known of all nodes.
    fn reset(&mut self, nodes: &[Node]) {
        let runs = |node: &&Node| {
            matches!(node.status, Status::Installing | Status::Netbooting | Status::Postbooting)
        };
        for node in nodes.iter().filter(runs) {
            self.begin(&node.name, Timestamp::now());
        }
    }

    fn begin(&mut self, node: &str, at: Timestamp) {
        if self.running.is_empty() {
            (self.most, self.storm) = (0, Storm { began: at, ..Storm::default() });
            self.seen.clear();
        }
        self.running.insert(node.to_owned());
        self.seen.insert(node.to_owned());
        self.most = self.most.max(self.running.len() as u64);
    }

    /// Notes an event. Returns the storm that is done with it.
    fn note(&mut self, event: &Event, at: Timestamp) -> Option<Storm> {
        let ended = match event {
            Event::Record(json) => {
                let brief: Brief = serde_json::from_str(json.get()).ok()?;
                if brief.service == "run" {
                    return None;
                }
                match (brief.phase, brief.result) {
                    (Phase::ServiceStart, _) => {
                        self.begin(&brief.node, at);
                        return None;
                    }
                    (Phase::ServiceEnd, Some(Outcome::Success)) => self.storm.succeeded += 1,
                    (Phase::ServiceEnd, _) => self.storm.failed += 1,
                    _ => return None,
                }
                brief.node
            }
            Event::Lost(lost) if self.running.contains(&lost.node) => {
                self.storm.lost += 1;
                lost.node.clone()
            }
            _ => return None,
        };
        let was_running = self.running.remove(&ended);
        let is_done = was_running && self.running.is_empty() && self.most >= LEAST;
        is_done.then(|| Storm { nodes: self.seen.len() as u64, ..self.storm.clone() })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use provost_store::Lost;
    use serde_json::value::RawValue;

    use super::*;

    fn record(node: u32, more: &str) -> Event {
        let text = format!(r#"{{"service":"boot","node":"cn{node}",{more}}}"#);
        Event::Record(Arc::from(RawValue::from_string(text).unwrap()))
    }

    fn end(result: &str) -> String {
        format!(r#""phase":"service end","result":"{result}""#)
    }

    #[test]
    fn a_storm_is_done_with_its_last_node_and_few_nodes_are_none() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut watch = Watch::default();
        let start = r#""phase":"service start""#;
        for n in 0..12 {
            assert_eq!(watch.note(&record(n, start), at(n.into())), None);
        }
        for n in 0..10 {
            assert_eq!(watch.note(&record(n, &end("success")), at(50)), None);
        }
        assert_eq!(watch.note(&record(10, &end("failure")), at(60)), None);
        let lost =
            Event::Lost(Arc::new(Lost { node: "cn11".into(), stage: None, last_seen: None }));
        let storm = Storm { nodes: 12, succeeded: 10, failed: 1, lost: 1, began: at(0) };
        assert_eq!(watch.note(&lost, at(90)), Some(storm));
        for n in 0..9 {
            watch.note(&record(n, start), at(100));
        }
        for n in 0..9 {
            assert_eq!(watch.note(&record(n, &end("success")), at(110)), None, "too few");
        }
    }
}
