//! Two daemons over one PostgreSQL database, which are one to nodes.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use provost_tests::killing::{self, UNGUARDED, all_report, boot_while};
use provost_tests::reporters::{Reporters, begins, ends};
use provost_tests::{Cluster, Node, Postgres, accounts, pipe, processes, seed};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// How many nodes report at once.
const NODES: usize = 4;
/// How often something is killed.
const KILLS: usize = 18;
/// How long it lives at most.
const LIFE: Duration = Duration::from_millis(400);
/// The longest that the other daemon may take to know what one has stored.
const SOON: Duration = Duration::from_secs(60);

#[test]
fn daemons_and_their_database_are_killed_and_nothing_is_lost_or_stored_twice() {
    let mut server = Postgres::start();
    let mut rng = Rng::with_seed(seed());
    let daemon = format!("store = {:?}\n{UNGUARDED}", server.database("site"));
    let mut cluster = killing::cluster(&format!("cn[1-{NODES}]"), &daemon);
    let mut another = Some(cluster.start_another("127.0.0.1:0"));
    let addresses = [cluster.daemon().nodes(), another.as_ref().unwrap().nodes()];
    let set_up = |n: usize| {
        let node = cluster.node(&format!("cn{n}"));
        // Half of them have the other daemon first.
        let servers = [&*addresses[n % 2], &*addresses[(n + 1) % 2]];
        node.configure(&format!(
            "{}[fetch]\ndeadline = \"60s\"\n[report]\ndeadline = \"100ms\"\n{UNGUARDED}",
            cluster.settings_for(&servers)
        ));
        node
    };
    let nodes: Vec<Node> = (1..=NODES).map(set_up).collect();
    boot_while(&nodes, || {
        for round in 0..KILLS {
            processes::until(LIFE.mul_f64(rng.f64()), || false);
            match round % 3 {
                0 => {
                    cluster.kill_daemon();
                    cluster.start_at(&addresses[0]);
                }
                1 => {
                    another.take().unwrap().kill();
                    another = Some(cluster.start_another(&addresses[1]));
                }
                _ => {
                    server.kill();
                    server.start_again();
                }
            }
        }
    });
    all_report(&nodes);
    nodes.iter().for_each(|node| accounts::all_is_told(&cluster, node, "boot"));
    let by_both = |admin: &str| cluster.ctl(&["--admin", admin, "nodes"]).expect(0).stdout;
    let another = another.unwrap();
    let [one, other] = [cluster.daemon().socket(), another.socket()];
    // It shows how long ago things were: the second may end between the two.
    let is_one = || by_both(&one) == by_both(&other);
    assert!(processes::until(SOON, is_one), "{}\n{}", by_both(&one), by_both(&other));
}

/// Says that it began, and never ends; the next time it is content.
const STUCK_ONCE: &str = r#"#!/bin/bash
# /// provost
# timeout = "5s"
# ///
if [ ! -e "$ROOT/been" ]; then
    touch "$ROOT/been"
    echo begun > "$ROOT/begun"
    sleep 1000
fi
"#;

#[test]
fn a_node_is_lost_and_comes_back_where_the_daemon_that_it_reported_to_is_gone() {
    let server = Postgres::start();
    let mut cluster = Cluster::new();
    let store = server.database("site");
    cluster.configure_daemon(&format!("store = {store:?}\nlost_after = \"1s\"\n"));
    let root = cluster.path("root");
    std::fs::create_dir(&root).unwrap();
    pipe(&root.join("begun"));
    cluster.script("stuck", STUCK_ONCE);
    let site = format!("[nodes.cn001]\npostscripts = [\"stuck\"]\nenv = {{ ROOT = {root:?} }}\n");
    cluster.site(&site).publish().expect(0);
    cluster.start();
    let another = cluster.start_another("127.0.0.1:0");
    let node = cluster.node("cn001");
    let servers = [&*cluster.daemon().nodes(), &*another.nodes()];
    node.configure(&format!(
        "{}[run]\ngrace = \"100ms\"\nleak = \"100ms\"\n",
        cluster.settings_for(&servers)
    ));
    let waits = ["wait-for", "cn001", "--since", "1m", "--status"];
    let mut boot = node.spawn(&["boot"]);
    std::fs::read(root.join("begun")).unwrap();
    let seen = processes::until(SOON, || {
        let shown = cluster.ctl(&["--admin", &another.socket(), "show", "cn001"]).stdout;
        shown.contains("stuck")
    });
    assert!(seen, "the script's start, at the other daemon");
    boot.kill().unwrap();
    boot.wait().unwrap();
    cluster.kill_daemon();
    let at_the_other =
        |args: &[&str]| cluster.ctl(&[args, &["--admin", &another.socket()]].concat());
    let booted = [&waits[..], &["booted"]].concat();
    let out = at_the_other(&booted).expect(1);
    assert!(out.stderr.contains("cn001 failed: stuck: lost"), "{}", out.stderr);
    // Its token, its attempts and its plan are there as well.
    node.provost(&["boot"]).expect(0);
    at_the_other(&booted).expect(0);
    let shown = at_the_other(&["show", "cn001", "--format", "json"]).expect(0).json();
    assert_eq!(shown["runs"].as_array().unwrap().len(), 2);
    assert_eq!(shown["runs"][0]["attempt"], 2, "the first one counts: {shown:#}");
}

/// Whether somebody watches for nodes that are silent.
const WATCHED: &str = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted
     AND (classid::bigint << 32) + objid::bigint = x'70726f766f737402'::bigint";
/// The node's row, unless a transaction holds it.
const ITS_ROW: &str = "SELECT name FROM provost.node WHERE name = 'cn1' FOR UPDATE SKIP LOCKED";

