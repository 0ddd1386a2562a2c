//! Runs that are cut off, or that stand in each other's way.

use std::time::Duration;

use provost_tests::processes::until;
use provost_tests::{Cluster, pipe};
use serde_json::json;

use super::{OK, cluster, phases};

#[test]
fn a_second_run_is_refused_while_one_is_going_on() {
    let cluster = cluster(
        "[nodes.cn001]\npostscripts = [\"waits\"]\n",
        &[("waits", "#!/bin/bash\necho begun >\"$PIPE.begun\"\nread -r word <\"$PIPE\"\n")],
    );
    let hold = cluster.path("pipe");
    pipe(&hold);
    pipe(&cluster.path("pipe.begun"));
    cluster
        .site(&format!("[nodes.cn001]\npostscripts = [\"waits\"]\nenv.PIPE = {hold:?}\n"))
        .publish()
        .expect(0);
    let node = cluster.node("cn001");
    let mut first = node.spawn(&["boot"]);
    std::fs::read(cluster.path("pipe.begun")).unwrap();
    node.provost(&["run", "waits"]).expect(6).says(&[
        "another run is in progress",
        "boot",
        "hint: ",
    ]);
    let wait = ["wait-for", "cn001", "--status", "netbooting", "--timeout", "10s"];
    cluster.ctl(&wait).expect(0);
    std::fs::write(&hold, "go\n").unwrap();
    assert!(first.wait().unwrap().success());
    assert_eq!(cluster.status("cn001")["status"], "booted");
}

/// A boot that hangs in its first script, and the line of stderr that says so.
pub(crate) fn hanging() -> (Cluster, provost_tests::Node, std::process::Child) {
    let cluster = cluster(
        "[nodes.cn001]\npostscripts = [\"hangs\", \"later\"]\n",
        &[("later", OK), ("hangs", "#!/bin/bash\necho $$ >\"$PIPE\"\nexec sleep 300\n")],
    );
    let begun = cluster.path("pipe");
    pipe(&begun);
    let site = "[nodes.cn001]\npostscripts = [\"hangs\", \"later\"]\n";
    cluster.site(&format!("{site}env.PIPE = {begun:?}\n")).publish().expect(0);
    let node = cluster.node("cn001");
    let child = node.spawn(&["boot"]);
    std::fs::read(&begun).unwrap();
    (cluster, node, child)
}

#[test]
fn a_run_that_is_ended_by_a_signal_is_interrupted_and_no_success() {
    let (cluster, node, mut child) = hanging();
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(5));
    let journal = node.journal("boot");
    let end = &journal[journal.len() - 2];
    assert_eq!((&end["cause"], &end["result"]), (&json!("interrupted"), &json!("failure")));
    assert_eq!(journal.last().unwrap()["notRun"], json!(["later"]));
    assert_eq!(cluster.status("cn001")["cause"], "interrupted");
}

#[test]
fn a_run_that_was_killed_is_closed_by_the_next_one() {
    let (cluster, node, mut child) = hanging();
    child.kill().unwrap();
    child.wait().unwrap();
    let before = node.journal("boot");
    assert_eq!(before.last().unwrap()["phase"], "stage start");
    cluster.script("hangs", OK).publish().expect(0);
    node.provost(&["boot"]).expect(0).says(&["was cut off"]);
    let journal = node.journal("boot");
    let closed = phases(&journal[before.len()..before.len() + 2]);
    assert_eq!(closed, ["hangs stage end failure", "- service end failure"]);
    assert_eq!(journal[before.len()]["cause"], "interrupted");
    let shown = cluster.ctl_json(&["show", "cn001"]);
    assert_eq!(shown["node"]["status"], "booted");
    assert_eq!(shown["node"]["attempt"], 2);
    assert_eq!(shown["runs"][1]["result"], "failure");
}

#[test]
fn a_boot_that_was_killed_is_closed_by_whatever_runs_next() {
    let (cluster, node, mut child) = hanging();
    child.kill().unwrap();
    child.wait().unwrap();
    cluster.script("hangs", OK).publish().expect(0);
    node.provost(&["run", "hangs"]).expect(0).says(&["was cut off"]);
    let journal = node.journal("boot");
    assert_eq!(journal.last().unwrap()["phase"], "service end");
    let shown = cluster.ctl_json(&["show", "cn001"]);
    assert_eq!(shown["node"]["status"], "failed");
    assert_eq!(shown["node"]["cause"], "interrupted");
}

#[test]
fn whoever_keeps_a_journal_locked_does_not_hang_a_run() {
    let cluster = cluster("[nodes.cn001]\npostscripts = [\"one\"]\n", &[("one", OK)]);
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    let reader = std::fs::File::open(node.path("log/services/boot.json")).unwrap();
    reader.lock_shared().unwrap();
    let mut boot = node.spawn(&["boot"]);
    let ended = until(Duration::from_secs(100), || boot.try_wait().unwrap().is_some());
    if !ended {
        boot.kill().unwrap();
    }
    assert_eq!(boot.wait().unwrap().code(), Some(2));
    let told = cluster.ctl_json(&["show", "cn001"])["node"]["hint"].clone();
    assert!(told.as_str().unwrap().contains("fuser"), "{told}");
    drop(reader);
    node.provost(&["boot"]).expect(0);
}
