//! The node's own messages: LOG/provost.log, and what holds up no run.

use std::net::UdpSocket;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use provost_tests::{Cluster, Node};

/// The longest that anything here is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// What the end of a run may wait for messages that nobody takes, with what else it does.
const FLUSH: Duration = Duration::from_secs(10);
/// provost.log is put aside when it is longer, in bytes.
const MOST: usize = 1 << 20;

/// A node that runs `script`, one of `good` and `bad`.
fn cluster(script: &str) -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    cluster.script("good", "#!/bin/sh\necho fine\n");
    cluster.script("bad", "#!/bin/bash\nset -e\necho 'so bad' >&2\nfalse\n");
    cluster.site(&format!("[nodes.cn001]\npostscripts = [{script:?}]\n")).publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    (cluster, node)
}

/// LOG/provost.log, or one that was put aside.
fn log(node: &Node, name: &str) -> PathBuf {
    node.path("log").join(name)
}

#[test]
fn provost_log_is_put_aside_when_it_is_long_and_few_of_those_are_kept() {
    let (_cluster, node) = cluster("good");
    std::fs::create_dir_all(node.path("log")).unwrap();
    std::fs::write(log(&node, "provost.log"), "old\n".repeat(MOST / 4)).unwrap();
    for n in 1..=3 {
        std::fs::write(log(&node, &format!("provost.{n}.log")), n.to_string()).unwrap();
    }
    node.provost(&["boot"]).expect(0);
    let read = |name: &str| std::fs::read_to_string(log(&node, name)).unwrap();
    assert!(read("provost.log").len() < MOST / 4 && !read("provost.log").contains("old"));
    assert!(read("provost.1.log").starts_with("old\n"));
    assert_eq!((&*read("provost.2.log"), &*read("provost.3.log")), ("1", "2"));
    assert!(!log(&node, "provost.4.log").exists());
}

#[test]
fn each_line_of_provost_log_has_its_time_and_the_last_ones_of_a_failure_are_there() {
    let (_cluster, node) = cluster("bad");
    node.provost(&["boot"]).expect(1);
    let text = std::fs::read_to_string(log(&node, "provost.log")).unwrap();
    for line in text.lines() {
        let (time, _) = line.split_once(' ').unwrap();
        assert!(time.starts_with("20") && time.ends_with('Z'), "{line}");
    }
    assert!(text.lines().any(|line| line.contains(" error: bad: exit status 1")), "{text}");
    assert!(text.lines().last().unwrap().contains(" boot FAILED after "), "{text}");
}

/// `place` has provost.log's name; the run has to succeed, and soon, all the same.
fn runs_with_log(place: impl FnOnce(PathBuf)) {
    let (cluster, node) = cluster("good");
    std::fs::create_dir_all(node.path("log")).unwrap();
    place(log(&node, "provost.log"));
    let begun = Instant::now();
    node.provost(&["boot"]).expect(0).says(&["boot succeeded"]);
    assert!(begun.elapsed() < FLUSH, "{:?}", begun.elapsed());
    assert_eq!(cluster.status("cn001")["status"], "booted");
}

#[test]
fn a_full_disk_under_provost_log_neither_fails_a_run_nor_holds_it_up() {
    // Each write says that no space is left; see full(4).
    runs_with_log(|log| std::os::unix::fs::symlink("/dev/full", log).unwrap());
}

#[test]
fn a_provost_log_that_hangs_does_not_hold_up_a_run() {
    // An open waits until there is a reader, and nobody does; see fifo(7).
    runs_with_log(|log| {
        let made = std::process::Command::new("mkfifo").arg(log).status().unwrap();
        assert!(made.success());
    });
}

#[test]
fn a_failures_lines_are_errors_and_warnings_in_syslog() {
    let (cluster, node) = cluster("bad");
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    server.set_read_timeout(Some(PATIENCE)).unwrap();
    node.configure(&format!(
        "servers = [\"http://{}\"]\n[trust]\nkeys = [\"{}\"]\n[log]\nsyslog = \"udp://{}\"\n",
        cluster.daemon().nodes(),
        cluster.key(),
        server.local_addr().unwrap()
    ));
    let mut boot = node.command(&["boot"]);
    boot.env("PROVOST_LOG", "debug").stderr(Stdio::null()).status().unwrap();
    let mut lines: Vec<String> = Vec::new();
    while !lines.last().is_some_and(|line| line.contains("boot FAILED")) {
        let mut bytes = [0; 4096];
        let n = server.recv(&mut bytes).expect("the last line comes, too");
        lines.push(String::from_utf8(bytes[..n].to_vec()).unwrap());
    }
    // RFC 5424: local4 is 20, and the severities err, warning and info are 3, 4 and 6.
    let priority =
        |line: &str| line[1..].split('>').next().unwrap().parse::<u8>().unwrap() - 20 * 8;
    for line in &lines {
        let text = line.split(" - ").nth(1).unwrap();
        let is_failure = ["error: ", "FAILED", "hint: ", "  command: ", "  | ", "WARNING: "]
            .iter()
            .any(|t| text.contains(t));
        let expected: &[u8] = if is_failure { &[3, 4] } else { &[6] };
        assert!(expected.contains(&priority(line)), "{line}");
    }
    let error = lines.iter().find(|line| line.contains("error: bad")).unwrap();
    assert_eq!(priority(error), 3);
}

#[test]
fn debug_messages_show_how_long_the_run_the_fetching_and_each_step_took() {
    let (_cluster, node) = cluster("good");
    let quiet = node.provost(&["boot"]).expect(0);
    assert!(!quiet.stderr.contains(" took "), "{}", quiet.stderr);
    let mut boot = node.command(&["boot"]);
    let output = boot.env("PROVOST_LOG", "debug").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    for span in ["fetch", "step good", "run"] {
        let line = text.lines().find(|line| line.starts_with(&format!("provost: {span} took ")));
        assert!(line.is_some_and(|line| line.ends_with("ms") || line.ends_with(" s")), "{text}");
    }
    let log = std::fs::read_to_string(log(&node, "provost.log")).unwrap();
    assert!(log.contains(" step good took "), "{log}");
}

#[test]
fn a_filter_that_can_not_be_read_is_said_and_costs_nothing() {
    let (_cluster, node) = cluster("good");
    for filter in ["provost=loud", "zork"] {
        let output = node.command(&["boot"]).env("PROVOST_LOG", filter).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && text.contains("boot succeeded"), "{text}");
        let warning = format!("provost: warning: reading PROVOST_LOG={filter:?}: ");
        assert!(text.contains(&warning), "{text}");
    }
}
