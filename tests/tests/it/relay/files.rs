//! What is published, through a relay.

use provost_tests::faults::{Fault, Faulty, Times};
use provost_tests::{Daemon, Node, cold};

use crate::relay::{boots, cluster, node, relay};

#[test]
fn cold_nodes_behind_a_relay_cost_what_one_does() {
    let cluster = cluster();
    let upstream = Faulty::before(cluster.daemon().nodes());
    let relay = Daemon::relay(&cluster.path("relay"), &[upstream.address()], "");
    let nodes: Vec<Node> =
        (1..=4).map(|n| node(&cluster, &format!("cn{n}"), &[&relay.nodes()])).collect();
    std::thread::scope(|scope| {
        for node in &nodes {
            scope.spawn(|| {
                for _ in 0..5 {
                    // As a diskless one, which remembers nothing.
                    let _ = std::fs::remove_dir_all(node.path("state"));
                    boots(node);
                }
            });
        }
    });
    let asked = cold::files_asked(&upstream);
    assert!((3..20).contains(&asked.len()), "{asked:?}");
    cold::fetch(&relay.nodes(), &asked, 1000, &cluster.www());
    let asked = cold::files_asked(&upstream);
    assert!(asked.len() < 20, "{asked:?}");
}

#[test]
fn what_is_published_reaches_a_node_at_once() {
    let cluster = cluster();
    let relay = relay(&cluster);
    let node = node(&cluster, "cn1", &[&relay.nodes()]);
    for generation in 1..4_u64 {
        boots(&node);
        let booted = provost_tests::processes::until(crate::relay::SOON, || {
            let shown = cluster.status("cn1");
            shown["status"] == "booted" && shown["bundle"] == generation
        });
        assert!(booted, "{generation}: {:#}", cluster.status("cn1"));
        cluster.script("one", &format!("#!/bin/sh\necho {generation}\n")).publish().expect(0);
    }
}

#[test]
fn a_file_that_came_damaged_is_neither_kept_nor_served() {
    let cluster = cluster();
    let upstream = Faulty::before(cluster.daemon().nodes());
    let relay = Daemon::relay(&cluster.path("relay"), &[upstream.address()], "");
    upstream.fault("/packs/", Times::Next(1), Fault::Flip(100));
    upstream.fault("/objects/", Times::Next(1), Fault::Truncate(3));
    upstream.fault("/packs/", Times::Next(1), Fault::Truncate(100));
    boots(&node(&cluster, "cn1", &[&relay.nodes()]));
    boots(&node(&cluster, "cn2", &[&relay.nodes()]));
}
