//! How a failure is told: in words that say what happened, by lines that the script or its commands
//! printed, and in a log that has its cause.

use provost_tests::{Cluster, Node, missing, skip_if};
use serde_json::Value;

/// A node that ran this script, which failed, and the stage of it.
fn failed(script: &str) -> (Cluster, Node, Value) {
    let (cluster, node) = node(script);
    node.provost(&["boot"]).expect(1);
    let stage = node.status()["stages"][1].clone();
    (cluster, node, stage)
}

fn node(script: &str) -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    cluster.script("step", script);
    cluster.site("[nodes.cn001]\npostscripts = [\"step\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    (cluster, node)
}

#[test]
fn a_script_that_left_processes_behind_is_not_told_to_have_failed_with_status_0() {
    let script = "#!/bin/sh\n# /// provost\n# leak = \"fail\"\n# ///\nsleep 600 &\nexit 0\n";
    let (cluster, node, stage) = failed(script);
    assert_eq!(stage["exitCode"], 0);
    let shown = node.provost(&["status"]).stdout + &cluster.ctl(&["show", "cn001"]).stdout;
    assert!(shown.contains("FAILED (left processes behind)"), "{shown}");
    assert!(!shown.contains("(exit status 0)"), "{shown}");
}
