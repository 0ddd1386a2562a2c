//! How a failure is told: in words that say what happened, by lines that the script or its commands
//! printed, and in a log that has its cause.

use provost_tests::{Cluster, Node, missing, skip_if};
use serde_json::Value;

/// A node that ran this script, which failed, and the stage of it.
fn failed(script: &str) -> (Cluster, Node, Value) {
    let (cluster, node) = node(script);
    node.provost(&["boot"]).expect(1);
    let stage = node.status()["stages"][1].clone();
    (cluster, node, stage)
}

fn node(script: &str) -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    cluster.script("step", script);
    cluster.site("[nodes.cn001]\npostscripts = [\"step\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    (cluster, node)
}

#[test]
fn a_script_that_left_processes_behind_is_not_told_to_have_failed_with_status_0() {
    let script = "#!/bin/sh\n# /// provost\n# leak = \"fail\"\n# ///\nsleep 600 &\nexit 0\n";
    let (cluster, node, stage) = failed(script);
    assert_eq!(stage["exitCode"], 0);
    let shown = node.provost(&["status"]).stdout + &cluster.ctl(&["show", "cn001"]).stdout;
    assert!(shown.contains("FAILED (left processes behind)"), "{shown}");
    assert!(!shown.contains("(exit status 0)"), "{shown}");
}

#[test]
fn of_a_progress_meter_its_end_is_shown_and_no_escape_sequence() {
    let script = "#!/bin/bash\nprintf '%4d of 500 files\\r' {1..500}\nprintf '\\n'\n\
        printf '\\033[31mred\\033[0m \\033]0;title\\007\\033(Bend\\n'\nexit 3\n";
    let (_cluster, node, stage) = failed(script);
    assert_eq!(stage["errorMessage"], " 500 of 500 files\nred end");
    let shown = node.provost(&["status"]).stdout;
    assert!(shown.contains("output    500 of 500 files\n           red end\n"), "{shown}");
}

#[test]
fn a_log_without_commands_looks_as_others_do() {
    let (_cluster, node) = node("#!/bin/sh\necho one\necho two >&2\n");
    node.provost(&["boot"]).expect(0);
    let log = node.provost(&["log"]).expect(0).stdout;
    assert!(log.contains("| one\n") && log.contains("| two\n") && !log.contains("Z std"), "{log}");
    let raw = node.provost(&["log", "--output"]).expect(0).stdout;
    assert!(raw.contains("Z stdout F one\n"), "{raw}");
}

#[test]
fn a_script_that_changes_itself_is_told_so() {
    let script = "#!/bin/bash\necho '# more' >>\"$0\"\nread -r -t 60 _ < <(sleep 60)\n";
    let (_cluster, _node, stage) = failed(script);
    assert_eq!(stage["cause"], "verify");
    let hint = stage["hint"].as_str().unwrap();
    assert!(hint.contains("such as the script itself") && !hint.contains("before"), "{hint}");
}

#[test]
fn the_hint_is_the_script_s_own_and_not_one_of_its_commands() {
    skip_if(missing::tracing());
    // What it prints doesn't stand in the script: `error: rejected`, `hint: pull first`, `hint: see git help`.
    let by_command =
        "base64 -d <<<ZXJyb3I6IHJlamVjdGVkCmhpbnQ6IHB1bGwgZmlyc3QKaGludDogc2VlIGdpdCBoZWxwCg==";
    for script in [
        format!("#!/bin/bash\n{by_command}\nexit 1\n"),
        format!("#!/bin/bash\nsleep 600 &\n{by_command} >&2\nkill %1\nexit 1\n"),
    ] {
        let (_cluster, _node, stage) = failed(&script);
        assert!(stage["hint"].as_str().unwrap().contains("provost log step"), "{stage}");
        assert_eq!(stage["errorMessage"], "error: rejected");
    }
    for own in [
        "echo 'hint: fetch it first'",
        "sh -c 'echo hint: fetch it first'",
        "echo 'hint: fetch it first' | tee /dev/null",
    ] {
        let (_cluster, _node, stage) =
            failed(&format!("#!/bin/bash\n{by_command}\nsleep 600 &\n{own}\nkill %1\nexit 1\n"));
        assert_eq!(stage["hint"], "fetch it first", "{own}");
    }
}

