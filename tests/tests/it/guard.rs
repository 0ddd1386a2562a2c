//! A node that fails again and again is held, whatever becomes of its reports.

use std::os::unix::process::CommandExt;
use std::time::{Duration, Instant};

use provost_tests::faults::Faulty;
use provost_tests::{Cluster, Node};
use serde_json::{Value, json};

/// Notes that it ran, then does what the file `what` says.
const STEP: &str = "#!/bin/sh\necho \"$PROVOST_STAGE\" >>\"$FOLDER/notes\"\n. \"$FOLDER/what\"\n";

fn cluster() -> Cluster {
    let mut cluster = Cluster::new();
    let folder = cluster.path("");
    cluster.script("step", STEP).script("later", STEP);
    cluster
        .site(&format!(
            "[nodes.cn001]\npostscripts = [\"step\", \"later\"]\n\
             [nodes.cn001.env]\nFOLDER = {folder:?}\n"
        ))
        .publish()
        .expect(0);
    cluster.start();
    does(&cluster, "exit 3");
    cluster
}

/// What the scripts do from now on.
fn does(cluster: &Cluster, what: &str) {
    std::fs::write(cluster.path("what"), what).unwrap();
}

fn ran(cluster: &Cluster) -> usize {
    std::fs::read_to_string(cluster.path("notes")).unwrap_or_default().lines().count()
}

/// Has the node fetch from `server`, and not wait long for it to take reports.
fn use_server(cluster: &Cluster, node: &Node, server: &str) {
    node.configure(&format!(
        "servers = [\"http://{server}\"]\n[trust]\nkeys = [\"{}\"]\n\
         [fetch]\nconnect_timeout = \"1s\"\ndeadline = \"2s\"\n[report]\ndeadline = \"1s\"\n",
        cluster.key()
    ));
}

/// The records of the last run.
fn last_run(node: &Node, service: &str) -> Vec<Value> {
    let journal = node.journal(service);
    let run = journal.last().unwrap()["run"].clone();
    journal.into_iter().filter(|record| record["run"] == run).collect()
}

#[test]
fn a_run_that_goes_on_to_its_end_is_no_attempt() {
    let cluster = cluster();
    let node = cluster.node("cn001");
    let config = std::fs::read_to_string(node.path("provost.toml")).unwrap();
    let goes_on = format!("{config}[run]\non_failure = \"continue\"\n");
    std::fs::write(node.path("provost.toml"), goes_on).unwrap();
    // One more than the guard allows, here and at the management node.
    for runs in 1..=4 {
        node.provost(&["boot"]).expect(1);
        assert_eq!(ran(&cluster), 2 * runs);
    }
    let shown = cluster.ctl(&["nodes"]).stdout;
    assert!(shown.contains("2 of 2 steps failed: step, later"), "{shown}");
    assert_eq!(cluster.status("cn001")["status"], "failed");
    let end = node.journal("boot").pop().unwrap();
    assert_eq!(end["stagesFailed"], json!(["step", "later"]));
}

#[test]
fn boots_before_the_plan_is_published_are_no_attempts() {
    let cluster = cluster();
    let node = cluster.node("cn002");
    let config = std::fs::read_to_string(node.path("provost.toml")).unwrap();
    let soon = format!("{config}[fetch]\ndeadline = \"1s\"\n");
    std::fs::write(node.path("provost.toml"), soon).unwrap();
    // One more than the guard allows, here and at the management node.
    for _ in 1..=4 {
        let said = node.provost(&["boot"]).expect(3);
        assert!(!said.stderr.contains("held"), "{}", said.stderr);
    }
    assert_eq!(cluster.status("cn002")["status"], "defined");
    let site = "[nodes.\"cn[001-002]\"]\npostscripts = [\"step\"]\nenv.FOLDER = ";
    cluster.site(&format!("{site}{:?}\n", cluster.path(""))).publish().expect(0);
    does(&cluster, "exit 0");
    node.provost(&["boot"]).expect(0);
    assert_eq!(cluster.status("cn002")["status"], "booted");
    // Nobody is there: the same.
    use_server(&cluster, &node, "127.0.0.1:1");
    for _ in 1..=4 {
        node.provost(&["boot"]).expect(3);
    }
}

