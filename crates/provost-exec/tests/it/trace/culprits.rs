//! Which command's failure ended a script, in any language, and which failures it ignored.

use std::time::Duration;

use provost_exec::{EndCause, Trace};

use crate::trace::{Bench, has};

/// The command that a failed script is said to have failed by, and whether the log has the failure
/// that it ignored before.
#[track_caller]
fn names(tool: &str, script: &str, expected: &str) {
    if !has(tool) {
        return;
    }
    let bench = Bench::new();
    let ran = bench.run(Trace::Commands, script);
    assert_ne!(ran.seen().0, "0", "{}", ran.log);
    assert_eq!(ran.command(), expected, "{}", ran.log);
    assert!(ran.lines().contains(&"exit 22".to_owned()), "{}", ran.log);
}

const IGNORED: &str = "sh -c 'exit 22'";

#[test]
fn of_a_bash_script() {
    names("true", &format!("#!/bin/bash\n{IGNORED}\nset -e\nls /nowhere\n"), "ls /nowhere");
    names("true", &format!("#!/bin/bash\n{IGNORED}\n/bin/true\nls /nowhere || exit 7\n"), "exit 7");
}

#[test]
fn of_a_dash_script() {
    let script = |rest: &str| format!("#!/bin/dash\n{IGNORED}\n/bin/true\n{rest}\n");
    names("dash -c true", &script("ls /nowhere\nexit 7"), "ls /nowhere");
    names("dash -c true", &script("set -e\n(cd /; ls /nowhere; echo no)\n"), "ls /nowhere");
    names("dash -c true", &script("trap 'rm -f x' EXIT\nset -e\nls /nowhere"), "ls /nowhere");
    names("dash -c true", &script("x=$(ls /nowhere) || exit 3"), "ls /nowhere");
    names("dash -c true", &script("[ -e /nowhere ] || exit 7"), "");
}

#[test]
fn of_a_python_script() {
    let script = |rest: &str| {
        format!(
            "#!/usr/bin/python3\nimport subprocess, sys\nsubprocess.run(['sh', '-c', 'exit 22'])\n{rest}\n"
        )
    };
    let tool = "/usr/bin/python3 -c pass";
    names(tool, &script("sys.exit(subprocess.call(['ls', '/nowhere']))"), "ls /nowhere");
}

#[test]
fn of_a_perl_script() {
    let script =
        "#!/usr/bin/perl\nsystem('sh', '-c', 'exit 22');\nexit(system('ls', '/nowhere') >> 8);\n";
    names("perl -e 1", script, "ls /nowhere");
}

#[test]
fn of_an_awk_script() {
    let script =
        "#!/usr/bin/awk -f\nBEGIN { system(\"exit 22\"); r = system(\"ls /nowhere\"); exit 5 }\n";
    names("awk BEGIN{}", script, "sh -c 'ls /nowhere'");
}

#[test]
fn of_a_compiled_program() {
    let bench = Bench::new();
    let source = "#include <stdlib.h>\nint main() { system(\"exit 22\"); \
                  return system(\"ls /nowhere\") ? 9 : 0; }";
    if !bench.compile(source) {
        return;
    }
    std::fs::rename(bench.path().join("program"), bench.path().join("script")).unwrap();
    let ran = bench.run_file(Trace::Commands);
    assert_eq!((&*ran.seen().0, &*ran.command()), ("9", "sh -c 'ls /nowhere'"), "{}", ran.log);
    assert!(ran.lines().contains(&"exit 22".to_owned()), "{}", ran.log);
}

/// The command for which a script is said to have waited when its time was over.
#[track_caller]
fn awaits(tool: &str, script: &str, expected: &str) {
    if !has(tool) {
        return;
    }
    let mut bench = Bench::new();
    bench.limits.timeout = Duration::from_millis(500);
    let ran = bench.run(Trace::Commands, script);
    assert!(matches!(ran.outcome.end, EndCause::TimedOut(_)), "{ran:?}");
    assert_eq!(ran.command(), expected, "{}", ran.log);
}

#[test]
fn of_a_script_that_hangs() {
    let bash = |rest: &str| format!("#!/bin/bash\n{IGNORED}\n{rest}\n");
    awaits("true", &bash("sleep 100"), "sleep 100");
    awaits("true", &bash("sleep 90 &\nsleep 100"), "sleep 100");
    awaits("true", &bash("sleep 100 &\nwait"), "sleep 100");
    awaits("true", &bash("(cd /; x=$(sleep 100))"), "sleep 100");
    awaits("true", &bash("sleep 100 | tail -n 1 | tee x"), "sleep 100 | tail -n 1 | tee x");
    let cats = ["cat"; 30].join(" | ");
    awaits("true", &bash(&format!("sleep 100 | {cats}")), &["cat"; 10].join(" | "));
    awaits("true", &bash("sh -c 'sleep 100; :'"), "sh -c 'sleep 100; :'");
    awaits("true", &bash("exec sleep 100"), "sleep 100");
    awaits("true", &bash("while :; do :; done"), "");
    awaits("dash -c true", &format!("#!/bin/dash\n{IGNORED}\nsleep 100\n"), "sleep 100");
    let python = "#!/usr/bin/python3\nimport subprocess\nsubprocess.run(['sleep', '100'])\n";
    awaits("/usr/bin/python3 -c pass", python, "sleep 100");
}
