//! What admins have done to many nodes on the web page: an order goes to each node by a program of the site, a few
//! at once, and a page follows how that goes.

pub(crate) mod commands;
pub(crate) mod order;
pub(crate) mod start;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use provost_plan::nodes::fold;
use provost_steplog::wording;
use tokio::sync::Semaphore;
use uuid::Uuid;

use commands::Commands;
use order::Order;

/// How many are kept: what they did is in the log of changes, and in what the nodes report.
const MOST: usize = 64;
/// On how many nodes programs run at once, of all jobs together.
const FANOUT: usize = 16;
/// How many failures the log of changes names.
const MOST_REASONS: usize = 3;

/// The newest jobs of this daemon.
pub(crate) struct Jobs {
    /// The newest last.
    known: Mutex<VecDeque<Arc<Job>>>,
    /// Where a program may run.
    places: Semaphore,
}

/// What one admin has asked for, of some nodes.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: String,
    /// The command of `provostctl` that does the same.
    pub(crate) word: &'static str,
    pub(crate) script: Option<String>,
    pub(crate) who: String,
    pub(crate) began: Timestamp,
    /// By name.
    pub(crate) nodes: Vec<String>,
    /// What is typed on them; nothing where provostd does it itself.
    pub(crate) typed: BTreeMap<String, Vec<String>>,
    order: Option<Order>,
    /// The nodes for which it is done, each with why that failed, if it did.
    results: Mutex<BTreeMap<String, Option<String>>>,
}

/// Nodes for which a job failed for one reason.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failures {
    pub(crate) why: String,
    pub(crate) nodes: Vec<String>,
}

impl Default for Jobs {
    fn default() -> Self {
        Self { known: Mutex::default(), places: Semaphore::new(FANOUT) }
    }
}

impl Jobs {
    /// The job of that id.
    pub(crate) fn job(&self, id: &str) -> Option<Arc<Job>> {
        self.known().iter().find(|job| job.id == id).cloned()
    }

    /// Keeps one that begins.
    fn add(&self, job: Job) -> Arc<Job> {
        let job = Arc::new(job);
        let mut known = self.known();
        known.push_back(Arc::clone(&job));
        let more = known.len().saturating_sub(MOST);
        known.drain(..more);
        job
    }

    /// Keeps one that is done, which provostd did itself. Returns its id.
    pub(crate) fn add_done(&self, word: &'static str, who: &str, nodes: Vec<String>) -> String {
        let job = Job::new(word, None, who, nodes, BTreeMap::new(), None);
        job.nodes.iter().for_each(|node| job.end(node, None));
        self.add(job).id.clone()
    }

    fn known(&self) -> MutexGuard<'_, VecDeque<Arc<Job>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Job {
    fn new(
        word: &'static str,
        script: Option<String>,
        who: &str,
        mut nodes: Vec<String>,
        typed: BTreeMap<String, Vec<String>>,
        order: Option<Order>,
    ) -> Self {
        nodes.sort_unstable();
        let (id, began) = (Uuid::now_v7().to_string(), Timestamp::now());
        let who = who.to_owned();
        Self { id, word, script, who, began, nodes, typed, order, results: Mutex::default() }
    }

    /// Notes how it went for one node.
    fn end(&self, node: &str, failure: Option<String>) {
        self.results().insert(node.to_owned(), failure);
    }

    /// For how many nodes it is done, well or not.
    pub(crate) fn ended(&self) -> usize {
        self.results().len()
    }

