//! Which command's failure ended a script, in any language, and which failures it ignored.

use std::time::Duration;

use provost_exec::{EndCause, Trace};
use provost_tests::{missing, skip_if};

use crate::trace::{Bench, needs_compiler};

/// The command that a failed script is said to have failed by, and whether the log has the failure
/// that it ignored before.
#[track_caller]
fn names(script: &str, expected: &str) {
    let bench = Bench::new();
    let ran = bench.run(Trace::Commands, script);
    assert_ne!(ran.seen().0, "0", "{}", ran.log);
    assert_eq!(ran.command(), expected, "{}", ran.log);
    assert!(ran.lines().contains(&"exit 22".to_owned()), "{}", ran.log);
}

const IGNORED: &str = "sh -c 'exit 22'";

#[test]
fn of_a_bash_script() {
    names(&format!("#!/bin/bash\n{IGNORED}\nset -e\nls /nowhere\n"), "ls /nowhere");
    names(&format!("#!/bin/bash\n{IGNORED}\n/bin/true\nls /nowhere || exit 7\n"), "exit 7");
}

/// A job that is killed before it has begun is still a copy of the script, with all its traps.
#[test]
fn of_a_script_that_kills_its_job_at_once() {
    let bench = Bench::new();
    for _ in 0..20 {
        let ran = bench.run(Trace::Commands, "#!/bin/bash\nsleep 30 & kill $!; exit 7\n");
        assert_eq!((&*ran.seen().0, &*ran.command()), ("7", "exit 7"), "{}", ran.log);
    }
}

#[test]
fn of_a_dash_script() {
    skip_if(missing::program("dash", "dash"));
    let script = |rest: &str| format!("#!/bin/dash\n{IGNORED}\n/bin/true\n{rest}\n");
    names(&script("ls /nowhere\nexit 7"), "ls /nowhere");
    names(&script("set -e\n(cd /; ls /nowhere; echo no)\n"), "ls /nowhere");
    names(&script("trap 'rm -f x' EXIT\nset -e\nls /nowhere"), "ls /nowhere");
    names(&script("x=$(ls /nowhere) || exit 3"), "ls /nowhere");
    names(&script("[ -e /nowhere ] || exit 7"), "");
}

/// A script that printed something after a command had failed went on after it.
#[test]
fn an_earlier_failure_is_not_named_for_what_the_script_says_itself() {
    let sh = |rest: &str| format!("#!/bin/sh\n{IGNORED} && echo yes\n{rest}\n");
    let check = "[ -r /nowhere ] || { echo 'no conf' >&2; exit 1; }";
    names(&sh(check), "");
    names(&sh(&check.replace("exit 1", "exit 2")), "");
    names(&sh("[ -r /nowhere ] || exit 1"), "");
    names(&sh(&format!("(sh -c 'exit 1'; {check}) || exit 1")), "");
    names(&sh(&format!("trap 'rm -f x' EXIT\n{check}")), "");
    names(&sh("sh -c 'exit 9'; rc=$?\necho \"failed: $rc\"; exit $rc"), "sh -c 'exit 9'");
    if missing::program("python3", "python3").is_none() {
        let script = "#!/usr/bin/python3\nimport subprocess, sys\n\
                      subprocess.run(['sh', '-c', 'exit 22'])\nsys.exit('no conf')\n";
        names(script, "");
    }
    if missing::program("perl", "perl").is_none() {
        let script = "#!/usr/bin/perl\nsystem('sh', '-c', 'exit 22');\n\
                      print STDERR \"no conf\\n\";\nexit 1;\n";
        names(script, "");
    }
}

#[test]
fn of_a_python_script() {
    skip_if(missing::program("python3", "python3"));
    let script = |rest: &str| {
        format!(
            "#!/usr/bin/python3\nimport subprocess, sys\nsubprocess.run(['sh', '-c', 'exit 22'])\n{rest}\n"
        )
    };
    names(&script("sys.exit(subprocess.call(['ls', '/nowhere']))"), "ls /nowhere");
}

#[test]
fn of_a_perl_script() {
    skip_if(missing::program("perl", "perl"));
    let script =
        "#!/usr/bin/perl\nsystem('sh', '-c', 'exit 22');\nexit(system('ls', '/nowhere') >> 8);\n";
    names(script, "ls /nowhere");
}

#[test]
fn of_an_awk_script() {
    skip_if(missing::program("awk", "mawk"));
    let script =
        "#!/usr/bin/awk -f\nBEGIN { system(\"exit 22\"); r = system(\"ls /nowhere\"); exit 5 }\n";
    names(script, "sh -c 'ls /nowhere'");
}

#[test]
fn of_a_compiled_program() {
    needs_compiler();
    let bench = Bench::new();
    let source = "#include <stdlib.h>\nint main() { system(\"exit 22\"); \
                  return system(\"ls /nowhere\") ? 9 : 0; }";
    bench.compile(source);
    std::fs::rename(bench.path().join("program"), bench.path().join("script")).unwrap();
    let ran = bench.run_file(Trace::Commands);
    assert_eq!((&*ran.seen().0, &*ran.command()), ("9", "sh -c 'ls /nowhere'"), "{}", ran.log);
    assert!(ran.lines().contains(&"exit 22".to_owned()), "{}", ran.log);
}

/// The command for which a script is said to have waited when its time was over.
#[track_caller]
fn awaits(script: &str, expected: &str) {
    let mut bench = Bench::new();
    bench.limits.timeout = Duration::from_millis(500);
    let ran = bench.run(Trace::Commands, script);
    assert!(matches!(ran.outcome.end, EndCause::TimedOut(_)), "{ran:?}");
    assert_eq!(ran.command(), expected, "{}", ran.log);
}

#[test]
fn of_a_script_that_hangs() {
    let bash = |rest: &str| format!("#!/bin/bash\n{IGNORED}\n{rest}\n");
    awaits(&bash("sleep 100"), "sleep 100");
    awaits(&bash("sleep 90 &\nsleep 100"), "sleep 100");
    awaits(&bash("sleep 100 &\nwait"), "sleep 100");
    awaits(&bash("(cd /; x=$(sleep 100))"), "sleep 100");
    awaits(&bash("sleep 100 | tail -n 1 | tee x"), "sleep 100 | tail -n 1 | tee x");
    let cats = ["cat"; 30].join(" | ");
    awaits(&bash(&format!("sleep 100 | {cats}")), &["cat"; 10].join(" | "));
    awaits(&bash("sh -c 'sleep 100; :'"), "sh -c 'sleep 100; :'");
    awaits(&bash("exec sleep 100"), "sleep 100");
    awaits(&bash("while :; do :; done"), "");
    awaits(&bash("sleep 100 &\nwhile :; do :; done"), "");
    awaits(&bash("sleep 100 &\n(while :; do :; done)"), "");
}

#[test]
fn of_a_dash_script_that_hangs() {
    skip_if(missing::program("dash", "dash"));
    awaits(&format!("#!/bin/dash\n{IGNORED}\nsleep 100\n"), "sleep 100");
}

#[test]
fn of_a_python_script_that_hangs() {
    skip_if(missing::program("python3", "python3"));
    let python = "#!/usr/bin/python3\nimport subprocess\nsubprocess.run(['sleep', '100'])\n";
    awaits(python, "sleep 100");
}
