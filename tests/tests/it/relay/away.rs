//! The management node is away, or silent.

use std::time::{Duration, Instant};

use provost_tests::faults::{Fault, Faulty, Times};
use provost_tests::{Daemon, accounts, killing};

use crate::relay::{SOON, boots, cluster, health, is_forwarded, node, relay};

#[test]
fn a_whole_boot_without_the_management_node_arrives_once_when_it_is_back() {
    let mut cluster = cluster();
    let relay = relay(&cluster);
    let node = node(&cluster, "cn1", &[&relay.nodes()]);
    boots(&node);
    let address = cluster.kill_daemon();
    // One without a memory, as a diskless one is: all that it runs comes from the relay.
    std::fs::remove_dir_all(node.path("state")).unwrap();
    boots(&node);
    let shown = health(&relay);
    assert_eq!(shown["status"], "ok", "{shown:#}");
    assert!(shown["spooled"]["records"].as_u64().unwrap() >= 8, "{shown:#}");
    assert!(shown["upstreams"][0]["unreachableSince"].is_string(), "{shown:#}");
    cluster.start_at(&address);
    is_forwarded(&relay);
    accounts::all_is_told(&cluster, &node, "boot");
    assert_eq!(cluster.status("cn1")["status"], "booted");
    assert!(health(&relay)["upstreams"][0]["unreachableSince"].is_null());
}

#[test]
fn an_older_run_that_comes_later_is_not_the_nodes_status() {
    let cluster = cluster();
    let upstream = Faulty::before(cluster.daemon().nodes());
    let relay = Daemon::relay(&cluster.path("relay"), &[upstream.address()], "");
    let behind = node(&cluster, "cn1", &[&relay.nodes()]);
    boots(&behind);
    cluster.script("two", "#!/bin/sh\nexit 7\n").publish().expect(0);
    // The relay gets what is published now, and then nothing through.
    behind.provost(&["boot"]).expect(1);
    is_forwarded(&relay);
    upstream.fault("/v1/", Times::Always, Fault::Status(503));
    behind.provost(&["boot"]).expect(1);
    cluster.script("two", "#!/bin/sh\n").publish().expect(0);
    let servers = cluster.settings_for(&[&cluster.daemon().nodes()]);
    behind.configure(&format!("{servers}{}", crate::relay::UNGUARDED));
    // At the clocks' resolution the runs are one after the other.
    let second = || std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let failed = second();
    assert!(provost_tests::processes::until(SOON, || second() > failed + 1));
    boots(&behind);
    assert_eq!(cluster.status("cn1")["status"], "booted");
    upstream.repair();
    is_forwarded(&relay);
    let shown = cluster.ctl_json(&["show", "cn1", "--runs", "9"]);
    assert_eq!(shown["runs"].as_array().unwrap().len(), 4, "{shown:#}");
    assert_eq!(shown["node"]["status"], "booted", "{shown:#}");
}

#[test]
fn a_failed_scripts_log_arrives_too() {
    let mut cluster = cluster();
    let relay = relay(&cluster);
    let node = node(&cluster, "cn1", &[&relay.nodes()]);
    boots(&node);
    cluster.script("two", "#!/bin/sh\necho the disk is on fire\nexit 7\n").publish().expect(0);
    // It gets the new scripts, and so does the relay.
    node.provost(&["boot"]).expect(1);
    is_forwarded(&relay);
    let address = cluster.kill_daemon();
    node.provost(&["boot"]).expect(1);
    assert_eq!(health(&relay)["spooled"]["logs"], 1);
    cluster.start_at(&address);
    is_forwarded(&relay);
    accounts::all_is_told(&cluster, &node, "boot");
    let log = cluster.ctl(&["log", "cn1", "two"]).expect(0);
    assert!(log.stdout.contains("on fire"), "{}", log.stdout);
}