    /// Where it failed, those of most nodes first.
    pub(crate) fn failures(&self) -> Vec<Failures> {
        let mut groups = BTreeMap::<String, Vec<(String, String)>>::new();
        for (node, failure) in &*self.results() {
            let Some(why) = failure else { continue };
            let group = groups.entry(without_name(why, node)).or_default();
            group.push((node.clone(), why.clone()));
        }
        let group = |(common, nodes): (String, Vec<(String, String)>)| Failures {
            why: if let [(_, why)] = &nodes[..] { why.clone() } else { common },
            nodes: nodes.into_iter().map(|(node, _)| node).collect(),
        };
        let mut groups: Vec<Failures> = groups.into_iter().map(group).collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.nodes.len()));
        groups
    }

    /// What an admin types instead for the nodes where it failed.
    pub(crate) fn by_hand(&self) -> Vec<String> {
        let failed: BTreeSet<String> =
            self.failures().into_iter().flat_map(|group| group.nodes).collect();
        let still = |(command, nodes): (&String, &Vec<String>)| {
            let nodes: Vec<String> =
                nodes.iter().filter(|node| failed.contains(*node)).cloned().collect();
            (!nodes.is_empty()).then(|| (command.clone(), nodes))
        };
        let typed = self.typed.iter().filter_map(still).collect();
        let commands = Commands { typed, unplanned: Vec::new() };
        self.order.map(|order| commands.by_hand(order)).unwrap_or_default()
    }

    /// How it went, for the log of changes.
    fn summary(&self) -> String {
        let failures = self.failures();
        let failed: usize = failures.iter().map(|group| group.nodes.len()).sum();
        if failed == 0 {
            return "done".to_owned();
        }
        let why: Vec<String> = failures
            .iter()
            .take(MOST_REASONS)
            .map(|group| format!("{}: {}", fold(&group.nodes), group.why))
            .collect();
        let all = wording::count(self.nodes.len(), "node");
        format!("failed: {failed} of {all}: {}", why.join("; "))
    }

    fn results(&self) -> MutexGuard<'_, BTreeMap<String, Option<String>>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A message of a node, without the node's own name.
fn without_name(text: &str, node: &str) -> String {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(node).filter(|_| !node.is_empty()) {
        let (before, after) = (&rest[..at], &rest[at + node.len()..]);
        let is_part = before.ends_with(is_of_name) || after.starts_with(is_of_name);
        shown.push_str(before);
        shown.push_str(if is_part { node } else { "NODE" });
        rest = after;
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(nodes: &[&str]) -> Job {
        let nodes = nodes.iter().map(|node| node.to_string()).collect();
        Job::new("boot", None, "lee", nodes, BTreeMap::new(), None)
    }

    #[test]
    fn failures_for_one_reason_are_together() {
        let job = job(&["cn001", "cn002", "cn003", "cn004"]);
        let why = |node: &str| Some(format!("hook: exit status 255: connect to {node}: timed out"));
        job.end("cn001", why("cn001"));
        job.end("cn002", why("cn002"));
        job.end("cn003", None);
        job.end("cn004", Some("hook: exit status 1: cn004: refused".to_owned()));
        assert_eq!(job.ended(), 4);
        let shown: Vec<(String, String)> =
            job.failures().into_iter().map(|group| (fold(&group.nodes), group.why)).collect();
        let expected = [
            ("cn[001-002]", "hook: exit status 255: connect to NODE: timed out"),
            ("cn004", "hook: exit status 1: cn004: refused"),
        ];
        assert_eq!(shown, expected.map(|(nodes, why)| (nodes.to_owned(), why.to_owned())));
        assert!(job.summary().starts_with("failed: 3 of 4 nodes: cn[001-002]: hook: "));
    }

    #[test]
    fn a_name_within_another_word_stays() {
        assert_eq!(without_name("n1: n10, xn1, root@n1", "n1"), "NODE: n10, xn1, root@NODE");
        assert_eq!(without_name("text", ""), "text");
    }

    #[test]
    fn the_newest_are_kept() {
        let jobs = Jobs::default();
        let ids: Vec<String> = (0..MOST + 1)
            .map(|_| jobs.add_done("release", "lee", vec!["cn001".to_owned()]))
            .collect();
        assert!(jobs.job(&ids[0]).is_none());
        assert!(jobs.job(&ids[1]).is_some_and(|job| job.ended() == 1 && job.summary() == "done"));
    }
}
