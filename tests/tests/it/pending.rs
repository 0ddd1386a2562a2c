//! Nodes that try to report and have no valid token: the management node tells of them.

use provost_tests::{Cluster, Node};

fn token(node: &Node, token: &str) -> String {
    let path = node.path("token");
    let before = std::fs::read_to_string(&path).unwrap();
    std::fs::write(path, token).unwrap();
    before
}

#[test]
fn a_node_that_was_given_no_token_is_pending() {
    let mut cluster = Cluster::new();
    cluster.script("hello", "#!/bin/sh\necho hello\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"hello\"]\n");
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    let config = node.path("provost.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    let without: Vec<_> = text.lines().filter(|line| !line.starts_with("token_file")).collect();
    assert_ne!(without.len(), text.lines().count(), "{text}");
    std::fs::write(config, without.join("\n")).unwrap();
    node.provost(&["boot"]).expect(3);
    let pending = &cluster.ctl_json(&["pending"])[0];
    assert_eq!((&pending["node"], &pending["why"]), (&"cn001".into(), &"no-token".into()));
}

#[test]
fn a_node_without_a_valid_token_is_pending_until_it_reports_well() {
    let mut cluster = Cluster::new();
    cluster.script("hello", "#!/bin/sh\necho hello\n");
    cluster.site("[nodes.\"cn[001-002]\"]\npostscripts = [\"hello\"]\n");
    cluster.publish().expect(0);
    cluster.start();
    let none = cluster.ctl(&["pending"]).expect(0);
    assert_eq!(
        none.stdout,
        "no key waits for approval, and no node lacks a valid identity or token\n"
    );
    assert_eq!(cluster.ctl_json(&["pending"]), serde_json::json!([]));
    let (node, other) = (cluster.node("cn001"), cluster.node("cn002"));
    let own = token(&node, &"0".repeat(64));
    let others = token(&other, &own);
    for _ in 0..2 {
        node.provost(&["boot"]).expect(3);
    }
    other.provost(&["boot"]).expect(3);

    let all = cluster.ctl_json(&["pending"]);
    let all = all.as_array().unwrap();
    let of = |key: &str| all.iter().map(|node| node[key].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(of("node"), ["cn001", "cn002"]);
    assert_eq!(of("why"), ["unknown-token", "other-nodes-token"]);
    assert_eq!(of("address"), ["127.0.0.1"; 2]);
    assert!(all[0]["attempts"].as_u64() >= Some(2) && of("since")[0] <= of("last")[0], "{all:?}");
    let shown = cluster.ctl(&["pending"]).expect(0);
    assert!(shown.stdout.contains("\ncn001  unknown token         127.0.0.1"), "{}", shown.stdout);
    assert!(shown.stderr.contains("hint: let a node of yours join"), "{}", shown.stderr);
    let nodes = cluster.ctl(&["nodes"]).expect(0).stderr;
    assert_eq!(nodes, "2 nodes pending without a valid identity or token: provostctl pending\n");

    token(&node, &own);
    node.provost(&["boot"]).expect(0);
    let nodes = cluster.ctl(&["nodes"]).expect(0).stderr;
    assert_eq!(nodes, "1 node pending without a valid identity or token: provostctl pending\n");
    token(&other, &others);
    other.provost(&["boot"]).expect(0);
    assert_eq!(cluster.ctl_json(&["pending"]), serde_json::json!([]));
}
