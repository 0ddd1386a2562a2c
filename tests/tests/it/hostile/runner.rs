//! Signals to the runner and to its keeper that end them.

use std::io::Write;
use std::time::Duration;

use provost_tests::processes::{look, open, ready, until};
use provost_tests::{Ground, World, missing, skip_if};
use rustix::io::Errno;
use rustix::process::{Signal, pidfd_send_signal};
use serde_json::json;

use crate::hostile::pipes::{SOON, WAITS, begin};
use crate::hostile::scripts::{LIMIT, LONG};

/// Handles nothing.
const STUBBORN: &str = r#"#!/bin/sh
trap '' TERM INT HUP
setsid sleep 1000 </dev/null >/dev/null 2>&1 &
echo $$ >"$PROVOST_TEST/begun"
while :; do
    sleep 1000
done
"#;
/// Ends when it is told to; its child handles nothing.
const STUBBORN_CHILD: &str = r#"#!/bin/sh
sh -c 'trap "" TERM INT HUP
    echo $$ >"$PROVOST_TEST/begun"
    while :; do sleep 1000; done' </dev/null >/dev/null 2>&1
"#;

#[test]
fn a_signal_ends_the_run_in_order() {
    let signals = [
        (Signal::TERM, "SIGTERM"),
        (Signal::INT, "SIGINT"),
        (Signal::HUP, "SIGHUP"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::PROF, "SIGPROF"),
    ];
    for world in World::all() {
        for (signal, name) in signals {
            let ground = Ground::new(&[("waits", WAITS)]);
            let (run, _, _go) = begin(&ground, world, "waits");
            run.signal(signal);
            let run = run.end(LIMIT);
            ground.nobody_is_left(&run.said);
            assert_eq!(run.code, Some(5), "{}", run.said);
            let end = ground.end_of("run", "waits");
            assert_eq!((&end["cause"], &end["signal"]), (&json!("interrupted"), &json!(name)));
            let journal = ground.node().journal("run");
            let last = journal.last().unwrap();
            assert_eq!(
                (&last["phase"], &last["result"]),
                (&json!("service end"), &json!("failure"))
            );
        }
    }
}

/// As systemd does that ends a unit or a session.
#[test]
fn a_signal_to_script_and_runner_at_once_is_an_interruption() {
    let dies = "#!/bin/sh\necho $$ >\"$PROVOST_TEST/begun\"\nexec sleep 1000\n";
    let exits = "#!/bin/sh\ntrap 'exit 0' TERM\n\
         echo $$ >\"$PROVOST_TEST/begun\"\nwhile :; do sleep 0.01; done\n";
    let leaves = "#!/bin/sh\ntrap 'exit 0' TERM\nsleep 1000 &\n\
         echo $$ >\"$PROVOST_TEST/begun\"\nwait\n";
    for world in World::all() {
        for (text, is_slow) in [(dies, false), (dies, true), (exits, false), (leaves, false)] {
            let ground = Ground::new(&[("step", text)]);
            let (run, script, _go) = begin(&ground, world, "step");
            let script = open(script).unwrap();
            if is_slow {
                // The runner hears of it last of all.
                run.signal(Signal::STOP);
            }
            run.signal(Signal::TERM);
            // A quick runner has ended it already.
            let sent = pidfd_send_signal(&script, Signal::TERM);
            assert!(matches!(sent, Ok(()) | Err(Errno::SRCH)), "{sent:?}");
            if is_slow {
                assert!(ready(&script, SOON));
                run.signal(Signal::CONT);
            }
            let run = run.end(LIMIT);
            ground.nobody_is_left(&run.said);
            let end = ground.end_of("run", "step");
            let how = (&end["cause"], &end["signal"]);
            assert_eq!(how, (&json!("interrupted"), &json!("SIGTERM")), "{text} {}", run.said);
            assert_eq!(run.code, Some(5), "{}", run.said);
        }
    }
}

