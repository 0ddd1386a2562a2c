//! `provost boot --continue`: what the last boot left unfinished, and nothing of what it did.

use provost_tests::{Cluster, Node};
use serde_json::Value;

/// Notes that it has run, and fails as long as there is a file of its name with `.bad`.
const STEP: &str = "#!/bin/sh\necho \"${0##*/}\" >>\"$NOTES/ran\"\n\
                    [ ! -e \"$NOTES/${0##*/}.bad\" ]\n";

fn cluster(header: &str) -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    let step = STEP.replacen('\n', &format!("\n{header}"), 1);
    for name in ["one", "two", "three"] {
        cluster.script(name, &step);
    }
    let notes = cluster.path("notes");
    std::fs::create_dir(&notes).unwrap();
    cluster.site(&format!(
        "[nodes.cn001]\npostscripts = [\"one\", \"two\", \"three\"]\nenv = {{ NOTES = {notes:?} }}\n"
    ));
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    (cluster, node)
}

fn ran(cluster: &Cluster) -> String {
    let file = cluster.path("notes/ran");
    let ran = std::fs::read_to_string(&file).unwrap_or_default().replace('\n', " ");
    let _ = std::fs::remove_file(file);
    ran
}

fn is_bad(cluster: &Cluster, script: &str, bad: bool) {
    let file = cluster.path(&format!("notes/{script}.bad"));
    if bad { std::fs::write(file, "").unwrap() } else { std::fs::remove_file(file).unwrap() }
}

#[test]
fn a_boot_that_failed_goes_on_from_there_and_the_node_is_booted() {
    let (mut cluster, node) = cluster("");
    is_bad(&cluster, "two", true);
    node.provost(&["boot"]).expect(1);
    assert_eq!(ran(&cluster), "one two ");
    // It can't be fetched, which forgets nothing.
    let address = cluster.kill_daemon();
    let config = std::fs::read_to_string(node.path("provost.toml")).unwrap();
    let quick = "[fetch]\ndeadline = \"2s\"\n[report]\ndeadline = \"100ms\"\n";
    std::fs::write(node.path("provost.toml"), format!("{config}{quick}")).unwrap();
    node.provost(&["boot", "--continue"]).expect(3);
    cluster.start_at(&address);
    // A busy server may take longer than that.
    std::fs::write(node.path("provost.toml"), config).unwrap();

    is_bad(&cluster, "two", false);
    let out = node.provost(&["boot", "--continue"]).expect(0);
    assert_eq!(ran(&cluster), "two three ", "{}", out.stderr);
    assert_eq!(cluster.status("cn001")["status"], "booted");
    let status = node.status();
    let stages = status["stages"].as_array().unwrap();
    assert_eq!(stages[1]["skipped"], "it was done in the run before", "{status:#}");
    assert_eq!(stages[2]["skipped"], Value::Null, "{status:#}");
    // All is done: nothing is left.
    node.provost(&["boot", "--continue"]).expect(0);
    assert_eq!(ran(&cluster), "");
    // A whole boot is a whole boot.
    node.provost(&["boot"]).expect(0);
    assert_eq!(ran(&cluster), "one two three ");
}

#[test]
fn a_step_that_succeeded_at_its_second_try_is_done_and_one_before_a_change_of_the_plan_too() {
    let (cluster, node) = cluster("# /// provost\n# retries = 1\n# ///\n");
    is_bad(&cluster, "three", true);
    node.provost(&["boot"]).expect(1);
    assert_eq!(ran(&cluster), "one two three three ");
    let notes = cluster.path("notes");
    cluster.site(&format!(
        "[nodes.cn001]\npostscripts = [\"one\", \"new\", \"two\", \"three\"]\nenv = {{ NOTES = {notes:?} }}\n"
    ));
    cluster.script("new", STEP).publish().expect(0);
    is_bad(&cluster, "three", false);
    node.provost(&["boot", "--continue"]).expect(0);
    assert_eq!(ran(&cluster), "new two three ", "from the first that is another on");
}

/// What a step did before the machine booted may be gone.
#[test]
fn another_boot_of_the_machine_runs_all() {
    let (cluster, node) = cluster("");
    is_bad(&cluster, "two", true);
    node.provost(&["boot"]).expect(1);
    ran(&cluster);
    let journal = node.path("log/services/boot.json");
    let text = std::fs::read_to_string(&journal).unwrap();
    let at = text.find("\"bootId\":\"").unwrap() + 10;
    let other = format!("{}{}{}", &text[..at], "00000000", &text[at + 8..]);
    std::fs::write(&journal, other).unwrap();
    is_bad(&cluster, "two", false);
    node.provost(&["boot", "--continue"]).expect(0);
    assert_eq!(ran(&cluster), "one two three ");
}

