//! A node that loses its power in the middle of a script is seen to have fallen silent.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use provost_tests::{Cluster, pipe};

/// Says that it began, and never ends; the next time it is content.
const STUCK_ONCE: &str = r#"#!/bin/bash
# /// provost
# timeout = "10s"
# ///
if [ ! -e "$ROOT/been" ]; then
    touch "$ROOT/been"
    echo begun > "$ROOT/begun"
    sleep 1000
fi
"#;

/// The lines of what the daemon tells from now on.
fn events(admin: String) -> impl Iterator<Item = String> {
    let mut stream = TcpStream::connect(admin).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    write!(stream, "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.is_empty()), "the answer's head");
    lines
}

#[test]
fn a_power_cut_in_a_script_is_told_as_lost_until_the_node_speaks_again() {
    let mut cluster = Cluster::new();
    cluster.configure_daemon("lost_after = \"1s\"\n");
    let root = cluster.path("root");
    std::fs::create_dir(&root).unwrap();
    pipe(&root.join("begun"));
    cluster.script("stuck", STUCK_ONCE);
    let site = format!(
        "[nodes.cn001]\npostscripts = [\"stuck\"]\nenv = {{ ROOT = {:?} }}\n",
        root.display().to_string()
    );
    cluster.site(&site).publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.configure(&format!(
        "servers = [\"http://{}\"]\n[trust]\nkeys = [\"{}\"]\n\
         [run]\ngrace = \"100ms\"\nleak = \"100ms\"\n",
        cluster.daemon().nodes(),
        cluster.key()
    ));
    let mut events = events(cluster.daemon().admin());
    let mut boot = node.spawn(&["boot"]);
    std::fs::read(root.join("begun")).unwrap();
    let told = events.any(|line| line.contains(r#""stage":"stuck""#));
    assert!(told, "the script's start, while it runs");
    boot.kill().unwrap();
    boot.wait().unwrap();
    let start = &node.journal("boot")[3];
    assert_eq!((&start["stage"], &start["limitMs"]), (&"stuck".into(), &10_200.into()), "{start}");
    assert_eq!(node.journal("boot")[1]["limitMs"], 600_000, "the fetch's own limit");

    let waits = ["wait-for", "cn001", "--status", "booted", "--since", "1m"];
    let out = cluster.ctl(&waits).expect(1);
    assert!(out.stderr.contains("cn001 failed: stuck: lost"), "{}", out.stderr);
    let lost = cluster.status("cn001");
    assert_eq!((&lost["status"], &lost["cause"]), (&"failed".into(), &"lost".into()));
    assert_eq!(lost["stage"], "stuck");

    node.provost(&["boot"]).expect(0);
    let back = cluster.status("cn001");
    assert_eq!((&back["status"], &back["cause"]), (&"booted".into(), &serde_json::Value::Null));
    let runs = cluster.ctl_json(&["show", "cn001", "--runs", "2"])["runs"].clone();
    assert_eq!(runs[1]["stages"][1]["cause"], "interrupted", "and what became of the old run");
}