/// A job that begins no sooner than its script's `tee`, and before that prints.
const JOB_BEGINS_LATE: &str = r#"#!/bin/bash
cd "$(mktemp -d)" && mkfifo pipe
(until [ -e log ]; do :; done; exec dd status=none of=begun <>pipe) &
{ until [ -e begun ]; do :; done; echo "hint: ${1-fetch it} first"; } | tee log
kill %1
rm -r "$PWD"
exit 1
"#;

/// What stands for `tee` prints once the script has ended, while a job runs, which ends by itself.
const TEE_IS_LATE: &str = r#"#!/bin/bash
cd "$(mktemp -d)" && mkfifo pipe
exec > >(read -r line; while [ -e /proc/$$ ]; do :; done; echo "$line"; echo >pipe; rm -r "$PWD") 2>&1
dd status=none bs=1 count=1 of=begun <>pipe &
until [ -e begun ]; do :; done
echo 'hint: fetch it first'
exit 1
"#;

#[test]
fn the_hint_is_the_script_s_own_in_whatever_order_its_processes_begin_and_print() {
    skip_if(missing::tracing());
    for script in [JOB_BEGINS_LATE, TEE_IS_LATE] {
        let (_cluster, _node, stage) = failed(script);
        assert_eq!(stage["hint"], "fetch it first", "{script}\n{stage}");
    }
}

#[test]
fn what_no_command_failed_by_stands_in_the_log() {
    skip_if(missing::tracing());
    for (script, end) in [
        ("[[ -e /nonexistent ]]\n", "status 1 at line 2 main "),
        ("set -e\nf() {\n  cd /nonexistent\n}\nf\n", "status 1 at line 4 f "),
        ("echo no >&2\nexit 7\n", "status 7 at line 3 main "),
        ("/bin/true\nfalse\n", "status 1 at line 3 main "),
    ] {
        let (_cluster, node, _) = failed(&format!("#!/bin/bash\n{script}"));
        for args in [&["log"][..], &["log", "--failed"]] {
            let log = node.provost(args).expect(0).stdout;
            assert!(log.contains(&format!("# the script ended with exit {end}")), "{log}");
        }
    }
    // The end of a command is there once.
    for script in [
        "ls /nonexistent\n",
        "LS=/bin/ls\nF=/nonexistent\nLC_ALL=C \"$LS\" -d $F 2>/dev/null\n",
        "set -e\nrun() { \"$@\"; }\nrun ls /nonexistent\n",
    ] {
        let (_cluster, node, _) = failed(&format!("#!/bin/bash\n{script}"));
        let log = node.provost(&["log", "--failed"]).expect(0).stdout;
        assert!(
            log.contains("FAILED: exit status 2") && !log.contains("the script ended"),
            "{log}"
        );
    }
}

#[test]
fn a_command_that_is_not_found_counts_as_failed() {
    skip_if(missing::tracing());
    let script = |shell: &str, more: &str| {
        format!(
            "#!/bin/{shell}\nnosuch a b || true\n(nosuch2 || exit 127)\n./absent\n{more}exit 0\n"
        )
    };
    for (shell, more) in [("bash", "/etc/passwd || true\n"), ("sh", "")] {
        let (_cluster, node) = node(&script(shell, more));
        node.provost(&["boot"]).expect(0);
        let failed = node.provost(&["log", "--failed"]).expect(0).stdout;
        let mut commands = vec!["nosuch2", "./absent"];
        if shell == "bash" {
            // dash looks for it before it forks: no process ends with 127.
            commands.extend(["nosuch", "/etc/passwd"]);
        }
        for command in &commands {
            let status = if *command == "/etc/passwd" { 126 } else { 127 };
            let line = format!("$ {command}  # FAILED: exit status {status}");
            assert_eq!(failed.matches(&line).count(), 1, "{shell}: {line:?} in\n{failed}");
        }
        assert_eq!(node.status()["stages"][1]["commandsFailed"], commands.len(), "{failed}");
    }
}