/// An admin fixes the cause and runs the one script: what comes after it has still not run.
#[test]
fn a_script_run_by_hand_leaves_the_boot_unfinished_and_that_is_said_first() {
    let (cluster, node) = cluster("");
    is_bad(&cluster, "two", true);
    let out = node.provost(&["boot"]).expect(1);
    out.says(&["fix it, then: provost boot --continue"]);
    let shown = cluster.ctl(&["show", "cn001"]).expect(0).stdout;
    assert!(shown.contains("provost boot --continue"), "{shown}");
    is_bad(&cluster, "two", false);
    node.provost(&["run", "two"]).expect(0);

    let status = node.provost(&["status"]).expect(0).stdout;
    let first: Vec<&str> = status.lines().take(2).collect();
    assert!(first[0].starts_with("cn001: UNFINISHED: the boot of "), "{status}");
    for part in ["two failed (exit status 1), run by hand since", "never ran: three"] {
        assert!(first[0].contains(part), "{status}");
    }
    assert_eq!(first[1], "  to go on: provost boot --continue");
    assert!(status.contains("cn001: run succeeded"), "{status}");
    let unfinished = &node.status()["unfinished"];
    assert_eq!(unfinished["notRun"], serde_json::json!(["three"]), "{unfinished}");
    assert_eq!(unfinished["command"], "provost boot --continue");
    let analysis = node.provost(&["analyze"]).expect(1).stdout;
    assert!(!analysis.contains("nothing else looks wrong"), "{analysis}");
    assert!(analysis.contains("never ran: three; to go on: provost boot"), "{analysis}");
    assert_eq!(cluster.status("cn001")["status"], "failed");

    ran(&cluster);
    node.provost(&["boot", "--continue"]).expect(0);
    assert_eq!(ran(&cluster), "two three ");
    assert_eq!(cluster.status("cn001")["status"], "booted");
    assert_eq!(node.status()["unfinished"], Value::Null);
    let analysis = node.provost(&["analyze"]).expect(0).stdout;
    assert!(!analysis.contains("unfinished"), "{analysis}");
}

/// The hint of a node that is held leads to the script that failed, and from there to a boot that
/// succeeds.
#[test]
fn what_the_hint_of_a_held_node_says_brings_it_up() {
    let (cluster, node) = cluster("");
    is_bad(&cluster, "two", true);
    for _ in 0..3 {
        node.provost(&["boot"]).expect(1);
    }
    let out = node.provost(&["boot"]).expect(4);
    let hint = out.stderr.lines().find(|line| line.contains("hint: ")).unwrap();
    assert!(!hint.contains("provost status"), "{hint}");
    node.provost(&["log"]).expect(0);
    let status = node.provost(&["status"]).expect(0).stdout;
    assert!(status.contains("two failed (exit status 1); this node is held"), "{status}");
    is_bad(&cluster, "two", false);
    ran(&cluster);
    let (_, rest) = hint.split_once("then: ").unwrap();
    let (here, there) = rest.split_once(", or on the management node: ").unwrap();
    assert_eq!(here, "provost release && provost boot --continue");
    assert_eq!(there, "provostctl release cn001 && provostctl continue cn001");
    let (release, _) = there.split_once(" && ").unwrap();
    node.shell(release, &cluster).expect(0);
    node.shell(here, &cluster).expect(0);
    assert_eq!(ran(&cluster), "two three ");
    assert_eq!(cluster.status("cn001")["status"], "booted");
}

#[test]
fn a_failure_that_is_ignored_leaves_nothing_unfinished() {
    let (cluster, node) = cluster("# /// provost\n# on_failure = \"ignore\"\n# ///\n");
    is_bad(&cluster, "two", true);
    let out = node.provost(&["boot"]).expect(0);
    out.says(&["fix it, then: provost run two"]);
    assert_eq!(ran(&cluster), "one two three ");
    assert_eq!(node.status()["unfinished"], Value::Null);
    node.provost(&["boot", "--continue"]).expect(0);
    assert_eq!(ran(&cluster), "");
}
