//! `provost status --wait`: it exits as the run has, and no script waits for its own run.

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use provost_tests::{Cluster, Node, Out, missing, pipe, processes, skip_if};

/// How long anything may take.
const LIMIT: Duration = Duration::from_secs(60);
/// Waits for the test, which says what it does then.
const STEP: &str = "#!/bin/bash\necho before\nread -r what <\"$GATE\"\neval \"$what\"\n";

fn cluster(script: &str) -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    let gate = cluster.path("gate");
    pipe(&gate);
    cluster.script("step", script);
    cluster
        .site(&format!("[nodes.cn001]\npostscripts = [\"step\"]\nenv = {{ GATE = {gate:?} }}\n"));
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    (cluster, node)
}

/// Runs `boot` with a script that does `what`, while another waits for it. Returns how both ended.
fn boot_and_wait(cluster: &Cluster, node: &Node, what: &str) -> (Option<i32>, Out) {
    // For writing alone it would wait for the script.
    let mut gate = File::options().read(true).write(true).open(cluster.path("gate")).unwrap();
    let boot = node.spawn(&["boot"]);
    let runs = || node.provost(&["status"]).stdout.contains("boot is running");
    let has_begun = || runs() && node.provost(&["log", "step"]).stdout.ends_with("before\n");
    assert!(processes::until(LIMIT, has_begun), "{}", node.status());
    let wait = node.spawn(&["status", "--wait"]);
    gate.write_all(format!("{what}\n").as_bytes()).unwrap();
    let boot = boot.wait_with_output().unwrap();
    (boot.status.code(), wait.wait_with_output().unwrap().into())
}

#[test]
fn the_exit_status_is_that_of_the_run_waited_for_or_else_of_the_newest() {
    let (cluster, node) = cluster(STEP);
    let newest = |code: i32| node.provost(&["status", "--wait"]).expect(code);
    assert_eq!(newest(0).stdout, "cn001: no run yet\n");

    let (boot, wait) = boot_and_wait(&cluster, &node, "exit 3");
    assert_eq!((boot, wait.code), (Some(1), Some(1)), "{wait:?}");
    assert!(wait.stdout.contains("boot FAILED"), "{wait:?}");
    assert!(newest(1).stdout.contains("boot FAILED"));
    // Without --wait it only shows.
    node.provost(&["status"]).expect(0);

    let (boot, wait) = boot_and_wait(&cluster, &node, "exit 0");
    assert_eq!((boot, wait.code), (Some(0), Some(0)), "{wait:?}");
    newest(0);
}

#[test]
fn a_run_that_was_ended_or_could_not_begin_has_its_own_exit_status() {
    let (cluster, node) =
        cluster("#!/bin/sh\nkill -\"$HOW\" \"$(ps -o ppid= -p $PPID)\"\nsleep 60\n");
    let newest = |code: i32| node.provost(&["status", "--wait", "--format", "json"]).expect(code);
    let site = |how: &str| {
        let site = format!("[nodes.cn001]\npostscripts = [\"step\"]\nenv = {{ HOW = {how:?} }}\n");
        cluster.site(&site).publish().expect(0);
    };
    site("TERM");
    node.provost(&["boot"]).expect(5);
    assert_eq!(newest(5).json()["result"], "failure");
    site("KILL");
    assert_eq!(node.provost(&["boot"]).code, None);
    newest(5);
    // Nothing is at that port. Such a run isn't counted.
    let config = std::fs::read_to_string(node.path("provost.toml")).unwrap();
    node.configure(
        "servers = [\"http://127.0.0.1:1\"]\n[trust]\nunsigned = true\n[fetch]\ndeadline = \"1s\"\n\
         [report]\ndeadline = \"1s\"\n",
    );
    node.provost(&["boot"]).expect(3);
    newest(3);
    std::fs::write(node.path("provost.toml"), config).unwrap();
    assert_eq!(node.provost(&["boot"]).code, None);
    node.provost(&["boot"]).expect(4);
    newest(4);
    node.provost(&["release"]).expect(0);
    newest(4);
}

#[test]
fn a_run_that_goes_on_after_a_reboot_has_succeeded_so_far() {
    skip_if(missing::root("ask for a reboot"));
    let (_cluster, node) = cluster("#!/bin/sh\n\"$PROVOST_BIN\" reboot-request new firmware\n");
    node.provost(&["boot"]).expect(0);
    let out = node.provost(&["status", "--wait"]).expect(0);
    assert!(out.stdout.contains("waits for a reboot"), "{out:?}");

    let (_cluster, node) = cluster("#!/bin/sh\n\"$PROVOST_BIN\" reboot-request new firmware\n");
    for name in ["systemctl", "reboot"] {
        std::fs::write(node.path("fakes").join(name), "#!/bin/sh\nexit 1\n").unwrap();
    }
    node.provost(&["boot"]).expect(1);
    node.provost(&["status", "--wait"]).expect(1);
}

#[test]
fn a_script_does_not_wait_for_its_own_run() {
    let script = "#!/bin/bash\n\
        \"$PROVOST_BIN\" status --wait; echo \"wait: $?\"\n\
        \"$PROVOST_BIN\" status --wait --any; echo \"any: $?\"\n\
        \"$PROVOST_BIN\" log -f; echo \"log: $?\"\n\
        PROVOST_RUN=another timeout 0.1 \"$PROVOST_BIN\" status --wait; echo \"another: $?\"\n";
    let (_cluster, node) = cluster(&format!("{script}exit 0\n"));
    node.provost(&["boot"]).expect(0);
    let log = node.provost(&["log", "step"]).expect(0).stdout;
    for line in ["wait: 2", "any: 0", "log: 2", "another: 124", "boot is running"] {
        assert!(log.contains(line), "{line:?} isn't in\n{log}");
    }
    assert!(log.contains("hint: run `provost status --wait --any`"), "{log}");
    // Its run is over: what it left behind may wait for the next.
    let run = node.status()["run"].as_str().unwrap().to_owned();
    let mut wait = node.command(&["status", "--wait"]);
    let out: Out = wait.env("PROVOST_RUN", run).output().unwrap().into();
    out.expect(0);
}
