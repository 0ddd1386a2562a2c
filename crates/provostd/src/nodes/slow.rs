//! Steps that take, or took, much longer than usual: on their node, or on half of all nodes.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use provost_store::{Node, SlowStep, StepTime, Store, StoreError};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};

use crate::fleet::recent::Recent;
use crate::listener::Stop;

/// How many times its usual time a step takes that is slow.
const TIMES: u64 = 3;
/// The shortest time that is slow, in milliseconds. What takes seconds varies by as much.
const LEAST: u64 = 10_000;
/// On how many nodes a script must have ended well, for their time to be usual.
const LEAST_NODES: u64 = 5;
/// The shortest time between two reads.
const PACE: Duration = Duration::from_secs(2);
/// A read that took longer is followed by a pause, so that reading uses a fortieth of the time.
const SHARE: u32 = 40;
/// How long a look waits for a read: of a million steps it takes seconds. What was read before is shown then.
const AT_ONCE: Duration = Duration::from_millis(200);
/// How often steps are read while nobody looks, where that takes longer.
const KEPT: Duration = Duration::from_secs(60);
/// Of how many nodes the usual time of the step that runs is kept at most.
const MOST: usize = 200_000;

/// What steps usually take.
pub(crate) struct SlowSteps {
    reader: Arc<Reader>,
    /// Of each node whose step runs for long: the run and the stage, and what that took before.
    running: std::sync::Mutex<HashMap<String, RunningStep>>,
}

/// The run and the stage, and what that took before.
type RunningStep = (String, String, Option<u64>);

/// Reads the steps of all nodes.
struct Reader {
    store: Arc<dyn Store>,
    /// One reads, and the others wait for that.
    turn: Mutex<()>,
    last: std::sync::Mutex<Option<Read>>,
}

/// What was read.
#[derive(Clone)]
struct Read {
    began: Timestamp,
    took: Duration,
    again: Instant,
    known: Arc<Known>,
}

#[derive(Default)]
struct Known {
    /// What each script takes on half of all nodes.
    fleet: BTreeMap<String, u64>,
    /// The slowest step of each node whose last end was slow.
    ended: HashMap<String, SlowStep>,
}

impl Known {
    /// The step, if it is slow.
    fn slow(&self, stage: &str, ms: u64, own: Option<u64>, running: bool) -> Option<SlowStep> {
        let fleet = self.fleet.get(stage).copied();
        let of = [(own, "node"), (fleet, "fleet")];
        let is_slow = |usual: u64| ms >= LEAST && ms > TIMES * usual;
        let (usual_ms, of) =
            of.into_iter().find_map(|(usual, of)| Some((usual.filter(|u| is_slow(*u))?, of)))?;
        Some(SlowStep { stage: stage.to_owned(), ms, usual_ms, of: of.to_owned(), running })
    }
}

