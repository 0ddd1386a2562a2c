//! A step that runs for long says so, and shows its log to those who follow it.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use provost_tests::faults::{Fault, Faulty, Times};
use provost_tests::{Cluster, Node, processes, program};
use serde_json::Value;

/// How long anything may take.
const LIMIT: Duration = Duration::from_secs(60);
/// Prints what it is given, line by line, until it is given `end`, or fails if that is `fail`.
const SLOW: &str = "#!/bin/bash\necho begun\nwhile read -r line; do\n  echo \"got $line\"\n\
                    case $line in end) exit 0 ;; fail) exit 7 ;; esac\ndone <\"$GATE\"\n";

fn cluster() -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    let gate = cluster.path("gate");
    provost_tests::pipe(&gate);
    cluster.script("slow", SLOW).script("next", "#!/bin/sh\necho next\n");
    cluster.site(&format!(
        "[nodes.cn001]\npostscripts = [\"slow\", \"next\"]\nenv = {{ GATE = {gate:?} }}\n"
    ));
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    (cluster, node)
}

/// Starts a boot that beats often.
fn boot(node: &Node) -> Child {
    node.command(&["boot"]).env("PROVOST_BEAT", "100ms").stderr(Stdio::null()).spawn().unwrap()
}

/// What the script reads from.
fn gate(cluster: &Cluster) -> File {
    // For writing alone it would wait for the script.
    File::options().read(true).write(true).open(cluster.path("gate")).unwrap()
}

/// Waits until the node object of cn001 has it.
#[track_caller]
fn shows(cluster: &Cluster, what: impl Fn(&Value) -> bool) {
    let shown = || what(&cluster.status("cn001"));
    assert!(processes::until(LIMIT, shown), "{}", cluster.status("cn001"));
}

fn last_line(node: &Value) -> &str {
    node["runningFor"]["line"].as_str().unwrap_or_default()
}

/// `provostctl log -f cn001 slow`, without any way to the node by ssh.
fn follow(cluster: &Cluster) -> (Child, Receiver<String>) {
    let mut child = Command::new(program("provostctl"))
        .args(["log", "-f", "--ssh-config", "/dev/null", "cn001", "slow"])
        .env("PROVOSTCTL_ADMIN", cluster.daemon().socket())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (sender, receiver) = channel();
    let outputs: [Box<dyn std::io::Read + Send>; 2] =
        [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
    for output in outputs {
        let sender = sender.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                // The test may have ended.
                let _ = sender.send(line);
            }
        });
    }
    (child, receiver)
}

#[track_caller]
fn comes(lines: &Receiver<String>, part: &str) {
    loop {
        let line = lines.recv_timeout(LIMIT).unwrap_or_else(|e| panic!("{part}: {e}"));
        if line.contains(part) {
            return;
        }
    }
}

#[track_caller]
fn ends(child: &mut Child) -> Option<i32> {
    assert!(processes::until(LIMIT, || child.try_wait().unwrap().is_some()));
    child.wait().unwrap().code()
}

#[test]
fn a_step_that_runs_for_long_shows_its_last_line_and_its_log_is_followed_without_ssh() {
    let (cluster, node) = cluster();
    let mut gate = gate(&cluster);
    let mut boot = boot(&node);
    shows(&cluster, |node| last_line(node) == "begun");
    for shown in [&["nodes"][..], &["nodes", "--group"], &["show", "cn001"]] {
        let out = cluster.ctl(shown).expect(0).stdout;
        assert!(out.contains(": begun\n") && out.contains(" s"), "{shown:?}\n{out}");
    }
    let (mut follower, lines) = follow(&cluster);
    comes(&lines, "following slow on cn001");
    comes(&lines, "begun");
    for line in ["one", "two"] {
        writeln!(gate, "{line}").unwrap();
        comes(&lines, &format!("got {line}"));
    }
    shows(&cluster, |node| last_line(node) == "got two");
    writeln!(gate, "end").unwrap();
    comes(&lines, "got end");
    assert_eq!((ends(&mut follower), ends(&mut boot)), (Some(0), Some(0)));
    let shown = cluster.status("cn001");
    assert_eq!((&shown["status"], shown.get("runningFor")), (&"booted".into(), None));
}

#[test]
fn a_run_does_not_notice_that_the_daemon_is_killed_and_its_beats_come_to_the_next_one() {
    let (mut cluster, node) = cluster();
    let mut gate = gate(&cluster);
    let mut boot = boot(&node);
    shows(&cluster, |node| last_line(node) == "begun");
    let (mut follower, lines) = follow(&cluster);
    comes(&lines, "begun");
    let address = cluster.kill_daemon();
    comes(&lines, "retrying every 1 s");
    writeln!(gate, "one").unwrap();
    let has_gone_on = || node.provost(&["log", "slow"]).stdout.contains("got one");
    assert!(processes::until(LIMIT, has_gone_on));
    cluster.start_at(&address);
    comes(&lines, "got one");
    shows(&cluster, |node| last_line(node) == "got one");
    writeln!(gate, "fail").unwrap();
    comes(&lines, "got fail");
    assert_eq!((ends(&mut follower), ends(&mut boot)), (Some(0), Some(1)));
    assert_eq!(cluster.status("cn001")["exitCode"], 7);
}

#[test]
fn a_busy_server_gets_no_beat_before_its_time() {
    let (cluster, node) = cluster();
    let busy = Faulty::before(cluster.daemon().nodes());
    node.configure(&cluster.settings_for(&[busy.address()]));
    busy.fault("/v1/nodes/cn001/runs/", Times::Next(1), Fault::RetryAfter(503, 2));
    let mut gate = gate(&cluster);
    let mut boot = boot(&node);
    shows(&cluster, |node| last_line(node) == "begun");
    let elapsed = cluster.status("cn001")["runningFor"]["elapsedMs"].as_u64();
    assert!(elapsed >= Some(2000), "{elapsed:?}");
    writeln!(gate, "end").unwrap();
    assert_eq!(ends(&mut boot), Some(0));
}

#[test]
fn a_run_without_a_daemon_ends_as_soon_as_its_steps_do() {
    let (mut cluster, node) = cluster();
    let mut gate = gate(&cluster);
    let mut boot = boot(&node);
    shows(&cluster, |node| last_line(node) == "begun");
    cluster.kill_daemon();
    writeln!(gate, "end").unwrap();
    let next = || node.provost(&["log", "next"]).stdout.contains("next");
    assert!(processes::until(Duration::from_secs(10), next), "no step waits for a beat");
    // The records are still to be sent, for `report.deadline`.
    boot.kill().unwrap();
    boot.wait().unwrap();
}
