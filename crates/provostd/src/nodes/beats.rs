//! What nodes say of steps that run for long: the last beat of each node, in memory alone, and the
//! log of a step while somebody follows it.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use provost_api::{Beat, Followed, Growth};
use provost_store::{Node, RunningFor};
use tokio::sync::broadcast;

/// The longest last line, or name of a stage, that is kept, in characters.
const MOST_LINE: usize = 200;
/// How much of a log that is followed is kept, in bytes.
const MOST_KEPT: usize = 256 * 1024;
/// How long after a follower's last request a log is still followed: longer than between two.
const FOLLOWED: Duration = Duration::from_secs(15);
/// How many beats a reader of events may be behind before it misses some.
const BACKLOG: usize = 1024;

/// The last beats.
pub(crate) struct Beats {
    nodes: Mutex<HashMap<String, OfNode>>,
    /// The node of each beat, and of each log that is over.
    news: broadcast::Sender<Arc<str>>,
    /// How often a script has come to another stage of its own.
    stage_changes: AtomicU64,
}

#[derive(Default)]
struct OfNode {
    run: String,
    /// The last beat, without its growth.
    beat: Option<Beat>,
    /// When it came, by the server's clock.
    at: Timestamp,
    /// How many have come.
    count: u64,
    /// What there is of the log, while it is followed.
    log: VecDeque<Growth>,
    followed: Option<Instant>,
}

/// The pieces of a log as one text.
pub(crate) fn text(followed: &Followed) -> String {
    followed.pieces.iter().map(|piece| piece.text.as_str()).collect()
}

impl Default for Beats {
    fn default() -> Self {
        let news = broadcast::Sender::new(BACKLOG);
        Self { nodes: Mutex::default(), news, stage_changes: AtomicU64::new(0) }
    }
}

impl Beats {
    fn nodes(&self) -> MutexGuard<'_, HashMap<String, OfNode>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a beat of `node`, which came at `at`. Returns whether somebody follows the log.
    pub(crate) fn note(&self, node: &str, run: String, mut beat: Beat, at: Timestamp) -> bool {
        let growth = beat.growth.take();
        let inner = beat.inner.iter_mut().flat_map(|inner| [&mut inner.service, &mut inner.stage]);
        for text in beat.line.iter_mut().chain(inner) {
            *text = text.chars().take(MOST_LINE).collect();
        }
        let mut nodes = self.nodes();
        let of = nodes.entry(node.to_owned()).or_default();
        let is_same = of.run == run && of.beat.as_ref().is_some_and(|last| last.log == beat.log);
        let is_followed = of.followed.is_some_and(|at| at.elapsed() < FOLLOWED);
        if !is_same || !is_followed {
            of.log.clear();
        }
        // One whose answer was lost comes again, with more.
        let has = of.log.back().map_or(0, |last| last.to);
        of.log.extend(growth.filter(|growth| is_followed && growth.to > has));
        let bytes =
            |log: &VecDeque<Growth>| log.iter().map(|piece| piece.text.len()).sum::<usize>();
        while of.log.len() > 1 && bytes(&of.log) > MOST_KEPT {
            of.log.pop_front();
        }
        if of.beat.as_ref().and_then(|last| last.inner.as_ref()) != beat.inner.as_ref() {
            self.stage_changes.fetch_add(1, Ordering::Relaxed);
        }
        (of.run, of.beat, of.at) = (run, Some(beat), at);
        of.count += 1;
        drop(nodes);
        // Fails where nobody listens.
        let _ = self.news.send(node.into());
        is_followed
    }

    /// The nodes of the beats that come from now on.
    pub(crate) fn news(&self) -> broadcast::Receiver<Arc<str>> {
        self.news.subscribe()
    }

    /// The nodes that have sent a beat.
    pub(crate) fn names(&self) -> Vec<String> {
        self.nodes().keys().cloned().collect()
    }

    /// Another number after each beat of the node; 0 where there is none.
    pub(crate) fn stamp(&self, node: &str) -> u64 {
        self.nodes().get(node).map_or(0, |of| of.count)
    }

    /// Another number after each beat with another stage of a script's own, of any node.
    pub(crate) fn stage_stamp(&self) -> u64 {
        self.stage_changes.load(Ordering::Relaxed)
    }

