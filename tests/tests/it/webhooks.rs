//! What receivers are told survives kills, comes once from many daemons, and goes by TLS.

use std::time::Duration;

use provost_tests::reporters::{Reporters, begins, ends, failing};
use provost_tests::{Cluster, Node, Postgres, Receiver, processes};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// The longest that anything here is waited for.
const SOON: Duration = Duration::from_secs(60);

fn cluster() -> Cluster {
    let cluster = Cluster::new();
    cluster.script("bad", "#!/bin/sh\necho 'no disk' >&2\nexit 7\n");
    let site = "[groups.all]\nnodes = \"cn[001-003]\"\npostscripts = [\"bad\"]\n";
    cluster.site(site).publish().expect(0);
    cluster
}

/// A configuration with a receiver at `url`.
fn webhook(url: &str, more: &str) -> String {
    format!("[[webhooks]]\nname = \"ops\"\nurl = {url:?}\nwindow = \"10ms\"\n{more}\n")
}

/// The nodes that a receiver was told of, by name.
fn nodes_told(receiver: &Receiver) -> Vec<String> {
    let bodies = receiver.bodies();
    let events = bodies.iter().flat_map(|body| body["events"].as_array().unwrap().clone());
    let mut nodes: Vec<String> =
        events.filter_map(|event| Some(event["node"].as_str()?.to_owned())).collect();
    nodes.sort_unstable();
    nodes
}

fn await_nodes(receiver: &Receiver, expected: &[&str]) {
    let all = || nodes_told(receiver) == expected;
    assert!(processes::until(SOON, all), "{:?}", nodes_told(receiver));
}

#[test]
fn a_daemon_that_is_killed_tells_what_it_has_not_told() {
    let mut cluster = cluster();
    // An address at which nobody listens yet.
    let place = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = place.local_addr().unwrap().to_string();
    drop(place);
    let url = format!("http://{address}/secret-path");
    let page = "[page]\nurl = \"https://mgmt.example:8483/\"\n";
    cluster.configure_daemon(&webhook(&url, page));
    cluster.start();
    let nodes = ["cn001", "cn002"].map(|name| cluster.node(name));
    for node in &nodes {
        node.provost(&["boot"]).expect(1);
    }
    let log = cluster.path("provostd.log");
    let log = || std::fs::read_to_string(&log).unwrap();
    assert!(processes::until(SOON, || log().contains("ops didn't take a message")), "{}", log());
    assert!(!log().contains("secret-path"), "{}", log());
    let address_of_nodes = cluster.kill_daemon();
    let receiver = Receiver::start(&address);
    cluster.start_at(&address_of_nodes);
    await_nodes(&receiver, &["cn001", "cn002"]);
    let body = &receiver.bodies()[0];
    let text = body["text"].as_str().unwrap();
    assert!(text.contains("failed in bad: exit status 7: no disk"), "{text}");
    let page = body["url"].as_str().unwrap();
    assert!(page.starts_with("https://mgmt.example:8483/nodes"), "{page}");
}

/// A management node that tells `receiver`, over a database that others can share.
fn cluster_over(server: &Postgres, receiver: &Receiver) -> Cluster {
    let mut cluster = cluster();
    let store = format!("store = {:?}\n", server.database("site"));
    cluster.configure_daemon(&format!("{store}{}", webhook(&receiver.url(), "")));
    cluster.start();
    cluster
}

#[test]
fn of_two_daemons_over_one_database_one_tells_and_the_other_takes_over() {
    let server = Postgres::start();
    let receiver = Receiver::start("127.0.0.1:0");
    let mut cluster = cluster_over(&server, &receiver);
    let another = cluster.start_another("127.0.0.1:0");
    let daemons = [cluster.daemon().nodes(), another.nodes()];
    let node = |name: &str, n: usize| {
        let node = cluster.node(name);
        node.configure(&cluster.settings_for(&[&daemons[n], &daemons[1 - n]]));
        node
    };
    let nodes: [Node; 3] = [node("cn001", 0), node("cn002", 1), node("cn003", 1)];
    nodes[0].provost(&["boot"]).expect(1);
    nodes[1].provost(&["boot"]).expect(1);
    await_nodes(&receiver, &["cn001", "cn002"]);
    cluster.kill_daemon();
    nodes[2].provost(&["boot"]).expect(1);
    // The one that was killed may not have noted yet what it had told.
    let told = || {
        let mut told = nodes_told(&receiver);
        told.dedup();
        told == ["cn001", "cn002", "cn003"]
    };
    assert!(processes::until(SOON, told), "{:?}", nodes_told(&receiver));
}