impl SlowSteps {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        let reader = Reader { store, turn: Mutex::default(), last: std::sync::Mutex::default() };
        Self { reader: Arc::new(reader), running: std::sync::Mutex::default() }
    }

    /// Reads the steps at the start; and, where a look would wait for that too long, again and again while nodes report.
    pub(crate) async fn keep(self: Arc<Self>, recent: Arc<Recent>, mut stop: Stop) {
        let keeping = async {
            loop {
                let last = self.reader.last();
                let is_due = last
                    .as_ref()
                    .is_none_or(|read| read.took > AT_ONCE && recent.came_since(read.began));
                // If that fails, the next look says why.
                if is_due {
                    let _ = self.reader.read().await;
                }
                let took = self.reader.last().map_or(Duration::ZERO, |read| read.took);
                sleep(KEPT.max(took * SHARE)).await;
            }
        };
        tokio::select! {
            () = keeping => {}
            () = stop.wait() => {}
        }
    }

    /// Adds to each of `nodes`, with its beat, the step that is slow.
    pub(crate) async fn show(&self, nodes: &mut [Node]) -> Result<(), StoreError> {
        let known = self.known().await?;
        let before = self.before(nodes).await?;
        for node in nodes {
            let running = node.running_for.as_ref().zip(node.detail.stage.as_deref());
            let runs = running.and_then(|(running, stage)| {
                let own = before.get(&node.name).copied().flatten();
                known.slow(stage, running.elapsed_ms, own, true)
            });
            node.slow = runs.or_else(|| known.ended.get(&node.name).cloned());
        }
        Ok(())
    }

    /// What the step of each of `nodes` usually takes that runs for long: on this node, or on half of all.
    pub(crate) async fn usual(&self, nodes: &[Node]) -> Result<HashMap<String, u64>, StoreError> {
        let known = self.known().await?;
        let before = self.before(nodes).await?;
        let usual = |node: &Node| {
            let fleet = || known.fleet.get(node.detail.stage.as_ref()?).copied();
            Some((node.name.clone(), before.get(&node.name).copied().flatten().or_else(fleet)?))
        };
        Ok(nodes.iter().filter_map(usual).collect())
    }

    /// The nodes whose last end of a step was slow, the slowest first, by how many times its usual time it took.
    pub(crate) async fn ended(&self) -> Result<Vec<(String, SlowStep)>, StoreError> {
        let known = self.known().await?;
        let mut ended: Vec<(String, SlowStep)> =
            known.ended.iter().map(|(node, slow)| (node.clone(), slow.clone())).collect();
        ended.sort_by(|a, b| b.1.times().cmp(&a.1.times()).then_with(|| a.0.cmp(&b.0)));
        Ok(ended)
    }

    /// What the step took before that each node runs: one query for each new one.
    async fn before(&self, nodes: &[Node]) -> Result<HashMap<String, Option<u64>>, StoreError> {
        let kept = || self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut found, mut new) = (HashMap::new(), Vec::new());
        for node in nodes.iter().filter(|node| node.running_for.is_some()) {
            let (Some(run), Some(stage)) = (&node.run, &node.detail.stage) else { continue };
            match kept().get(&node.name) {
                Some((of_run, of_stage, usual)) if (of_run, of_stage) == (run, stage) => {
                    found.insert(node.name.clone(), *usual);
                }
                _ => new.push((node.name.clone(), run.clone(), stage.clone())),
            }
        }
        if new.is_empty() {
            return Ok(found);
        }
        let steps = new.iter().map(|(node, _, stage)| (node.clone(), stage.clone())).collect();
        let times = self.reader.store.step_times(steps).await?;
        let times: HashMap<&str, Option<u64>> =
            times.iter().map(|time| (&*time.node, time.next_usual())).collect();
        let mut kept = kept();
        if kept.len() + new.len() > MOST {
            kept.clear();
        }
        for (node, run, stage) in new {
            let usual = times.get(&*node).copied().flatten();
            found.insert(node.clone(), usual);
            kept.insert(node, (run, stage, usual));
        }
        Ok(found)
    }

    /// What is known now, or was a while ago where reading it takes long.
    async fn known(&self) -> Result<Arc<Known>, StoreError> {
        let last = self.reader.last();
        if let Some(Read { again, known, .. }) = &last
            && Instant::now() < *again
        {
            return Ok(Arc::clone(known));
        }
        let reader = Arc::clone(&self.reader);
        // It goes on when nobody waits for it any more.
        let reading = tokio::spawn(async move { reader.read().await });
        // Likely it takes as long again; and a page that waits is made the more seldom.
        if let Some(read) = &last
            && read.took > AT_ONCE
        {
            return Ok(Arc::clone(&read.known));
        }
        match timeout(AT_ONCE, reading).await {
            Ok(Ok(known)) => known,
            _ => Ok(last.map(|read| read.known).unwrap_or_default()),
        }
    }
}

impl Reader {
    fn last(&self) -> Option<Read> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn read(&self) -> Result<Arc<Known>, StoreError> {
        let _turn = self.turn.lock().await;
        if let Some(Read { again, known, .. }) = self.last()
            && Instant::now() < again
        {
            return Ok(known);
        }
        let (began, clock) = (Timestamp::now(), Instant::now());
        let fleet = self.store.usual_times(LEAST_NODES).await?;
        let mut known = Known { fleet, ended: HashMap::new() };
        for StepTime { node, script, ms, usual, .. } in self.store.long_steps(LEAST).await? {
            let Some(slow) = known.slow(&script, ms, usual, false) else { continue };
            match known.ended.get(&node) {
                Some(slower) if slower.times() >= slow.times() => {}
                _ => drop(known.ended.insert(node, slow)),
            }
        }
        let (known, took) = (Arc::new(known), clock.elapsed());
        let again = Instant::now() + PACE.max(took * SHARE);
        let read = Read { began, took, again, known: Arc::clone(&known) };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(read);
        Ok(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_slow_on_its_node_or_in_the_fleet_and_never_in_seconds() {
        let fleet = BTreeMap::from([("mount".to_owned(), 4000)]);
        let known = Known { fleet, ended: HashMap::new() };
        let of = |stage, ms, own| known.slow(stage, ms, own, false).map(|slow| slow.of);
        assert_eq!(of("mount", 12_001, Some(4000)).as_deref(), Some("node"));
        assert_eq!(of("mount", 12_001, Some(9000)).as_deref(), Some("fleet"));
        assert_eq!(of("mount", 12_000, Some(4000)), None, "thrice");
        assert_eq!(of("mount", 9_999, Some(1)), None);
        assert_eq!(of("other", 12_001, None), None, "nobody knows");
        assert_eq!(of("other", 12_001, Some(1)).as_deref(), Some("node"));
    }
}
