//! Short scripts, each of whose commands is traced, on a busy machine: no wrong status, and none is
//! reported to have left processes behind that hasn't.

use std::process::{Child, Command};
use std::time::Duration;

use provost_tests::{Ground, World};

/// The first half of each pipeline learns of its end after the script's own. Bash doesn't wait
/// for a process substitution at all.
const SHORT: &str = "#!/bin/bash\nhead -1 < <(yes)\nyes | head -1\n(sleep 0.01 &)\nhead -1 < <(yes)\n\
     sh -c 'exit 7'\n[ $? = 7 ] || exit 1\nsh -c 'kill -9 $$' 2>/dev/null\n[ $? = 137 ] || exit 1\n";
/// How many scripts one run has.
const STEPS: usize = 250;
/// How many processes want the processors meanwhile.
const BUSY: usize = 4;
/// The most time for one run. A machine that is busy with more than this takes some minutes.
const LIMIT: Duration = Duration::from_secs(1800);

/// Keeps the machine busy while it lives.
struct Load(Vec<Child>);

impl Load {
    fn new() -> Self {
        let busy = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        Self((0..BUSY).map(|_| busy()).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn short_scripts(runs: usize) {
    let ground = Ground::new(&[("short", SHORT)]);
    let list = vec!["short"; STEPS].join(",");
    let _load = Load::new();
    for done in 0..runs {
        eprintln!("{} of {} scripts with and without cgroups", done * STEPS, runs * STEPS);
        for world in World::all() {
            let run = ground.start(world, &["run", "-P", &list]).end(LIMIT);
            let alarms: Vec<&str> =
                run.said.lines().filter(|line| line.contains("left processes behind")).collect();
            assert!(alarms.is_empty(), "{} of {STEPS}, {world:?}: {alarms:#?}", alarms.len());
            assert_eq!(run.code, Some(0), "{}", run.said);
        }
        let journal = ground.node().journal("run");
        assert!(journal.iter().all(|entry| entry["leaked"].is_null()));
    }
    ground.nobody_is_left("all have ended");
}

#[test]
fn short_scripts_under_load_leave_nobody_behind() {
    short_scripts(1);
}

/// `cargo nextest run --run-ignored only false_alarms::`
#[test]
#[ignore = "takes some minutes"]
fn ten_thousand_short_scripts_under_load_leave_nobody_behind() {
    short_scripts(20);
}
