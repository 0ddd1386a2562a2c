//! `provostctl why`: a changed script fails on the four nodes that have fetched it.

use provost_tests::{Cluster, Node};
use serde_json::Value;

/// A site whose `disk` ends so; the first four nodes are a group.
fn publish(cluster: &Cluster, ending: &str) {
    cluster.script("disk", &format!("#!/bin/sh\necho looking for the disk\n{ending}\n"));
    cluster.publish().expect(0);
}

fn site() -> (Cluster, Vec<Node>) {
    let mut cluster = Cluster::new();
    cluster.site(
        "[defaults]\npostscripts = [\"disk\"]\n[groups.rack1]\nnodes = \"cn[01-04]\"\n\
         [groups.rack2]\nnodes = \"cn[05-16]\"\n",
    );
    publish(&cluster, "");
    cluster.start();
    let nodes: Vec<Node> = (1..=16).map(|n| cluster.node(&format!("cn{n:02}"))).collect();
    for node in &nodes {
        node.provost(&["boot"]).expect(0);
    }
    (cluster, nodes)
}

#[test]
fn what_the_failed_nodes_share_and_what_has_changed_on_one_is_told() {
    let (cluster, nodes) = site();
    let none = cluster.ctl(&["why"]).expect(0);
    assert_eq!(none.stdout, "no node has failed\n");

    publish(&cluster, "exit 3");
    for node in &nodes[..4] {
        node.provost(&["boot"]).expect(1);
    }
    let all = cluster.ctl(&["why"]).expect(0).stdout;
    for factor in ["bundle 2", "group rack1"] {
        let line = format!("    {factor}: 4 of 4 failed have it, 0 of 12 others\n");
        assert!(all.contains(&line), "{all}");
    }
    assert!(all.starts_with("4 failed in disk: exit status 3  @cause:"), "{all}");
    assert_eq!(all.lines().count(), 3, "what all nodes share is none: {all}");
    let id = all.lines().next().unwrap().rsplit_once(' ').unwrap().1;
    assert_eq!(cluster.ctl(&["why", id]).expect(0).stdout, all);
    let nodes = cluster.ctl(&["nodes", "--group"]).expect(0).stdout;
    assert!(nodes.contains("    why    bundle 2: 4 of 4 failed have it"), "{nodes}");

    let one = cluster.ctl(&["why", "cn02"]).expect(0).stdout;
    assert!(one.starts_with(&all), "{one}");
    assert!(one.contains("\nsince disk last succeeded\n    bundle      1 -> 2\n"), "{one}");
    let well = cluster.ctl(&["why", "cn09"]).expect(0).stdout;
    assert_eq!(well, "cn09 has not failed\n");

    let document: Value = cluster.ctl(&["why", "cn02", "--format", "json"]).expect(0).json();
    assert_eq!(document["others"], 12);
    assert_eq!(document["failures"][0]["factors"][0]["value"], "2");
    let bundle = &document["changed"]["differences"][0];
    assert_eq!(bundle, &serde_json::json!({ "name": "bundle", "then": "1", "now": "2" }));
}

#[test]
fn a_failure_that_is_not_there_is_an_error() {
    let mut cluster = Cluster::new();
    cluster.start();
    cluster
        .ctl(&["why", "@cause:abcdef"])
        .expect(1)
        .says(&["no failure has the id abcdef", "hint: "]);
    cluster.ctl(&["why", "cn99"]).expect(1);
    cluster.ctl(&["why", "a b"]).expect(2).says(&["not a node's name"]);
}

#[test]
fn the_first_record_of_a_run_and_the_node_have_its_facts() {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\n").site("[nodes.cn001]\npostscripts = [\"one\"]\n");
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    let history: Value = cluster.ctl(&["show", "cn001", "--format", "json"]).json();
    let facts = &history["node"]["facts"];
    assert_eq!(facts, &history["runs"][0]["records"][0]["facts"], "{history}");
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert_eq!(facts["kernel"], kernel.trim());
    for name in ["os", "arch", "cpus", "memoryMiB"] {
        assert!(facts[name].as_str().is_some_and(|text| !text.is_empty()), "{name}: {facts}");
    }
    let shown = cluster.ctl(&["show", "cn001"]).expect(0).stdout;
    assert!(shown.contains("machine ") && shown.contains(kernel.trim()), "{shown}");
}
