//! What holds where the kernel refuses a call, as an old one does, or one that is short of
//! something.

use std::io::Write;

use provost_tests::processes::{look, until};
use provost_tests::{Ended, Ground, World, missing, pipe, skip_if};

use crate::hostile::pipes::{SOON, line, open_pipe};
use crate::hostile::scripts::LONG;

/// Waits for its go.
const WAITS: &str =
    "#!/bin/sh\necho $$ >\"$PROVOST_TEST/begun\"\nread -r _ <\"$PROVOST_TEST/go\"\n";
/// Says that it has begun to a reader of the pipe, and stays.
const STAYS: &str = "#!/bin/sh\n# /// provost\n# on_failure = \"continue\"\n# ///\n\
     setsid sh -c 'echo here >\"$PROVOST_TEST/here\"; sleep 1000' &\nsleep 1000\n";
/// Waits for that.
const HEARS: &str = "#!/bin/sh\n# /// provost\n# timeout = \"1s\"\n# ///\n\
     read -r _ <\"$PROVOST_TEST/here\"\n";

/// By strace, the kernel refuses a call.
fn needs_refusals() {
    skip_if(missing::program("strace", "strace"));
}

/// Runs `script` by `provost run` where the kernel refuses `call` with `error`.
fn run_without(call: &str, error: &str, script: &str, by: &[&str]) -> (Ground, Ended) {
    let ground = Ground::new(&[("script", script)]);
    let inject = format!("inject={call}:error={error}");
    let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &inject];
    let by = [by, &strace].concat();
    let run = ground.start_by(&by, World::Walk, &["run", "script"]).end(LONG);
    ground.nobody_is_left(&run.said);
    (ground, run)
}

#[test]
fn a_script_inherits_no_descriptor_from_an_old_kernel() {
    needs_refusals();
    let by = ["sh", "-c", "exec 7</dev/null; exec \"$@\"", "sh"];
    let lists = "#!/bin/sh\nls /proc/self/fd >\"$PROVOST_TEST/descriptors\"\n";
    let (ground, run) = run_without("close_range", "EINVAL", lists, &by);
    assert_eq!(run.code, Some(0), "{}", run.said);
    let found = std::fs::read_to_string(ground.path("descriptors")).unwrap();
    assert!(!found.lines().any(|fd| fd == "7"), "{found}");
}

#[test]
fn an_end_that_nobody_was_told_is_no_success() {
    needs_refusals();
    let (ground, run) = run_without("wait4", "ECHILD", "#!/bin/sh\nexit 3\n", &[]);
    assert_eq!(run.code, Some(5), "{}", run.said);
    assert_eq!(ground.end_of("run", "script")["cause"], "interrupted", "{}", run.said);
}

#[test]
fn a_script_is_watched_without_a_descriptor_of_it() {
    needs_refusals();
    let begins = "#!/bin/sh\ntouch \"$PROVOST_TEST/begun\"\n";
    let (ground, run) = run_without("pidfd_open", "ENOSYS", begins, &[]);
    assert_eq!(run.code, Some(0), "{}", run.said);
    assert!(ground.path("begun").exists());
}

#[test]
fn what_is_said_not_to_have_begun_does_not_run() {
    needs_refusals();
    let ground = Ground::new(&[("waits", WAITS), ("stays", STAYS), ("hears", HEARS)]);
    let (begun, mut go) = (open_pipe(&ground, "begun"), open_pipe(&ground, "go"));
    pipe(&ground.path("here"));
    let run = ground.start(World::Walk, &["boot"]);
    let script: i32 = line(&begun).parse().unwrap();
    let keeper = look(script).unwrap().parent.to_string();
    let inject = "inject=clone:error=ENOMEM:when=1";
    let mut strace = std::process::Command::new("strace")
        .args(["-qq", "-o", "/dev/null", "-e", inject, "-p", &keeper])
        .spawn()
        .unwrap();
    let is_traced = || {
        let status = std::fs::read_to_string(format!("/proc/{keeper}/status")).unwrap();
        !status.contains("TracerPid:\t0\n")
    };
    assert!(until(SOON, is_traced));
    go.write_all(b"go\n").unwrap();
    // A boot of three scripts, one of which is too slow.
    let run = run.end(LONG);
    strace.wait().unwrap();
    ground.nobody_is_left(&run.said);
    assert_eq!(ground.end_of("boot", "stays")["cause"], "exec", "{}", run.said);
    let hears = &ground.end_of("boot", "hears")["cause"];
    assert_eq!(hears, "timeout", "nobody tells it anything: {}", run.said);
}
