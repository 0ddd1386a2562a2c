//! A run that is in progress, as somebody follows it: `provost status --wait`, `provost log -f` and
//! `provostctl log -f`.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use provost_tests::{Cluster, Network, Node, processes, program};

/// How long anything may take.
const LIMIT: Duration = Duration::from_secs(60);
/// Prints a line, waits for the test, and prints another.
const SLOW: &str = "#!/bin/bash\necho before\nread -r _ <\"$GATE\"\necho after\n";

fn cluster() -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    let gate = cluster.path("gate");
    assert!(Command::new("mkfifo").arg(&gate).status().unwrap().success());
    cluster.script("slow", SLOW).script("next", "#!/bin/sh\necho next\n");
    cluster.site(&format!(
        "[nodes.cn001]\npostscripts = [\"slow\", \"next\"]\nenv = {{ GATE = {gate:?} }}\n"
    ));
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    (cluster, node)
}

/// Starts a boot, and returns when its first script has printed its first line.
fn boot(node: &Node) -> Child {
    let boot = node.command(&["boot"]).stderr(Stdio::null()).spawn().unwrap();
    let has_begun = || node.provost(&["log", "slow"]).stdout.contains("before");
    assert!(processes::until(LIMIT, has_begun), "{}", node.status());
    boot
}

/// Lets the script go on. What is returned lives until it has read.
#[must_use]
fn open(cluster: &Cluster) -> File {
    // For writing alone it would wait for the script.
    let mut gate = File::options().read(true).write(true).open(cluster.path("gate")).unwrap();
    gate.write_all(b"go\n").unwrap();
    gate
}

/// The lines that a command prints, as they come.
fn lines(child: &mut Child) -> Receiver<String> {
    let (sender, receiver) = channel();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || {
        for line in stdout.lines().map_while(Result::ok) {
            // The test may have ended.
            let _ = sender.send(line);
        }
    });
    receiver
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
fn a_log_is_followed_to_the_end_of_its_script_and_a_status_waits_for_the_run() {
    let (cluster, node) = cluster();
    let mut boot = boot(&node);
    let spawn = |args: &[&str]| node.command(args).stdout(Stdio::piped()).spawn().unwrap();
    let mut wait = spawn(&["status", "--wait"]);
    let mut follow = spawn(&["log", "-f"]);
    let (status, log) = (lines(&mut wait), lines(&mut follow));
    comes(&log, "before");
    assert!(wait.try_wait().unwrap().is_none() && follow.try_wait().unwrap().is_none());
    let _gate = open(&cluster);
    comes(&log, "after");
    assert_eq!(ends(&mut follow), Some(0));
    comes(&status, "boot succeeded");
    assert_eq!((ends(&mut wait), ends(&mut boot)), (Some(0), Some(0)));
    // Nothing runs any more: both end at once.
    let out = node.provost(&["log", "-f", "slow"]).expect(0);
    assert!(out.stdout.contains("before") && out.stdout.contains("after"), "{}", out.stdout);
    node.provost(&["status", "--wait"]).expect(0).says(&[]);
}

#[test]
fn following_ends_with_a_run_that_is_killed() {
    let (_cluster, node) = cluster();
    let mut boot = boot(&node);
    let spawn = |args: &[&str]| node.command(args).stdout(Stdio::piped()).spawn().unwrap();
    let mut wait = spawn(&["status", "--wait"]);
    let mut follow = spawn(&["log", "--follow", "slow"]);
    let (status, log) = (lines(&mut wait), lines(&mut follow));
    comes(&log, "before");
    boot.kill().unwrap();
    boot.wait().unwrap();
    assert_eq!(ends(&mut follow), Some(0));
    comes(&status, "boot was cut off");
    assert_eq!(ends(&mut wait), Some(5));
    node.provost(&["status", "--wait"]).expect(5).says(&[]);
}

#[test]
fn a_status_that_waits_exits_as_the_run_did() {
    let mut cluster = Cluster::new();
    cluster.script("ok", "#!/bin/sh\n").script("fails", "#!/bin/sh\nexit 7\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"ok\"]\n");
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    let out = node.provost(&["status", "--wait"]).expect(0);
    assert!(out.stdout.contains("cn001: no run yet"), "{}", out.stdout);
    // That would be of another folder.
    let wrong = node.path("none.toml").display().to_string();
    node.provost(&["status", "--wait", "--config", &wrong])
        .expect(2)
        .says(&["none.toml", "hint: "]);
    for (script, status) in [("fails", 1), ("ok", 0)] {
        node.provost(&["run", script]).expect(status);
        node.provost(&["status", "--wait"]).expect(status).says(&[]);
        node.provost(&["status"]).expect(0);
    }
    std::fs::remove_dir_all(cluster.path("www")).unwrap();
    std::fs::remove_dir_all(node.path("state")).unwrap();
    let config = std::fs::read_to_string(node.path("provost.toml")).unwrap();
    let soon = format!("{config}[fetch]\ndeadline = \"1s\"\n");
    std::fs::write(node.path("provost.toml"), soon).unwrap();
    node.provost(&["boot"]).expect(3);
    node.provost(&["status", "--wait"]).expect(3).says(&[]);
}

#[test]
fn a_script_does_not_wait_for_its_own_run() {
    let mut cluster = Cluster::new();
    let script = "#!/bin/sh\n\"$PROVOST\" --config \"$CONFIG\" status --wait 2>&1\n\
                  echo \"waiting: $?\"\n\
                  \"$PROVOST\" --config \"$CONFIG\" status --wait --any\necho \"any: $?\"\n";
    cluster.script("asks", script);
    let (provost, config) = (program("provost"), cluster.path("nodes/cn001/provost.toml"));
    cluster.site(&format!(
        "[nodes.cn001]\npostscripts = [\"asks\"]\nenv = {{ PROVOST = {provost:?}, CONFIG = {config:?} }}\n"
    ));
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    let log = node.provost(&["log", "asks"]).expect(0).stdout;
    for text in [
        "waiting for the run that this script is a part of",
        "hint: run `provost status --wait --any`",
        "waiting: 2",
        "boot is running",
        "any: 0",
    ] {
        assert!(log.contains(text), "{text}: {log}");
    }
}

#[test]
fn a_log_is_followed_from_the_management_node() {
    let mut network = Network::new();
    let (cluster, node) = cluster();
    network.join(&node);
    network.join_dead("cn002");
    let config = network.config();
    let mut boot = boot(&node);
    let mut follow = Command::new(program("provostctl"))
        .args(["log", "-f", "--ssh-config", &config, "cn001", "slow"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let log = lines(&mut follow);
    comes(&log, "before");
    let _gate = open(&cluster);
    comes(&log, "after");
    assert_eq!((ends(&mut follow), ends(&mut boot)), (Some(0), Some(0)));

    let follow = |node, script| cluster.ctl(&["log", "-f", "--ssh-config", &config, node, script]);
    let out = follow("cn001", "none").expect(1);
    assert!(out.stderr.contains("there is none"), "{}", out.stderr);
    let out = follow("cn002", "slow").expect(1);
    assert!(out.stderr.contains("check that this works: ssh cn002 true"), "{}", out.stderr);
}