#[test]
fn a_daemon_that_is_frozen_while_it_delivers_loses_its_turn() {
    let server = Postgres::start();
    let receiver = Receiver::start("127.0.0.1:0");
    let cluster = cluster_over(&server, &receiver);
    let nodes = Reporters::new(&cluster, "cn[001-003]");
    nodes.fails(0, "no disk");
    await_nodes(&receiver, &["cn001"]);
    let another = cluster.start_another("127.0.0.1:0");
    let pid = Pid::from_raw(cluster.daemon().pid() as i32).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    nodes.at(&another.nodes()).fails(1, "no disk");
    await_nodes(&receiver, &["cn001", "cn002"]);
    // When it goes on, it waits for its turn: nothing is told twice.
    kill_process(pid, Signal::CONT).unwrap();
    nodes.fails(2, "no disk");
    await_nodes(&receiver, &["cn001", "cn002", "cn003"]);
}

#[test]
fn a_receiver_over_tls_is_known_by_the_named_authority_alone() {
    let mut cluster = cluster();
    let tls = "[tls]\nlisten = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\n";
    cluster.configure_daemon(tls);
    cluster.start();
    // It takes no message, but it answers by TLS.
    let admins = cluster.daemon().address("adminTls");
    let port = admins.rsplit(':').next().unwrap();
    let url = format!("https://localhost:{port}/");
    let ca = cluster.path("provostd/ca/authority.pem");
    let start = |folder: &str, more: &str| {
        cluster.configure_daemon(&webhook(&url, more));
        cluster.start_in(folder, "127.0.0.1:0")
    };
    let one = start("by_ca", &format!("ca = {ca:?}"));
    let other = start("by_system", "");
    for (folder, daemon, why) in
        [("by_ca", &one, "it responded 4"), ("by_system", &other, "certificate")]
    {
        let node = cluster.node("cn001");
        let token = cluster.ctl(&["--admin", &daemon.socket(), "token", "--force", "cn001"]);
        std::fs::write(node.path("token"), token.expect(0).stdout).unwrap();
        node.configure(&cluster.settings_for(&[&daemon.nodes()]));
        node.provost(&["boot"]).expect(1);
        let log = cluster.path(folder).join("provostd.log");
        let log = || std::fs::read_to_string(&log).unwrap();
        let told = || log().contains("ops didn't take a message");
        assert!(processes::until(SOON, told), "{}", log());
        let line = log().lines().find(|line| line.contains("didn't take")).unwrap().to_owned();
        assert!(line.to_lowercase().contains(why), "{line}");
    }
}

/// What a receiver was told of storms, once it was told that `last` has booted.
fn storms_told(receiver: &Receiver, last: &str) -> Vec<Value> {
    let is_last = || nodes_told(receiver).iter().any(|node| node == last);
    assert!(processes::until(SOON, is_last), "{:?}", receiver.bodies());
    let mut bodies = receiver.bodies();
    bodies.retain(|body| body["event"] == "storm-done");
    bodies
}

const OF_STORMS: &str = "events = [\"storm-done\", \"booted\"]";