#[test]
fn a_kickstart_that_always_fails_is_held_though_every_report_is_lost() {
    let cluster = cluster();
    let node = cluster.node("cn001");
    let files = Faulty::of(cluster.www());
    use_server(&cluster, &node, files.address());
    std::fs::create_dir_all(node.path("etc")).unwrap();
    let motd = || std::fs::read_to_string(node.path("etc/motd.d/provost")).unwrap_or_default();
    for _ in 0..3 {
        node.provost(&["kickstart"]).expect(1).says(&["not sent yet"]);
    }
    assert_eq!(ran(&cluster), 3);
    let out = node.provost(&["kickstart"]).expect(4);
    out.says(&[
        "this node is held",
        "3 runs in a row",
        ", exit status ",
        "provost release",
        "provostctl release cn001",
    ]);
    assert_eq!(ran(&cluster), 3, "nothing runs");
    let records = last_run(&node, "kickstart");
    let phases: Vec<_> = records.iter().map(|r| r["phase"].as_str().unwrap()).collect();
    assert_eq!(phases, ["service start", "service end"]);
    assert_eq!(records[0]["attempt"], 4);
    let end = &records[1];
    assert_eq!((&end["result"], &end["cause"]), (&json!("failure"), &json!("held")));
    assert!(end["hint"].as_str().unwrap().contains("provost release"), "{end}");

    assert!(motd().contains("is held"), "{}", motd());
    let status = node.provost(&["status"]).expect(0).stdout;
    for part in ["kickstart FAILED", "held", "3 runs in a row", "provost release"] {
        assert!(status.contains(part), "{part} isn't in\n{status}");
    }

    // A boot is held as well, and soon, though no server is there at all; an admin isn't.
    files.refuse();
    let begun = Instant::now();
    node.provost(&["boot"]).expect(4);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    files.accept();
    node.provost(&["run", "step"]).expect(1);
    does(&cluster, "exit 0");
    node.provost(&["boot"]).expect(4);
    node.provost(&["release"]).expect(0).says(&["3 attempts forgotten", "provostctl release"]);
    assert_eq!(motd(), "");
    node.provost(&["boot"]).expect(0);
}

#[test]
fn a_power_cut_in_each_run_ends_in_held() {
    let cluster = cluster();
    let node = cluster.node("cn001");
    let files = Faulty::of(cluster.www());
    use_server(&cluster, &node, files.address());
    let lock = node.path("state/lock");
    let kill = format!("kill -9 -$(sed 's/.*process //' {lock:?})\nsleep 5; exit 3\n");
    does(&cluster, &kill);
    for _ in 0..3 {
        let status = node.command(&["boot"]).process_group(0).status().unwrap();
        assert_eq!(status.code(), None, "it was killed");
    }
    node.provost(&["boot"]).expect(4).says(&["was cut off", "this node is held"]);
    assert_eq!(ran(&cluster), 3);
}

#[test]
fn a_run_that_ends_well_forgets_those_that_did_not() {
    let cluster = cluster();
    let node = cluster.node("cn001");
    for what in ["exit 3", "exit 3", "exit 0", "exit 3", "exit 3", "exit 0"] {
        does(&cluster, what);
        node.provost(&["boot"]).expect(i32::from(what != "exit 0"));
    }
    assert_eq!(cluster.status("cn001")["status"], "booted");
    let attempts: Vec<Value> =
        node.journal("boot").iter().filter_map(|r| r.get("attempt").cloned()).collect();
    assert_eq!(attempts, [1, 2, 3, 1, 2, 3]);
}

