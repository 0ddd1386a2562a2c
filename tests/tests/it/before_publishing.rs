//! Nodes that boot before their plan is published: they wait, the admin sees for what, and nobody holds them.

use std::time::{Duration, Instant};

use provost_tests::{Cluster, Node, processes};

const LIMIT: Duration = Duration::from_secs(60);
const WAITS: &str = "no plan is published for it (since ";

/// A management node that has `published` for another node, or nothing yet.
fn cluster(published: bool) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.script("hello", "#!/bin/sh\necho hello\n");
    cluster.site("[nodes.cn009]\npostscripts = [\"hello\"]\n");
    if published {
        cluster.publish().expect(0);
    }
    cluster.start();
    cluster
}

fn node(cluster: &Cluster, deadline: &str) -> Node {
    let node = cluster.node("cn001");
    let settings = cluster.settings_for(&[&cluster.daemon().nodes()]);
    node.configure(&format!("{settings}[fetch]\ndeadline = {deadline:?}\n"));
    node
}

fn publish(cluster: &Cluster) {
    cluster.site("[nodes.\"cn[001,009]\"]\npostscripts = [\"hello\"]\n").publish().expect(0);
}

fn waits(cluster: &Cluster) -> bool {
    let node = cluster.ctl(&["show", "cn001", "--format", "json"]);
    let waits = |text: &str| text.starts_with(WAITS);
    node.code == Some(0) && node.json()["node"]["waiting"].as_str().is_some_and(waits)
}

#[test]
fn a_node_that_waits_runs_when_its_plan_is_published() {
    for published in [true, false] {
        let cluster = cluster(published);
        let node = node(&cluster, "2m");
        let boot = node.spawn(&["boot"]);
        assert!(processes::until(LIMIT, || waits(&cluster)), "{}", cluster.status("cn001"));
        let shown = cluster.status("cn001");
        assert_eq!(shown["status"], "defined", "{shown}");
        assert!(shown.get("cause").is_none() && shown.get("stage").is_none(), "{shown}");
        publish(&cluster);
        let out: provost_tests::Out = boot.wait_with_output().unwrap().into();
        out.expect(0);
        let shown = cluster.status("cn001");
        assert_eq!((&shown["status"], shown.get("waiting")), (&"booted".into(), None), "{shown}");
    }
}

#[test]
fn no_number_of_early_boots_holds_a_node_or_makes_it_failed() {
    let cluster = cluster(true);
    let node = node(&cluster, "1s");
    let begun = Instant::now();
    for _ in 0..4 {
        node.provost(&["boot"]).expect(3).says(&["still trying, for up to 1s", "404"]);
    }
    // The last try of each is as near to its end as the pause between two allows.
    assert!(begun.elapsed() >= Duration::from_secs(2), "{:?}", begun.elapsed());
    let shown = cluster.status("cn001");
    assert_eq!(shown["status"], "defined");
    let since = shown["waiting"].as_str().unwrap().to_owned();
    assert!(since.starts_with(WAITS), "{since}");
    let text = cluster.ctl(&["nodes"]).expect(0).stdout;
    let row = text.lines().find(|line| line.starts_with("cn001  defined  ")).unwrap_or_default();
    assert!(
        row.contains("no plan is published for it (since ") && !text.contains("failed"),
        "{text}"
    );
    // The same since its first boot.
    node.provost(&["boot"]).expect(3);
    assert_eq!(cluster.status("cn001")["waiting"], since);
    // Nobody waits by hand.
    let begun = Instant::now();
    node.configure(&cluster.settings_for(&[&cluster.daemon().nodes()]));
    node.provost(&["run", "hello"]).expect(3).says(&["404"]);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());

    publish(&cluster);
    node.provost(&["boot"]).expect(0);
    assert_eq!(cluster.status("cn001")["status"], "booted");
}

#[test]
fn an_installer_waits_for_its_deadline_and_the_node_is_not_failed() {
    let cluster = cluster(true);
    let node = node(&cluster, "1s");
    node.provost(&["kickstart"]).expect(3);
    let shown = cluster.status("cn001");
    assert_eq!(shown["status"], "defined", "{shown}");
    publish(&cluster);
    node.provost(&["kickstart"]).expect(0);
    assert_eq!(cluster.status("cn001")["status"], "booting");
    // Another failure to fetch is one.
    std::fs::remove_dir_all(cluster.www().join("objects")).unwrap();
    std::fs::remove_dir_all(node.path("state/bundles")).unwrap();
    node.provost(&["boot"]).expect(3);
    assert_eq!(cluster.status("cn001")["status"], "failed");
}