    /// Adds to each of `nodes` for how long its stage has run, as its last beat says.
    pub(crate) fn show(&self, shown: &mut [Node]) {
        let nodes = self.nodes();
        if nodes.is_empty() {
            return;
        }
        for node in shown {
            let Some(OfNode { run, beat: Some(beat), at, .. }) = nodes.get(&node.name) else {
                continue;
            };
            let is_running = node.detail.cause.is_none() && !beat.ended;
            if is_running
                && node.run.as_ref() == Some(run)
                && node.detail.stage.as_ref() == Some(&beat.stage)
            {
                let Beat { elapsed_ms, line, inner, .. } = beat.clone();
                node.running_for = Some(RunningFor { elapsed_ms, line, inner, at: *at });
            }
        }
    }

    /// What there is of the log of `script` on `node` after the byte `from`. From now on, for a while,
    /// the node is asked for more.
    pub(crate) fn follow(&self, node: &str, script: &str, from: u64) -> Followed {
        let mut nodes = self.nodes();
        let Some(of) = nodes.get_mut(node) else { return Followed::default() };
        let Some(beat) = of.beat.as_ref().filter(|beat| beat.stage == script) else {
            return Followed::default();
        };
        of.followed = Some(Instant::now());
        let pieces = of.log.iter().filter(|piece| piece.to > from).cloned().collect();
        let (run, log) = (Some(of.run.clone()), Some(beat.log.clone()));
        Followed { run, log, pieces, ended: beat.ended }
    }

    /// Forgets nodes.
    pub(crate) fn remove(&self, names: &[String]) {
        let mut nodes = self.nodes();
        names.iter().for_each(|name| drop(nodes.remove(name)));
    }
}

#[cfg(test)]
mod tests {
    use provost_api::InnerStage;

    use super::*;

    const RUN: &str = "01980000-0000-7000-8000-000000000001";

    fn note(beats: &Beats, log: &str, from: u64, size: usize) -> bool {
        let text = "x".repeat(size);
        let growth = Some(Growth { from, to: from + size as u64, text });
        let line = Some("y".repeat(1000));
        let (stage, log) = ("slow".to_owned(), log.to_owned());
        let text = "z".repeat(1000);
        let inner = InnerStage { service: text.clone(), stage: text, since: Timestamp::UNIX_EPOCH };
        let inner = Some(inner);
        let beat = Beat { stage, log, elapsed_ms: 1, line, inner, ended: false, growth };
        beats.note("cn001", RUN.to_owned(), beat, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn a_log_is_kept_while_it_is_followed_and_no_more_of_it_than_there_is_room_for() {
        let beats = Beats::default();
        assert!(beats.follow("cn001", "slow", 0).run.is_none(), "no beat yet");
        assert!(!note(&beats, "01-slow", 0, 10));
        assert!(beats.follow("cn001", "other", 0).run.is_none());
        assert!(beats.follow("cn001", "slow", 0).pieces.is_empty(), "nobody followed it");
        for at in 0..10 {
            assert!(note(&beats, "01-slow", at * 65_536, 65_536));
        }
        let kept = beats.follow("cn001", "slow", 0).pieces;
        assert_eq!((kept.len(), kept[3].to), (4, 655_360));
        assert_eq!(beats.follow("cn001", "slow", 655_359).pieces.len(), 1);
        assert!(beats.follow("cn001", "slow", 655_360).pieces.is_empty());
        // The next try of the step has a log of its own.
        assert!(note(&beats, "01-slow.2", 0, 1));
        assert_eq!(beats.follow("cn001", "slow", 0).pieces.len(), 1);
        beats.remove(&["cn001".to_owned()]);
        assert!(beats.follow("cn001", "slow", 0).run.is_none());
    }

    #[test]
    fn only_the_stage_that_runs_has_its_beat_shown() {
        let beats = Beats::default();
        note(&beats, "01-slow", 0, 1);
        let mut node = Node { name: "cn001".to_owned(), ..Node::default() };
        node.run = Some(RUN.to_owned());
        let shown = |node: &Node, stage: &str| {
            let mut nodes = [node.clone()];
            nodes[0].detail.stage = Some(stage.to_owned());
            beats.show(&mut nodes);
            nodes[0].running_for.clone()
        };
        let RunningFor { line, inner, .. } = shown(&node, "slow").unwrap();
        let InnerStage { service, stage, .. } = inner.unwrap();
        for text in [line.unwrap(), service, stage] {
            assert_eq!(text.len(), MOST_LINE);
        }
        assert_eq!(shown(&node, "next"), None);
        node.run = None;
        assert_eq!(shown(&node, "slow"), None);
    }
}