#[test]
fn the_end_of_a_storm_is_told_once_though_its_daemon_was_killed_twice() {
    let receiver = Receiver::start("127.0.0.1:0");
    let mut cluster = cluster();
    cluster.configure_daemon(&webhook(&receiver.url(), OF_STORMS));
    cluster.start();
    let nodes = Reporters::new(&cluster, "n[01-13]");
    (0..12).for_each(|n| nodes.send(n, 1, &[begins()]));
    let succeed = |n| nodes.send(n, 2, &[ends("success", "")]);
    succeed(0);
    let at = cluster.kill_daemon();
    cluster.start_at(&at);
    (1..11).for_each(succeed);
    let at = cluster.kill_daemon();
    cluster.start_at(&at);
    nodes.send(11, 2, &failing("no disk")[2..]);
    let is_told = || receiver.bodies().iter().any(|body| body["event"] == "storm-done");
    assert!(processes::until(SOON, is_told), "{:?}", receiver.bodies());
    // What happens later is told later.
    nodes.boots(12);
    let told = storms_told(&receiver, "n13");
    assert_eq!(told.len(), 1, "{told:?}");
    let storm = &told[0]["storm"];
    let count = |key: &str| storm[key].as_u64().unwrap();
    let counts = ["nodes", "succeeded", "failed", "lost"].map(count);
    assert_eq!(counts, [12, 11, 1, 0], "{storm}");
}

#[test]
fn the_end_of_a_storm_is_told_once_by_two_daemons_over_one_database() {
    let server = Postgres::start();
    let receiver = Receiver::start("127.0.0.1:0");
    let mut cluster = cluster();
    let store = format!("store = {:?}\n", server.database("site"));
    cluster.configure_daemon(&format!("{store}{}", webhook(&receiver.url(), OF_STORMS)));
    cluster.start();
    let another = cluster.start_another("127.0.0.1:0");
    let nodes = Reporters::new(&cluster, "n[01-25]");
    let others = nodes.at(&another.nodes());
    let storm = |range: std::ops::Range<usize>| {
        range.clone().for_each(|n| nodes.send(n, 1, &[begins()]));
        range.for_each(|n| others.send(n, 2, &[ends("success", "")]));
    };
    storm(0..12);
    let done = |count| {
        let told = || receiver.bodies().iter().filter(|b| b["event"] == "storm-done").count();
        assert!(processes::until(SOON, || told() == count), "{:?}", receiver.bodies());
    };
    done(1);
    (12..24).for_each(|n| nodes.send(n, 1, &[begins()]));
    // Both know of it; the one that tells ends.
    others.send(12, 2, &[ends("success", "")]);
    cluster.kill_daemon();
    (13..24).for_each(|n| others.send(n, 2, &[ends("success", "")]));
    done(2);
    others.boots(24);
    let told = storms_told(&receiver, "n25");
    let nodes = told.iter().map(|body| body["storm"]["nodes"].as_u64().unwrap());
    let [first, second] = nodes.collect::<Vec<_>>()[..] else { panic!("{told:?}") };
    // Who takes over counts those as well that reported within a second before the storm.
    assert!(first == 12 && (12..=24).contains(&second), "{told:?}");
}

#[test]
fn what_waits_for_a_receiver_that_is_not_configured_any_more_is_dropped_in_the_end() {
    let mut cluster = cluster();
    let nobody = "http://127.0.0.1:1/";
    cluster.configure_daemon(&webhook(nobody, ""));
    cluster.start();
    let nodes = Reporters::new(&cluster, "n[1-2]");
    (0..2).for_each(|n| nodes.fails(n, "no disk"));
    cluster.kill_daemon();
    // As if four days had gone by since the first of them.
    let file = cluster.path("provostd/provost.db");
    let age = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None); \
               db.execute('UPDATE notice SET at = at - 4 * 86400000 WHERE id = 1')";
    let aged = std::process::Command::new("python3").args(["-c", age]).arg(&file).status();
    assert!(aged.unwrap().success());
    cluster.configure_daemon("");
    cluster.start();
    let log = cluster.path("provostd.log");
    let log = || std::fs::read_to_string(&log).unwrap();
    let line = "dropped 1 event for ops: of 100000 at most, for 3 days at most";
    assert!(processes::until(SOON, || log().contains(line)), "{}", log());
    assert!(log().contains("\"ops\" isn't configured any more"), "{}", log());
    let dropped = "provost_notices_dropped_total{receiver=\"ops\"} 1";
    assert!(cluster.metrics().contains(dropped), "{}", cluster.metrics());
    assert!(cluster.metrics().contains("provost_notice_queue{receiver=\"ops\"} 1"));
}
