//! Relays that die.

use std::time::Duration;

use fastrand::Rng;
use provost_tests::killing::{all_report, boot_while};
use provost_tests::{Daemon, Node, accounts, processes, seed};

use crate::relay::{cluster, is_forwarded, node};

/// How often something is killed.
const KILLS: usize = 24;
/// How long it lives at most.
const LIFE: Duration = Duration::from_millis(400);

#[test]
fn two_relays_and_the_management_node_are_killed_and_nothing_is_lost_or_stored_twice() {
    let mut rng = Rng::with_seed(seed());
    let mut cluster = cluster();
    let address = cluster.daemon().nodes();
    let folders = ["relay1", "relay2"].map(|name| cluster.path(name));
    let mut relays = folders.each_ref().map(|folder| Some(Daemon::relay(folder, &[&address], "")));
    let servers = relays.each_ref().map(|relay| relay.as_ref().unwrap().nodes());
    let nodes: Vec<Node> = (1..=4)
        // Half of them have the other relay first.
        .map(|n| node(&cluster, &format!("cn{n}"), &[&servers[n % 2], &servers[(n + 1) % 2]]))
        .collect();
    boot_while(&nodes, || {
        for round in 0..KILLS {
            processes::until(LIFE.mul_f64(rng.f64()), || false);
            match round % 3 {
                2 => {
                    cluster.kill_daemon();
                    cluster.start_at(&address);
                }
                which => {
                    relays[which].take().unwrap().kill();
                    relays[which] = Some(Daemon::relay(&folders[which], &[&address], ""));
                }
            }
        }
    });
    all_report(&nodes);
    relays.iter().flatten().for_each(is_forwarded);
    nodes.iter().for_each(|node| accounts::each_run_is_told(&cluster, node, "boot"));
}

/// Goes on when it is told to.
const WAITS: &str = "#!/bin/sh\necho begun > \"$ROOT/begun\"\nread -r line < \"$ROOT/go\"\n";

#[test]
fn a_node_whose_relay_dies_in_mid_run_goes_on_at_the_next() {
    let mut cluster = cluster();
    let root = cluster.path("root");
    std::fs::create_dir(&root).unwrap();
    ["begun", "go"].iter().for_each(|name| provost_tests::pipe(&root.join(name)));
    cluster.script("two", WAITS);
    let site = format!(
        "[nodes.cn1]\npostscripts = [\"one\", \"two\", \"three\"]\nenv = {{ ROOT = {root:?} }}\n"
    );
    cluster.site(&site).publish().expect(0);
    let address = cluster.daemon().nodes();
    let (folder, other) = (cluster.path("relay"), cluster.path("other"));
    let first = Daemon::relay(&folder, &[&address], "");
    let second = Daemon::relay(&other, &[&address], "");
    let node = node(&cluster, "cn1", &[&first.nodes(), &second.nodes()]);
    let mut boot = node.spawn(&["boot"]);
    std::fs::read(root.join("begun")).unwrap();
    // Something is acknowledged by the first one alone.
    cluster.kill_daemon();
    let spooled = || crate::relay::health(&first)["spooled"]["records"].as_u64().unwrap() > 0;
    processes::until(Duration::from_secs(3), spooled);
    first.kill();
    std::fs::write(root.join("go"), "go\n").unwrap();
    assert!(boot.wait().unwrap().success());
    cluster.start_at(&address);
    node.provost(&["report"]).expect(0);
    is_forwarded(&second);
    // What the first one has comes later than the end of the run.
    let first = Daemon::relay(&folder, &[&address], "");
    is_forwarded(&first);
    accounts::all_is_told(&cluster, &node, "boot");
    assert_eq!(cluster.status("cn1")["status"], "booted");
    let boot = node.spawn(&["boot"]);
    std::fs::read(root.join("begun")).unwrap();
    std::fs::write(root.join("go"), "go\n").unwrap();
    assert!(boot.wait_with_output().unwrap().status.success());
}
