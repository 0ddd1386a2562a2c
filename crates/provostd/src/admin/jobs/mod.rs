//! What admins have done to many nodes on the web page: an order goes to each node by a program of the site, a few
//! at once, and a page follows how that goes. The store keeps it, so that each daemon can show it; one whose daemon
//! is gone is interrupted.

pub(crate) mod carried;
pub(crate) mod commands;
pub(crate) mod order;
pub(crate) mod start;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use provost_plan::nodes::{expand, fold};
use provost_steplog::wording;
use provost_store::{JobState, StoredJob};
use uuid::Uuid;

use commands::Commands;
use order::Order;

/// On how many nodes programs run at once, of all jobs together.
const FANOUT: usize = 16;
/// How many failures the log of changes names.
const MOST_REASONS: usize = 3;

/// What one admin has asked for, of some nodes.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) id: String,
    /// The command of `provostctl` that does the same.
    pub(crate) word: String,
    pub(crate) script: Option<String>,
    pub(crate) who: String,
    pub(crate) began: Timestamp,
    pub(crate) state: JobState,
    /// By name.
    pub(crate) nodes: Vec<String>,
    /// What is typed on them; nothing where provostd does it itself.
    pub(crate) typed: BTreeMap<String, Vec<String>>,
    /// Its entry in the log of changes.
    audit: Option<i64>,
    /// The nodes for which it is done, each with why that failed, if it did.
    results: BTreeMap<String, Option<String>>,
}

/// Nodes for which a job failed for one reason.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failures {
    pub(crate) why: String,
    pub(crate) nodes: Vec<String>,
}

impl Job {
    fn new(
        word: &str,
        script: Option<String>,
        who: &str,
        mut nodes: Vec<String>,
        typed: BTreeMap<String, Vec<String>>,
        audit: Option<i64>,
    ) -> Self {
        nodes.sort_unstable();
        let (id, began) = (Uuid::now_v7().to_string(), Timestamp::now());
        let (word, who, state) = (word.to_owned(), who.to_owned(), JobState::Running);
        Self { id, word, script, who, began, state, nodes, typed, audit, results: <_>::default() }
    }

    /// As the store keeps it, without its results.
    fn to_store(&self) -> provost_store::Job {
        let typed = self.typed.iter().map(|(command, nodes)| (command.clone(), fold(nodes)));
        provost_store::Job {
            id: self.id.clone(),
            began: self.began,
            who: self.who.clone(),
            action: self.word.clone(),
            script: self.script.clone(),
            nodes: fold(&self.nodes),
            typed: typed.collect(),
            audit: self.audit,
        }
    }

    /// For how many nodes it is done, well or not.
    pub(crate) fn ended(&self) -> usize {
        self.results.len()
    }

    /// The nodes for which nothing says how it went.
    pub(crate) fn without_result(&self) -> Vec<String> {
        self.nodes.iter().filter(|node| !self.results.contains_key(*node)).cloned().collect()
    }

    /// Where it failed, those of most nodes first.
    pub(crate) fn failures(&self) -> Vec<Failures> {
        let mut groups = BTreeMap::<String, Vec<(String, String)>>::new();
        for (node, failure) in &self.results {
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
        let failed = self.failures().into_iter().flat_map(|group| group.nodes);
        self.by_hand_of(&failed.collect())
    }

    /// What an admin types instead for these nodes.
    pub(crate) fn by_hand_of(&self, some: &BTreeSet<String>) -> Vec<String> {
        let still = |(command, nodes): (&String, &Vec<String>)| {
            let nodes: Vec<String> =
                nodes.iter().filter(|node| some.contains(*node)).cloned().collect();
            (!nodes.is_empty()).then(|| (command.clone(), nodes))
        };
        let typed: BTreeMap<_, _> = self.typed.iter().filter_map(still).collect();
        let order = Order::of(&self.word).filter(|_| !typed.is_empty());
        let commands = Commands { typed, unplanned: Vec::new() };
        order.map(|order| commands.by_hand(order)).unwrap_or_default()
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
}

impl From<StoredJob> for Job {
    fn from(StoredJob { job, state, results }: StoredJob) -> Self {
        // What was stored was folded by us.
        let nodes = |set: &str| expand(set).unwrap_or_default();
        let typed = job.typed.iter().map(|(command, set)| (command.clone(), nodes(set)));
        let mut named = nodes(&job.nodes);
        named.sort_unstable();
        Self {
            typed: typed.collect(),
            id: job.id,
            word: job.action,
            script: job.script,
            who: job.who,
            began: job.began,
            state,
            nodes: named,
            audit: job.audit,
            results,
        }
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
        let mut job = job(&["cn001", "cn002", "cn003", "cn004"]);
        let why = |node: &str| Some(format!("hook: exit status 255: connect to {node}: timed out"));
        job.results.insert("cn001".to_owned(), why("cn001"));
        job.results.insert("cn002".to_owned(), why("cn002"));
        job.results.insert("cn003".to_owned(), None);
        job.results
            .insert("cn004".to_owned(), Some("hook: exit status 1: cn004: refused".to_owned()));
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
}