#[test]
fn what_had_ended_well_before_the_signal_is_a_success() {
    let leaves = "#!/bin/sh\nsleep 1000 &\necho $$ >\"$PROVOST_TEST/begun\"\n";
    for world in World::all() {
        let ground = Ground::new(&[("leaves", leaves)]);
        ground.limits("leak = \"3s\"\n");
        let (run, _, _go) = begin(&ground, world, "leaves");
        assert!(!run.ends_within(Duration::from_secs(1)), "it waits for the pipes' end");
        run.signal(Signal::TERM);
        let run = run.end(LIMIT);
        assert_eq!(ground.end_of("run", "leaves")["result"], "success", "{}", run.said);
    }
}

#[test]
fn a_second_signal_hurries() {
    let scripts = [STUBBORN, STUBBORN_CHILD];
    for (world, script) in World::all().into_iter().flat_map(|w| scripts.map(|s| (w, s))) {
        let ground = Ground::new(&[("stubborn", script)]);
        ground.limits("grace = \"10m\"\n");
        let (run, _, _go) = begin(&ground, world, "stubborn");
        run.signal(Signal::TERM);
        assert!(!run.ends_within(Duration::from_millis(300)), "it has ten minutes of grace");
        run.signal(Signal::TERM);
        let run = run.end(LIMIT);
        ground.nobody_is_left(&run.said);
        assert_eq!(run.code, Some(5), "{}", run.said);
        assert_eq!(ground.end_of("run", "stubborn")["cause"], "interrupted");
    }
}

#[test]
fn a_runner_that_is_killed_leaves_nobody_behind() {
    for world in World::all() {
        let ground = Ground::new(&[("stubborn", STUBBORN)]);
        let (run, _, _go) = begin(&ground, world, "stubborn");
        run.signal(Signal::KILL);
        run.end(LIMIT);
        // Within a second, by which it is looked for.
        ground.nobody_is_left("the runner was killed");

        // The next start says so in the journal.
        ground.limits("timeout = \"100ms\"\ngrace = \"100ms\"\n");
        ground.start(world, &["run", "stubborn"]).end(LIMIT);
        let journal = ground.node().journal("run");
        let first = &journal[0]["run"];
        let cut = journal.iter().rfind(|e| e["run"] == *first).unwrap();
        assert_eq!(
            (&cut["phase"], &cut["cause"]),
            (&json!("service end"), &json!("interrupted")),
            "{journal:#?}"
        );
    }
}

#[test]
fn a_keeper_that_is_killed_fails_the_step_and_leaves_nobody_behind() {
    for world in World::all() {
        let ground = Ground::new(&[("stubborn", STUBBORN)]);
        let (run, script, _go) = begin(&ground, world, "stubborn");
        let keeper = look(script).unwrap().parent;
        assert_ne!(keeper, run.pid().as_raw_nonzero().get());
        let pidfd = open(keeper).unwrap();
        pidfd_send_signal(&pidfd, Signal::KILL).unwrap();
        let run = run.end(LIMIT);
        ground.nobody_is_left(&run.said);
        assert!(matches!(run.code, Some(1 | 5)), "{}", run.said);
        let end = ground.end_of("run", "stubborn");
        assert_eq!(end["result"], "failure");
        assert!(end["errorMessage"].as_str().unwrap().contains("killed"), "{end:#}");
    }
}

/// While the step waits for its retry, what it left behind kills the runner's children.
#[test]
fn without_a_keeper_a_step_is_said_not_to_have_begun() {
    let flaky = "#!/bin/sh\n# /// provost\n# retries = 1\n# ///\n\
                 runner=$(awk '/^PPid:/ { print $2 }' /proc/$PPID/status)\n\
                 (sleep 0.5; kill -KILL $(cat /proc/$runner/task/$runner/children)) \
                 >/dev/null 2>&1 &\nexit 1\n";
    let ground = Ground::new(&[("flaky", flaky)]);
    let run = ground.start(World::Walk, &["boot"]).end(LONG);
    ground.nobody_is_left(&run.said);
    assert_eq!(run.code, Some(1), "{}", run.said);
    let journal = ground.node().journal("boot");
    let ends = journal.iter().filter(|e| e["stage"] == "flaky" && e["phase"] == "stage end");
    let causes: Vec<_> = ends.map(|e| e["cause"].as_str().unwrap()).collect();
    assert_eq!(causes, ["exit", "exec"], "{}", run.said);
    let end = ground.end_of("boot", "flaky");
    assert!(end["errorMessage"].as_str().unwrap().contains("was not started"), "{end:#}");
    assert!(end["hint"].is_string(), "{end:#}");
}