#[test]
fn a_daemon_that_is_frozen_within_a_transaction_holds_up_neither_the_watch_nor_another_daemon() {
    let server = Postgres::start();
    let mut cluster = Cluster::new();
    cluster
        .configure_daemon(&format!("store = {:?}\nlost_after = \"1s\"\n", server.database("site")));
    cluster.script("s", "#!/bin/sh\n");
    cluster.site("[groups.all]\nnodes = \"cn[1-2]\"\npostscripts = [\"s\"]\n").publish().expect(0);
    cluster.start();
    let reporters = Reporters::new(&cluster, "cn[1-2]");
    let is_watched = || server.sql("site", WATCHED) == "1";
    assert!(processes::until(SOON, is_watched), "{}", server.sql("site", "TABLE pg_locks"));
    let another = cluster.start_another("127.0.0.1:0");
    // The row is there, so that a transaction can hold it.
    reporters.boots(0);
    let body = |run: usize| {
        let record = |seq, own| Reporters::record("cn1", &Reporters::run(0, run), seq, own);
        Value::from_iter([record(1, begins()), record(2, ends("success", ""))]).to_string()
    };
    let reporters = Arc::new(reporters);
    let reporting = Arc::clone(&reporters);
    thread::spawn(move || {
        let mut wire = reporting.connect();
        // Until the daemon is gone.
        (1..).all(|run| wire.try_post(0, &body(run)).is_ok())
    });

    let pid = Pid::from_raw(cluster.daemon().pid() as i32).unwrap();
    let signal = |signal| kill_process(pid, signal).unwrap();
    let mut rng = Rng::with_seed(seed());
    let holds_its_row = processes::until(SOON, || {
        processes::until(Duration::from_millis(50).mul_f64(rng.f64()), || false);
        signal(Signal::STOP);
        // What PostgreSQL has in hand ends.
        let holds = (0..3).all(|_| server.sql("site", ITS_ROW).is_empty());
        if !holds {
            signal(Signal::CONT);
        }
        holds
    });
    assert!(holds_its_row, "it is never within a transaction");
    let is_acknowledged = |address: &str| {
        let answer = reporters.at(address).connect().try_post(0, &body(0)).unwrap();
        answer.starts_with("HTTP/1.1 200 ")
    };
    let other = another.nodes();
    assert!(processes::until(SOON, || is_acknowledged(&other)), "a report to the other daemon");
    let silent = json!({"phase": "stage start", "stage": "disk", "limitMs": 1000});
    reporters.at(&other).send(1, 1, &[begins(), silent]);
    let waits = ["wait-for", "cn2", "--since", "1m", "--status", "booted"];
    let out = cluster.ctl(&[&waits[..], &["--admin", &another.socket()]].concat()).expect(1);
    assert!(out.stderr.contains("cn2 failed: disk: lost"), "{}", out.stderr);
    signal(Signal::CONT);
    // It has lost its connections, and makes new ones.
    let here = cluster.daemon().nodes();
    assert!(processes::until(SOON, || is_acknowledged(&here)), "a report to it when it goes on");
}

#[test]
fn a_database_that_is_frozen_is_told_to_admins_and_nodes_instead_of_an_answer() {
    let server = Postgres::start();
    let mut cluster = Cluster::new();
    cluster.configure_daemon(&format!("store = {:?}\n", server.database("site")));
    cluster.start();
    let reporters = Reporters::new(&cluster, "cn1");
    server.freeze(true);
    let out = cluster.ctl(&["nodes"]).expect(1);
    // Sooner where it takes a new connection.
    let why = "the database didn't answer within ";
    assert!(out.stderr.contains(why) && out.stderr.contains("hint: "), "{}", out.stderr);
    let health = cluster.daemon().answer("/healthz");
    assert!(health.starts_with("HTTP/1.0 503 ") && health.contains("within 5s"), "{health}");
    // Before the node gives up.
    let answer = reporters.connect().try_post(0, "[]").unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("within 5s"), "{answer}");
    server.freeze(false);
    cluster.ctl(&["nodes"]).expect(0);
}

#[test]
fn why_names_the_daemon_from_which_the_nodes_that_failed_fetched() {
    let server = Postgres::start();
    let mut cluster = Cluster::new();
    cluster.configure_daemon(&format!("store = {:?}\n", server.database("site")));
    // Which daemon sends them what is the same; the four fail nevertheless.
    let fails = cluster.path("fails");
    let script = format!("#!/bin/sh\n! grep -qsx $NODE {}\n", fails.display());
    cluster.script("mount_scratch", &script);
    cluster.site("[defaults]\npostscripts = [\"mount_scratch\"]\n[nodes.\"cn[01-20]\"]\n");
    cluster.publish().expect(0);
    cluster.start();
    let another = cluster.start_another("127.0.0.1:0");
    let (one, other) = (cluster.daemon().nodes(), another.nodes());
    let nodes: Vec<Node> = (1..=20).map(|n| cluster.node(&format!("cn{n:02}"))).collect();
    nodes.iter().for_each(|node| drop(node.provost(&["boot"]).expect(0)));
    std::fs::write(fails, "cn01\ncn02\ncn03\ncn04\n").unwrap();
    for node in &nodes[..4] {
        node.configure(&cluster.settings_for(&[&other]));
        node.provost(&["boot"]).expect(1);
    }
    let told = cluster.ctl(&["why", "cn02"]).expect(0).stdout;
    let factor =
        format!("    management node http://{other}: 4 of 4 failed have it, 0 of 16 others\n");
    assert!(told.contains(&factor), "{told}");
    assert!(
        told.contains(&format!("    management node  http://{one} -> http://{other}\n")),
        "{told}"
    );
}
