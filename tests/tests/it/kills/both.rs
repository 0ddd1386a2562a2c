//! Runner and keeper are killed at the same instant. No process of the script lives after the next run, but
//! for what a step before it has left on purpose.

use std::time::Duration;

use fastrand::Rng;
use provost_tests::processes::{self, Process};
use provost_tests::{Ground, World, missing, repeats, seed};
use rustix::process::{Pid, Signal, kill_process};

const LONG: Duration = Duration::from_secs(60);

/// Leaves a daemon.
const FIRST: &str = "#!/bin/sh\nsetsid sleep 1000 >/dev/null 2>&1 &\n";

/// Has many processes of any kind, and is cut off once.
fn second(trace: &str) -> String {
    format!(
        "#!/bin/bash\n# /// provost\n# trace = \"{trace}\"\n# ///\n[ ! -e \"$PROVOST_TEST/is_over\" ] || exit 0\n\
         (trap '' TERM HUP; sleep 1001; :) &\nsetsid sh -c 'sleep 1002; :' >/dev/null 2>&1 &\n\
         : >\"$PROVOST_TEST/has_begun\"\nwhile :; do setsid sleep 1003 & /bin/true; sleep 0.01; done\n"
    )
}

fn arguments(process: &Process) -> String {
    std::fs::read_to_string(format!("/proc/{}/cmdline", process.pid)).unwrap_or_default()
}

/// What lives of the node's, but for the daemons of the first step.
fn others(ground: &Ground) -> Vec<Process> {
    let mut all = ground.processes();
    all.retain(|process| process.state != 'Z' && arguments(process) != "sleep\x001000\0");
    all
}

fn kill_both(ground: &Ground, world: World, is_traced: bool, after: Duration) {
    let _ = std::fs::remove_file(ground.path("is_over"));
    let run = ground.start(world, &["boot"]);
    assert!(processes::until(LONG, || ground.path("has_begun").exists()));
    processes::until(after, || false);
    let keepers = ground.processes().into_iter().filter(|process| process.comm == "provost-keeper");
    let keepers: Vec<Pid> = keepers.filter_map(|process| Pid::from_raw(process.pid)).collect();
    assert!(!keepers.is_empty());
    for pid in [run.pid()].into_iter().chain(keepers) {
        kill_process(pid, Signal::KILL).unwrap();
    }
    run.end(LONG);
    let nobody = || others(ground).is_empty();
    assert!(!is_traced || processes::until(LONG, nobody), "at once: {:?}", others(ground));

    std::fs::write(ground.path("is_over"), "").unwrap();
    std::fs::remove_file(ground.path("has_begun")).unwrap();
    let next = ground.start(world, &["boot"]).end(LONG);
    assert_eq!(next.code, Some(0), "{}", next.said);
    // What is killed takes a moment to end.
    assert!(processes::until(Duration::from_secs(5), nobody), "{world:?}: {:?}", others(ground));
    let daemons = ground.processes();
    let daemons = daemons.iter().filter(|process| arguments(process) == "sleep\x001000\0").count();
    assert_eq!(daemons, 2, "the one of each run");
    processes::kill(ground.path("").to_str().unwrap().trim_end_matches('/'));
}

#[test]
fn nothing_lives_after_the_next_run_when_both_are_killed() {
    let mut rng = Rng::with_seed(seed());
    for trace in ["commands", "off"] {
        let is_traced = trace == "commands" && missing::tracing().is_none();
        let ground = Ground::new(&[("first", FIRST), ("second", &second(trace))]);
        ground.limits("grace = \"1s\"\nleak = \"500ms\"\n[guard]\nmax_attempts = 1000000\n");
        for world in World::all() {
            for _ in 0..repeats(2, 75) {
                let after = Duration::from_millis(rng.u64(0..50));
                kill_both(&ground, world, is_traced, after);
            }
        }
    }
}