/// As `pkill -9 provost` does. What else the script has started goes when the next run starts, if
/// there are cgroups.
#[test]
fn a_script_goes_with_its_runner_and_its_keeper() {
    for world in World::all() {
        let ground = Ground::new(&[("stubborn", STUBBORN), ("next", "#!/bin/sh\n")]);
        let (run, script, _go) = begin(&ground, world, "stubborn");
        let (keeper, script) = (open(look(script).unwrap().parent).unwrap(), open(script).unwrap());
        // The runner has no chance to see the keeper's end.
        run.signal(Signal::STOP);
        pidfd_send_signal(&keeper, Signal::KILL).unwrap();
        run.signal(Signal::KILL);
        assert!(ready(&script, SOON), "{:#?}", ground.processes());
        run.end(LIMIT);
        if world == World::Cgroup {
            let next = ground.start(world, &["run", "next"]).end(LIMIT);
            assert_eq!(next.code, Some(0), "{}", next.said);
            ground.nobody_is_left(&next.said);
        }
    }
}

/// Runs commands one after the other, far from its script, which goes with its keeper.
const BUSY: &str = r#"#!/bin/sh
setsid sh -c 'n=0; while :; do /bin/true; n=$((n + 1)); echo $n >"$PROVOST_TEST/count"; done' \
    </dev/null >/dev/null 2>&1 &
echo $$ >"$PROVOST_TEST/begun"
while :; do /bin/true; done
"#;

/// What is traced stops again and again. A tracer that is killed must not leave it so.
#[test]
fn nobody_outlives_runner_and_keeper_that_are_killed() {
    skip_if(missing::tracing());
    for _ in 0..10 {
        let ground = Ground::new(&[("busy", BUSY)]);
        let (run, script, _go) = begin(&ground, World::Walk, "busy");
        let count = || std::fs::read_to_string(ground.path("count")).unwrap_or_default();
        assert!(until(SOON, || !count().is_empty()));
        let keeper = open(look(script).unwrap().parent).unwrap();
        run.signal(Signal::STOP);
        pidfd_send_signal(&keeper, Signal::KILL).unwrap();
        run.signal(Signal::KILL);
        run.end(LIMIT);
        // What the keeper traces is killed with it.
        assert!(ready(&keeper, SOON));
        assert!(until(SOON, || ground.processes().is_empty()), "{:#?}", ground.processes());
    }
}

#[test]
fn a_second_start_does_no_harm_to_a_run() {
    for world in World::all() {
        let ground = Ground::new(&[("waits", WAITS)]);
        let (run, _, mut go) = begin(&ground, world, "waits");
        // It shares the file in which the first one says what it has to say.
        let second = ground.command(world, &["run", "waits"]).output().unwrap();
        assert_eq!(second.status.code(), Some(6), "{second:?}");
        go.write_all(b"go\n").unwrap();
        let run = run.end(LIMIT);
        assert_eq!(run.code, Some(0), "{}", run.said);
    }
}

#[test]
fn a_second_run_waits_for_no_daemon_of_the_first() {
    for world in World::all() {
        let leaves = "#!/bin/sh\nsleep 1000 &\nexit 0\n";
        let ground = Ground::new(&[("leaves", leaves)]);
        for _ in 0..2 {
            let run = ground.start(world, &["run", "leaves"]).end(LIMIT);
            assert_eq!(run.code, Some(0), "the lock is free again: {}", run.said);
        }
        let sleep = ground.processes().into_iter().find(|p| p.comm == "sleep").unwrap();
        assert!(!ready(&open(sleep.pid).unwrap(), Duration::ZERO), "the first one lives");
    }
}
