//! What a node has on its disk, held against what the management node was told.

use serde_json::Value;

use crate::{Cluster, Node};

/// The runs of a service in the node's journal, oldest first, each with its records. Each has to
/// be whole: numbered from 1 without a gap, and all but the last closed.
#[track_caller]
pub fn runs(node: &Node, service: &str) -> Vec<Vec<Value>> {
    let mut runs: Vec<Vec<Value>> = Vec::new();
    for entry in node.journal(service) {
        match runs.last_mut().filter(|run| run[0]["run"] == entry["run"]) {
            Some(run) => run.push(entry),
            None => runs.push(vec![entry]),
        }
    }
    for (at, run) in runs.iter().enumerate() {
        let numbers: Vec<_> = run.iter().map(|entry| entry["seq"].as_u64().unwrap()).collect();
        let expected: Vec<_> = (1..=run.len() as u64).collect();
        assert_eq!(numbers, expected, "{service}, run {at}: {run:#?}");
        assert_eq!(run[0]["phase"], "service start", "{service}, run {at}: {run:#?}");
        let ends = run.iter().filter(|entry| entry["phase"] == "service end").count();
        let closed = run.last().unwrap()["phase"] == "service end" && ends == 1;
        assert!(closed || (at + 1 == runs.len() && ends == 0), "{service}, run {at}: {run:#?}");
    }
    runs
}

/// Asserts that the store has every record of the service's journal exactly once, and no other.
#[track_caller]
pub fn all_is_told(cluster: &Cluster, node: &Node, service: &str) {
    compare(node, service, told(cluster, node, service), runs(node, service));
}

/// The same where runs may have come in another order, by different ways.
#[track_caller]
pub fn each_run_is_told(cluster: &Cluster, node: &Node, service: &str) {
    let sorted = |mut runs: Vec<Vec<Value>>| {
        runs.sort_by_key(|run| run[0]["run"].to_string());
        runs
    };
    let (told, had) = (told(cluster, node, service), runs(node, service));
    compare(node, service, sorted(told), sorted(had));
}

/// The runs of a service that the store has, in the order in which they came.
fn told(cluster: &Cluster, node: &Node, service: &str) -> Vec<Vec<Value>> {
    let shown = cluster.ctl_json(&["show", node.name(), "--runs", "200"]);
    let mut told: Vec<Vec<Value>> = Vec::new();
    for run in shown["runs"].as_array().unwrap().iter().rev() {
        if run["service"] == service {
            told.push(run["records"].as_array().unwrap().clone());
        }
    }
    told
}

#[track_caller]
fn compare(node: &Node, service: &str, told: Vec<Vec<Value>>, had: Vec<Vec<Value>>) {
    for (at, (told, had)) in told.iter().zip(&had).enumerate() {
        assert_eq!(told, had, "{}: run {at} of {service}", node.name());
    }
    assert_eq!(told.len(), had.len(), "{}: runs of {service}", node.name());
}
