//! Kernels of before: that of Enterprise Linux 8, on which everything works, and that of 7.
//! `cargo xtask test --long old-kernel` runs the tests of steps, boots, kills and hostile scripts on each.

use std::time::Duration;

use provost_tests::{Ground, OldKernel, World, missing, skip_if};
use rustix::process::{Pid, Signal, kill_process};

/// Leaves somebody behind, ends by itself, and is too slow: each in its turn.
const SCRIPTS: [(&str, &str); 4] = [
    ("leaves", "#!/bin/sh\nsetsid sleep 1000 >/dev/null 2>&1 &\nexit 0\n"),
    ("works", "#!/bin/sh\nls -d /\n"),
    (
        "fails",
        "#!/bin/bash\n# /// provost\n# on_failure = \"continue\"\n# ///\nset -e\n\
         check() {\n    [ \"$1\" = good ]\n}\ncheck bad\n",
    ),
    (
        "hangs",
        "#!/bin/sh\n# /// provost\n# timeout = \"1s\"\n# ///\ntrap '' TERM\n\
         setsid sleep 1000 &\nwhile :; do sleep 1000; done\n",
    ),
];
/// More than any run takes, on a busy machine.
const LONG: Duration = Duration::from_secs(30);

fn needs(kernel: OldKernel) {
    skip_if(missing::tracing());
    let is_x86_64 = std::env::consts::ARCH == "x86_64";
    let other = kernel == OldKernel::Linux3_10 && !is_x86_64;
    skip_if(other.then(|| "the filter of Linux 3.10 is for x86_64".to_owned()));
}

/// Boots it. Returns what it said, and the log of `works`.
fn boot(kernel: OldKernel) -> (String, String) {
    boot_by(&kernel.by(), &World::all())
}

/// The same, by a program that is given it as its last arguments.
pub(crate) fn boot_by(by: &[String], worlds: &[World]) -> (String, String) {
    let kernel: Vec<&str> = by.iter().map(String::as_str).collect();
    let ground = Ground::new(&SCRIPTS);
    for world in worlds.iter().copied() {
        let run = ground.start_by(&kernel, world, &["boot"]).end(LONG);
        assert_eq!(run.code, Some(1), "{kernel:?}, {world:?}: {}", run.said);
        let leaves = ground.end_of("boot", "leaves");
        assert_eq!(leaves["result"], "success", "{leaves:#}");
        assert!(leaves["leaked"][0].as_str().unwrap().ends_with(" sleep"), "{leaves:#}");
        assert_eq!(ground.end_of("boot", "works")["result"], "success");
        let fails = ground.end_of("boot", "fails");
        assert_eq!(fails["cause"], "exit", "{fails:#}");
        assert!(fails["errorLine"].as_str().unwrap().starts_with("7 check "), "{fails:#}");
        let hangs = ground.end_of("boot", "hangs");
        assert_eq!(hangs["cause"], "timeout", "{hangs:#}");
        // Killed after a second's time-out and a second's grace, not later.
        assert!(hangs["durationMs"].as_u64().unwrap() < 10_000, "{hangs:#}");
        // What a step left on purpose lives on.
        let left = ground.processes();
        assert_eq!(left.iter().filter(|p| p.comm == "sleep").count(), 1, "{left:#?}");
        for process in left {
            let _ = kill_process(Pid::from_raw(process.pid).unwrap(), Signal::KILL);
        }
        ground.nobody_is_left(&run.said);
        ground.node().provost(&["release"]).expect(0);
    }
    let run = ground.start_by(&kernel, World::Walk, &["run", "works"]).end(LONG);
    assert_eq!(run.code, Some(0), "{}", run.said);
    let status = ground.node().status();
    let log = status["stages"].as_array().unwrap().last().unwrap()["log"].clone();
    (run.said, std::fs::read_to_string(log.as_str().unwrap()).unwrap())
}

/// What `provost check` prints, run by a program.
pub(crate) fn check_by(by: &[String]) -> String {
    let by: Vec<&str> = by.iter().map(String::as_str).collect();
    let ground = Ground::new(&SCRIPTS);
    let out = ground.node().command_by(&by, &["check"]).output().unwrap();
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn on_4_18_everything_works() {
    needs(OldKernel::Linux4_18);
    let (said, log) = boot(OldKernel::Linux4_18);
    assert!(log.contains(" exec F ") && log.contains(" ls -d /\n"), "{log}");
    assert!(!said.contains("traced") && !log.contains("traced"), "{said}\n{log}");
}

#[test]
fn on_3_10_all_but_the_trace_of_commands_works() {
    needs(OldKernel::Linux3_10);
    let (said, log) = boot(OldKernel::Linux3_10);
    let why = "commands aren't traced: waitid(2) has no __WALL before Linux 4.7";
    assert!(said.contains(why) && log.contains(why), "{said}\n{log}");
    assert!(log.contains(" stdout F /\n") && !log.contains(" exec F "), "{log}");
}

#[test]
fn a_run_that_is_killed_leaves_nobody_behind() {
    needs(OldKernel::Linux3_10);
    for kernel in [OldKernel::Linux4_18, OldKernel::Linux3_10] {
        let waits = "#!/bin/sh\nsetsid sleep 1000 &\necho >\"$PROVOST_TEST/begun\"\nsleep 1000\n";
        let ground = Ground::new(&[("waits", waits)]);
        let by = kernel.by();
        let run = ground.start_by(&[&by[0], &by[1]], World::Walk, &["run", "waits"]);
        provost_tests::processes::until(LONG, || ground.path("begun").exists());
        run.signal(Signal::KILL);
        run.end(LONG);
        ground.nobody_is_left(&kernel.to_string());
    }
}

#[test]
fn check_shows_what_is_missing_and_what_is_done_instead() {
    needs(OldKernel::Linux3_10);
    for (kernel, parts) in [
        (OldKernel::Linux4_18, &["pidfd_open (5.3): SIGCHLD reports a script's end"][..]),
        (
            OldKernel::Linux3_10,
            &["pidfd_open (5.3)", "memfd_create (3.17)", "waitid with __WALL (4.7)"],
        ),
    ] {
        let text = check_by(&kernel.by());
        let line = text.lines().find(|line| line.starts_with("ok      kernel ")).unwrap();
        assert!(parts.iter().all(|part| line.contains(part)), "{kernel}: {line}");
        let is_noted = text.contains("the commands of scripts aren't logged");
        assert_eq!(is_noted, kernel == OldKernel::Linux3_10, "{text}");
    }
}