#[test]
fn a_management_node_that_stalls_stalls_no_node() {
    let cluster = cluster();
    let upstream = Faulty::before(cluster.daemon().nodes());
    let relay = Daemon::relay(&cluster.path("relay"), &[upstream.address()], "");
    let node = node(&cluster, "cn1", &[&relay.nodes()]);
    boots(&node);
    upstream.fault("/", Times::Always, Fault::Stall);
    let began = Instant::now();
    boots(&node);
    boots(&node);
    // A few requests of 4 s each: some for files, some for reports.
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
    assert!(health(&relay)["spooled"]["records"].as_u64().unwrap() >= 8);
    upstream.repair();
    is_forwarded(&relay);
    accounts::all_is_told(&cluster, &node, "boot");
}

#[test]
fn what_the_management_node_has_stored_and_not_said_is_not_stored_twice() {
    let cluster = cluster();
    let upstream = Faulty::before(cluster.daemon().nodes());
    let relay = Daemon::relay(&cluster.path("relay"), &[upstream.address()], "");
    let node = node(&cluster, "cn1", &[&relay.nodes()]);
    boots(&node);
    upstream.fault("/v1/", Times::Next(3), Fault::Swallow);
    upstream.fault("/v1/", Times::Next(2), Fault::Belie(502));
    upstream.fault("/v1/", Times::Next(2), Fault::ErrorPage);
    boots(&node);
    boots(&node);
    is_forwarded(&relay);
    accounts::all_is_told(&cluster, &node, "boot");
}

/// It has no disk, so the node's own count of attempts begins anew at each boot.
#[test]
fn a_node_that_fails_at_each_boot_is_held_by_the_relay_and_then_by_the_management_node() {
    let mut cluster = killing::cluster("cn[1-4]", "");
    let relay = relay(&cluster);
    let node = node(&cluster, "cn1", &[&relay.nodes()]);
    let boot = || {
        for folder in ["state", "log"] {
            let _ = std::fs::remove_dir_all(node.path(folder));
        }
        node.provost(&["boot"])
    };
    boot().expect(0);
    cluster.script("two", "#!/bin/sh\nexit 7\n").publish().expect(0);
    boot().expect(1);
    is_forwarded(&relay);
    let address = cluster.kill_daemon();
    for _ in 0..3 {
        boot().expect(1);
    }
    let held = boot().expect(4);
    let why = "3 attempts failed (max_attempts = 3); the last: two, exit status 7";
    assert!(held.stderr.contains(why), "{}", held.stderr);
    // To be held is no attempt, and what a relay knows survives it.
    relay.kill();
    let relay = Daemon::relay(&cluster.path("relay"), &[&address], "");
    boot().expect(4);
    cluster.start_at(&address);
    is_forwarded(&relay);
    boot().expect(4);
    cluster.ctl(&["release", "cn1"]).expect(0);
    cluster.script("two", "#!/bin/sh\n").publish().expect(0);
    boot().expect(0);
}

#[test]
fn without_a_management_node_a_node_that_the_relay_does_not_know_keeps_what_it_has() {
    let mut cluster = cluster();
    let relay = relay(&cluster);
    let node = node(&cluster, "cn1", &[&relay.nodes()]);
    let known = node_of(&cluster, "cn2", &relay);
    is_forwarded(&relay);
    let address = cluster.kill_daemon();
    // The relay has never seen its token accepted.
    let out = node.provost(&["kickstart"]);
    assert_ne!(out.code, Some(0), "no plan: {}", out.stderr);
    assert!(node.status()["unreported"].as_u64().unwrap() > 0);
    let spooled = health(&relay)["spooled"]["nodes"].clone();
    assert_eq!(spooled, 0, "nothing of a stranger's");
    boots(&known);
    cluster.start_at(&address);
    node.provost(&["report"]).expect(0);
    is_forwarded(&relay);
    for (node, service) in [(&node, "kickstart"), (&known, "boot")] {
        accounts::all_is_told(&cluster, node, service);
    }
}

/// A node that the relay knows.
fn node_of(cluster: &provost_tests::Cluster, name: &str, relay: &Daemon) -> provost_tests::Node {
    let node = node(cluster, name, &[&relay.nodes()]);
    boots(&node);
    node
}