#[test]
fn the_management_node_shows_who_is_held_and_can_release_it() {
    let cluster = cluster();
    let node = cluster.node("cn001");
    for _ in 0..3 {
        node.provost(&["boot"]).expect(1);
    }
    node.provost(&["boot"]).expect(4);
    let told = cluster.status("cn001");
    assert_eq!((&told["status"], &told["cause"]), (&json!("failed"), &json!("held")));
    assert!(told["hint"].as_str().unwrap().contains("provostctl release cn001"), "{told}");
    assert_eq!(ran(&cluster), 3);
    cluster.ctl(&["release", "cn001"]).expect(0);
    does(&cluster, "exit 0");
    node.provost(&["boot"]).expect(0).says(&["the management node has released this node"]);
    assert_eq!(cluster.status("cn001")["status"], "booted");
}

#[test]
fn a_node_without_a_disk_that_the_management_node_holds_shows_why_everywhere() {
    let cluster = cluster();
    let node = cluster.node("cn001");
    std::fs::create_dir_all(node.path("etc")).unwrap();
    does(&cluster, "echo 'lustre01 does not answer' >&2; exit 1");
    for _ in 0..3 {
        node.provost(&["boot"]).expect(1);
        std::fs::remove_dir_all(node.path("state")).unwrap();
    }
    let why = "the last: step, exit status 1, lustre01 does not answer";
    let held = node.provost(&["boot"]).expect(4);
    let held = held.says(&["the management node holds this node", why]);
    // What doesn't help isn't advised.
    let hint = "fix it, then, on the management node: provostctl release cn001; then here: provost boot --continue\n";
    assert!(
        held.stderr.contains(hint) && !held.stderr.contains("provost release"),
        "{}",
        held.stderr
    );
    let motd = std::fs::read_to_string(node.path("etc/motd.d/provost")).unwrap();
    let shown = [
        motd,
        node.provost(&["status"]).expect(0).stdout,
        cluster.ctl(&["nodes"]).expect(0).stdout,
        cluster.ctl(&["nodes", "--group"]).expect(0).stdout,
        cluster.ctl(&["show", "cn001"]).expect(0).stdout,
    ];
    for text in shown {
        assert!(text.contains(why), "{text}");
    }
}

#[test]
fn a_node_that_was_released_on_both_sides_is_not_held_by_what_it_reports_late() {
    let cluster = cluster();
    let node = cluster.node("cn001");
    let files = Faulty::of(cluster.www());
    use_server(&cluster, &node, files.address());
    for _ in 0..3 {
        node.provost(&["boot"]).expect(1).says(&["not sent yet"]);
    }
    node.provost(&["release"]).expect(0);
    cluster.ctl(&["release", "cn001"]).expect(0);
    does(&cluster, "sleep 1");
    node.configure(&cluster.settings_for(&[&cluster.daemon().nodes()]));
    node.provost(&["boot"]).expect(0);
    assert_eq!(cluster.status("cn001")["status"], "booted");
    assert_eq!(cluster.ctl_json(&["show", "cn001"])["runs"].as_array().unwrap().len(), 4);
}

#[test]
fn a_node_without_a_disk_is_held_by_the_management_node() {
    let cluster = cluster();
    let node = cluster.node("cn001");
    let boot = || {
        // What a diskless node knows is gone at each boot.
        let _ = std::fs::remove_dir_all(node.path("state"));
        let _ = std::fs::remove_dir_all(node.path("log"));
        node.provost(&["boot"])
    };
    for _ in 0..3 {
        boot().expect(1);
    }
    boot().expect(4).says(&["the management node holds this node", "provostctl release cn001"]);
    assert_eq!(ran(&cluster), 3);
    let end = last_run(&node, "boot").pop().unwrap();
    assert_eq!((&end["cause"], &end["notRun"]), (&json!("held"), &json!(["step", "later"])));
    cluster.ctl(&["release", "cn001"]).expect(0);
    does(&cluster, "exit 0");
    boot().expect(0);
}
