//! An xCAT management node is told how far a node is, and costs it nothing.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use provost_tests::xcat::{Habit, Monitor};
use provost_tests::{Cluster, Node, Out, pipe, processes};
use serde_json::json;

/// The longest that anything here is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
const NETBOOTING: &str = "installstatus netbooting";
const POSTBOOTING: &str = "installstatus postbooting";
const BOOTED: &str = "installstatus booted";
const FAILED: &str = "installstatus failed";

/// A node with one script.
fn node(script: &str, monitor: &Monitor) -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    cluster.script("one", script);
    cluster.site("[nodes.cn001]\npostscripts = [\"one\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    configure(&cluster, &node, monitor, "");
    (cluster, node)
}

fn configure(cluster: &Cluster, node: &Node, monitor: &Monitor, more: &str) {
    let server = cluster.daemon().nodes();
    let (key, port) = (cluster.key(), monitor.port());
    node.configure(&format!(
        "servers = [\"http://{server}\"]\n[trust]\nkeys = [\"{key}\"]\n[source]\nkind = \"xcat\"\n\
         monitor_port = {port}\n[fetch]\ndeadline = \"2s\"\n{more}"
    ));
}

/// What is said at the most at the end of a run whose monitor is never there.
const SHORT: &str = "[report]\ndeadline = \"3s\"\n";

fn monitor_of(node: &Node) -> Vec<(String, String)> {
    let status = node.status();
    let all = status["monitor"].as_array().unwrap().clone();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    all.iter().map(|told| (text(&told["told"]), text(&told["result"]))).collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(told, result)| (told.to_string(), result.to_string())).collect()
}

/// A script that is through in two steps: it says that it runs, and waits for the test's word.
fn two_steps(cluster: &Cluster) -> String {
    let (ran, gate) = (cluster.path("ran"), cluster.path("gate"));
    format!("#!/bin/sh\n: >'{}'\nread -r line <'{}'\n", ran.display(), gate.display())
}

#[test]
fn a_script_waits_for_no_monitor_and_a_mended_one_hears_all_in_order() {
    let bad = [
        Habit::Silent,
        Habit::Closes,
        Habit::Leaves,
        Habit::Forgets,
        Habit::Garbage,
        Habit::Trickles,
    ];
    for habit in bad {
        let monitor = Monitor::start(habit);
        let (cluster, node) = node("#!/bin/sh\n", &monitor);
        pipe(&cluster.path("gate"));
        cluster.script("one", &two_steps(&cluster)).publish().expect(0);
        let run = node.spawn(&["boot"]);
        monitor.is_visited();
        let ran = || cluster.path("ran").exists();
        assert!(processes::until(PATIENCE, ran), "{habit:?}: the script waits");
        assert!(monitor.said().is_empty());
        monitor.mend();
        monitor.hears(NETBOOTING);
        std::fs::write(cluster.path("gate"), "go\n").unwrap();
        let out: Out = run.wait_with_output().unwrap().into();
        let out = out.expect(0).says(&["has read: ", "lsdef cn001 -i status"]);
        assert_eq!(monitor.said(), [NETBOOTING, BOOTED], "{habit:?}:\n{}", out.stderr);
        assert_eq!(monitor_of(&node), pairs(&[(NETBOOTING, "read"), (BOOTED, "read")]));
    }
}

#[test]
fn each_fault_is_told_with_its_own_words_and_the_rest_goes_later() {
    for (habit, words) in [
        (Habit::Silent, "no greeting in"),
        (Habit::Closes, "getent hosts"),
        (Habit::Leaves, "instead of an answer"),
        (Habit::Forgets, "instead of an answer"),
        (Habit::Garbage, "HTTP/1.1 400 Bad Request \\u{1b}[31m"),
        (Habit::Trickles, "no greeting in"),
    ] {
        let monitor = Monitor::start(habit);
        let (cluster, node) = node("#!/bin/sh\n", &monitor);
        configure(&cluster, &node, &monitor, SHORT);
        node.provost(&["boot"]).expect(0).says(&["could not be told yet: ", words, "hint: "]);
        let text = node.provost(&["status"]).expect(0).stdout;
        assert!(text.contains("not told yet") && text.contains("hint"), "{habit:?}: {text}");
        node.provost(&["report"]).expect(3).says(&["could not be told yet: "]);
        monitor.mend();
        configure(&cluster, &node, &monitor, "");
        node.provost(&["report"]).expect(0).says(&["has read: installstatus booted"]);
        assert_eq!(monitor.said(), [BOOTED], "{habit:?}");
        node.provost(&["report"]).expect(0);
        assert_eq!(monitor.said(), [BOOTED], "{habit:?}: it is told twice");
    }
}

#[test]
fn a_done_that_comes_late_is_waited_for_and_nothing_is_told_twice() {
    let monitor = Monitor::start(Habit::Late);
    let (_cluster, node) = node("#!/bin/sh\n", &monitor);
    node.provost(&["boot"]).expect(0);
    assert_eq!(monitor.said().last().map(String::as_str), Some(BOOTED));
    assert!(monitor.said().iter().filter(|said| *said == BOOTED).count() == 1);
}

