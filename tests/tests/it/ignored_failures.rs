//! A failure that its policy ignores is never what a run failed by.

use provost_tests::{Cluster, Node};
use serde_json::json;

/// A node whose first step fails and is ignored; the second one fails as `policy` says.
fn node(policy: &str) -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    let script = |policy: &str, body: &str| {
        format!("#!/bin/sh\n# /// provost\n# on_failure = \"{policy}\"\n# ///\n{body}\n")
    };
    cluster.script("ign", &script("ignore", "exit 8"));
    cluster.script("fails", &script(policy, "exit 7"));
    cluster.script("again", &script("ignore", "echo again; exit 9"));
    cluster.site("[nodes.cn001]\npostscripts = [\"ign\", \"fails\", \"again\"]\n");
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    (cluster, node)
}

#[test]
fn the_step_that_failed_the_run_is_to_blame_everywhere() {
    for policy in ["stop", "continue"] {
        let (cluster, node) = node(policy);
        node.provost(&["boot"]).expect(1);
        let status = node.provost(&["status"]).expect(0).stdout;
        assert!(status.contains("\nfails: exit status 7\n"), "{policy}: {status}");
        assert!(!status.contains("provost run ign"), "{policy}: {status}");
        let analysis = node.provost(&["analyze", "--format", "json"]).expect(1).json();
        assert_eq!(analysis["cause"]["stage"], "fails", "{policy}: {analysis:#}");
        assert_eq!(
            analysis["services"][0]["failure"]["stage"].as_str().unwrap_or("fails"),
            "fails"
        );
        let there = cluster.status("cn001");
        let blamed = (&there["stage"], &there["exitCode"]);
        assert_eq!(blamed, (&json!("fails"), &json!(7)), "{policy}: {there:#}");
    }
}
