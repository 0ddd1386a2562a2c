//! Nodes of other architectures and page sizes: each boots the node's program that is built for it, whose scripts
//! succeed, fail, hang, crash and leave a process behind; the management node learns the same of each.

use std::fmt::Write as _;

use insta::assert_snapshot;
use provost_tests::Cluster;
use regex::Regex;
use serde_json::{Value, json};

use crate::foreign_image::{ARM, ARM_16K, Foreign, OWN, POWER};
use crate::machine::{Machine, required_of};
use crate::site::planned;

const GREETS: &str =
    "#!/bin/bash\ncat /proc/sys/kernel/ostype\n/bin/sh -c 'exit 3' || echo refused\n";
const FAILS: &str = "#!/bin/bash\ninstall_keys() {\n    install -m 0640 /srv/chrony.keys /etc/chrony.keys\n}\n\
    install_keys\n";
/// What hangs has left its session, and ignores SIGTERM. The time is enough for it to begin on a busy machine.
const HANGS: &str = "#!/bin/bash\n# /// provost\n# timeout = \"20s\"\n# ///\n\
    trap '' TERM\nsetsid sleep 54321\n";
const CRASHES: &str = "#!/bin/bash\nkill -SEGV $$\n";
/// It ends once what it leaves behind is that program: the trace has it by then.
const LEAKS: &str = "#!/bin/bash\nsetsid sleep 11111 </dev/null >/dev/null 2>&1 &\n\
    until read -r name </proc/$!/comm && [ \"$name\" = sleep ]; do :; done\n";
const SCRIPTS: [(&str, &str); 5] = [
    ("greets", GREETS),
    ("fails", FAILS),
    ("hangs", HANGS),
    ("crashes", CRASHES),
    ("leaks", LEAKS),
];

/// Beside the others: what fails there too isn't of an architecture.
#[test]
fn x86_64() {
    each_end_of_a_script_is_reported(&OWN);
}

#[test]
fn aarch64() {
    each_end_of_a_script_is_reported(&ARM);
}

#[test]
fn aarch64_with_pages_of_16_kib() {
    each_end_of_a_script_is_reported(&ARM_16K);
}

#[test]
fn ppc64le_with_pages_of_64_kib() {
    each_end_of_a_script_is_reported(&POWER);
}

#[track_caller]
fn each_end_of_a_script_is_reported(foreign: &Foreign) {
    required_of(&foreign.emulator);
    let mut cluster = planned(&SCRIPTS);
    cluster.publish().expect(0);
    cluster.start();
    let mut machine = foreign.boot(&cluster, "cn001", "[run]\non_failure = \"continue\"\n");
    // A login comes after its boot, and that after its last report.
    machine.log_in();
    let shown = cluster.ctl_json(&["show", "cn001"]);
    let node = &shown["node"];
    assert_eq!(
        (&node["status"], &node["facts"]["arch"]),
        (&json!("failed"), &json!(foreign.name)),
        "{shown:#}"
    );
    assert_snapshot!(learned(&cluster, &shown["runs"][0]), @r#"
    fetch
      result: "success"
    greets
      commands: 2
      commandsFailed: 1
      log: "01-greets"
      result: "success"
    $ cat /proc/sys/kernel/ostype
      | Linux
    # cat /proc/sys/kernel/ostype: exit status 0, TIME
    $ /bin/sh -c 'exit 3'  # FAILED: exit status 3, TIME
    | refused
    fails
      calledFrom: "5 main /var/lib/provost/bundle/fails"
      cause: "exit"
      command: "install -m 0640 /srv/chrony.keys /etc/chrony.keys"
      commands: 1
      commandsFailed: 1
      errorLine: "3 install_keys /var/lib/provost/bundle/fails"
      errorMessage: "install: can't stat '/srv/chrony.keys': No such file or directory"
      exitCode: 1
      log: "02-fails"
      result: "failure"
    $ install -m 0640 /srv/chrony.keys /etc/chrony.keys
      | install: can't stat '/srv/chrony.keys': No such file or directory
    # install -m 0640 /srv/chrony.keys /etc/chrony.keys FAILED: exit status 1, TIME
    hangs
      cause: "timeout"
      command: "sleep 54321"
      commands: 1
      commandsFailed: 1
      errorMessage: "it printed nothing"
      log: "03-hangs"
      result: "failure"
      signal: "SIGKILL"
    $ setsid sleep 54321  # became the next command, TIME
    $ sleep 54321  # FAILED: killed by SIGKILL, TIME
    crashes
      cause: "signal"
      errorMessage: "it printed nothing"
      log: "04-crashes"
      result: "failure"
      signal: "SIGSEGV"
    leaks
      commands: 1
      leaked: sleep
      log: "05-leaks"
      result: "success"
    $ setsid sleep 11111  # became the next command, TIME
    $ sleep 11111  # still running where the log ends
    "#);
    is_well(&mut machine, foreign);
}

/// What the management node knows of each script of a run, without what differs from one run to the next: times and
/// process ids.
fn learned(cluster: &Cluster, run: &Value) -> String {
    let time = Regex::new(r"[0-9.]+ (ms|s)\b").unwrap();
    let mut text = String::new();
    for stage in run["stages"].as_array().unwrap() {
        let name = stage["stage"].as_str().unwrap();
        writeln!(text, "{name}").unwrap();
        for (key, value) in stage.as_object().unwrap() {
            let value = match key.as_str() {
                "stage" | "durationMs" | "hint" => continue,
                "leaked" => without_ids(value),
                _ => value.to_string(),
            };
            writeln!(text, "  {key}: {value}").unwrap();
        }
        if name != "fetch" {
            let log = cluster.ctl(&["log", "cn001", name]).expect(0).stdout;
            text.push_str(&time.replace_all(&log, "TIME"));
        }
    }
    text
}

/// `PID NAME` each.
fn without_ids(processes: &Value) -> String {
    let processes = processes.as_array().unwrap().iter().map(|one| one.as_str().unwrap());
    processes.map(|one| one.split_once(' ').unwrap().1).collect::<Vec<_>>().join(", ")
}

/// The machine is what it is to be, nothing is left of what was killed, and nothing fails of what a node needs.
fn is_well(machine: &mut Machine, foreign: &Foreign) {
    let (page, _) = machine.shell("grep -m 1 KernelPageSize /proc/self/smaps");
    assert_eq!(page.split_whitespace().nth(1), Some(foreign.page_kib), "{page}");
    let (sleeps, _) = machine.shell("cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '");
    assert!(sleeps.contains("sleep 11111") && !sleeps.contains("54321"), "{sleeps}");
    let (checked, succeeded) = machine.shell("provost check");
    assert!(succeeded && checked.contains("\n0 failed, "), "{checked}");
}