#[test]
fn nodes_that_stand_before_us_and_say_nothing_are_waited_for() {
    let monitor = Monitor::start(Habit::Right);
    let (_cluster, node) = node("#!/bin/sh\n", &monitor);
    let connect = |_| std::net::TcpStream::connect(("127.0.0.1", monitor.port())).unwrap();
    let silent: Vec<_> = (0..5).map(connect).collect();
    node.provost(&["boot"]).expect(0).says(&["has read: "]);
    assert_eq!(monitor.said().last().map(String::as_str), Some(BOOTED));
    drop(silent);
}

#[test]
fn a_kickstart_and_the_boot_after_it_are_told_in_the_words_of_xcat() {
    let monitor = Monitor::refusing();
    let (cluster, node) = node("#!/bin/sh\n", &monitor);
    configure(&cluster, &node, &monitor, SHORT);
    node.provost(&["kickstart"]).expect(0).says(&[
        "could not be told yet: next",
        "Connection refused",
        "nodeset cn001 boot",
    ]);
    let kept = [("installstatus installing", "superseded"), ("next", "waiting")];
    assert_eq!(monitor_of(&node), pairs(&kept));
    assert_eq!(node.status()["unreported"], 0);
    node.provost(&["boot"]).expect(0);
    let kept = [("next", "waiting"), (POSTBOOTING, "superseded"), (BOOTED, "waiting")];
    assert_eq!(monitor_of(&node), pairs(&kept));
    monitor.listen();
    node.provost(&["run", "one"]).expect(0);
    assert_eq!(monitor.said(), ["next", BOOTED]);
    assert!(!node.path("state/report/logs").exists());
}

#[test]
fn a_node_that_failed_does_not_install_itself_again_and_says_that_it_failed() {
    let monitor = Monitor::start(Habit::Right);
    let (cluster, node) = node("#!/bin/sh\nexit 3\n", &monitor);
    configure(&cluster, &node, &monitor, "[guard]\nmax_attempts = 4\n");
    let told = |of: &[&str], code: i32| {
        let before = monitor.said().len();
        node.provost(of).expect(code);
        monitor.said().split_off(before)
    };
    let failed = told(&["kickstart"], 1);
    assert!(failed.ends_with(&["next".to_owned(), FAILED.to_owned()]), "{failed:?}");
    assert_eq!(told(&["boot"], 1).last().unwrap(), FAILED);
    assert!(told(&["run", "one"], 1).is_empty());
    std::fs::remove_file(cluster.www().join("manifest.toml")).unwrap();
    let failed = told(&["kickstart"], 3);
    assert!(failed.ends_with(&["next".to_owned(), FAILED.to_owned()]), "{failed:?}");
    assert_eq!(told(&["boot"], 3).last().unwrap(), FAILED);
    assert_eq!(told(&["boot"], 4).last().unwrap(), FAILED);
    // What can't be recorded, and what is wrong in the configuration.
    node.provost(&["release"]).expect(0);
    std::fs::remove_dir_all(node.path("log/services")).unwrap();
    std::fs::write(node.path("log/services"), "no folder").unwrap();
    assert_eq!(told(&["boot"], 2).last().unwrap(), FAILED);
    std::fs::remove_file(node.path("log/services")).unwrap();
    configure(&cluster, &node, &monitor, "ca = \"/nowhere\"\n");
    assert_eq!(told(&["boot"], 2).last().unwrap(), FAILED);
}

#[test]
fn next_outlives_a_runner_that_is_killed() {
    let monitor = Monitor::start(Habit::Silent);
    let (_cluster, node) = node("#!/bin/sh\n", &monitor);
    let mut run = node.spawn(&["kickstart"]);
    let ended = || {
        let journal = std::fs::read_to_string(node.path("log/services/kickstart.json"));
        journal.is_ok_and(|text| text.contains("service end"))
    };
    assert!(processes::until(PATIENCE, ended));
    run.kill().unwrap();
    run.wait().unwrap();
    monitor.mend();
    node.provost(&["report"]).expect(0);
    assert_eq!(monitor.said(), ["next"]);
    assert_eq!(node.status()["result"], json!("success"));
}

#[test]
fn what_no_disk_takes_is_told_all_the_same() {
    let monitor = Monitor::start(Habit::Right);
    let (_cluster, node) = node("#!/bin/sh\n", &monitor);
    std::fs::create_dir_all(node.path("state/monitor.json/full")).unwrap();
    node.provost(&["boot"]).expect(0).says(&["has read: "]);
    assert_eq!(monitor.said().last().unwrap(), BOOTED);
}

#[test]
fn the_next_server_is_told_where_the_first_is_dead() {
    let monitor = Monitor::start(Habit::Right);
    let (cluster, node) = node("#!/bin/sh\n", &monitor);
    let server = cluster.daemon().nodes();
    let named = server.replace("127.0.0.1", "localhost");
    node.configure(&format!(
        "servers = [\"http://127.0.0.2:1\", \"http://{named}\"]\n[trust]\nkeys = [\"{}\"]\n\
         [source]\nkind = \"xcat\"\nmonitor_port = {}\n",
        cluster.key(),
        monitor.port()
    ));
    node.provost(&["boot"]).expect(0);
    assert_eq!(monitor.said().last().unwrap(), BOOTED);
}
