//! SIGTSTP, which pauses a run until SIGCONT.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use provost_tests::faults::{Fault, Times};
use provost_tests::processes::{look, until};
use provost_tests::{Ground, Run, World};
use rustix::process::Signal;

use crate::hostile::pipes::{SOON, WAITS, begin};
use crate::hostile::scripts::LIMIT;

/// Has the script's runner pause.
const ASK: &str = "kill -TSTP \"$(awk '/^PPid:/ {print $2}' /proc/$PPID/status)\"\n";
/// Says that it has run.
const NEXT: &str = "#!/bin/sh\n: >\"$PROVOST_TEST/next\"\n";

/// Waits until the runner has taken a SIGTSTP that it was sent.
fn was_heard(run: &Run) {
    let status = format!("/proc/{}/status", run.pid().as_raw_nonzero());
    let pending =
        || std::fs::read_to_string(&status).unwrap().contains("ShdPnd:\t0000000000080000");
    while pending() {}
}

#[test]
fn a_stop_pauses_script_and_clocks() {
    const PAUSE: Duration = Duration::from_millis(3500);
    for world in World::all() {
        let ground = Ground::new(&[("waits", WAITS)]);
        let (run, script, mut go) = begin(&ground, world, "waits");
        let runner = run.pid().as_raw_nonzero().get();
        let is_stopped = |pid| look(pid).is_some_and(|p| p.is_stopped());
        run.signal(Signal::TSTP);
        assert!(until(SOON, || is_stopped(runner)), "the runner waits");
        let still = |p: &provost_tests::processes::Process| p.comm != "sleep" || p.is_stopped();
        // A stop takes hold of a process when it is next scheduled.
        let all_still = || is_stopped(script) && ground.processes().iter().all(still);
        assert!(until(SOON, all_still), "so does its tree");
        // Longer than its time-out and its grace.
        assert!(!run.ends_within(PAUSE));
        run.signal(Signal::CONT);
        assert!(until(SOON, || !is_stopped(script)), "it goes on");
        go.write_all(b"go\n").unwrap();
        let run = run.end(LIMIT + LIMIT);
        ground.nobody_is_left(&run.said);
        assert_eq!(run.code, Some(0), "{}", run.said);
        let took = ground.end_of("run", "waits")["durationMs"].as_u64().unwrap();
        assert!(took < 2000, "{took} ms, with the pause");
        let took = ground.node().journal("run").last().unwrap()["durationMs"].as_u64().unwrap();
        let most = run.took - PAUSE;
        assert!(Duration::from_millis(took) <= most, "the run, with the pause: {took} ms");
    }
}

#[test]
fn a_pause_that_is_taken_back_at_once_stops_nothing() {
    for world in World::all().into_iter().flat_map(|world| [world; 5]) {
        let ground = Ground::new(&[("waits", WAITS)]);
        let (run, _, mut go) = begin(&ground, world, "waits");
        run.signal(Signal::TSTP);
        // Until then SIGCONT would undo it in the kernel.
        was_heard(&run);
        run.signal(Signal::CONT);
        go.write_all(b"go\n").unwrap();
        let run = run.end(LIMIT);
        ground.nobody_is_left(&run.said);
        assert_eq!(run.code, Some(0), "{}", run.said);
    }
}

/// Asserts that `run`, which was told to pause, waits before `next` has begun, and goes on when it
/// may.
#[track_caller]
fn holds_what_is_next(run: Run, next: &Path) {
    let is_stopped = || look(run.pid().as_raw_nonzero().get()).unwrap().is_stopped();
    assert!(until(SOON, is_stopped), "the runner waits");
    assert!(!until(Duration::from_millis(200), || next.exists()), "nothing goes on");
    run.signal(Signal::CONT);
    let run = run.end(LIMIT);
    assert_eq!(run.code, Some(0), "{}", run.said);
    std::fs::remove_file(next).unwrap();
}

#[test]
fn a_pause_at_the_end_of_a_step_holds_what_has_not_begun() {
    let asks = format!("#!/bin/sh\n{ASK}");
    let ground = Ground::new(&[("asks", &asks), ("short", "#!/bin/sh\n"), ("next", NEXT)]);
    for world in World::all().into_iter().flat_map(|world| [world; 5]) {
        // The short one may have begun already, right after the one that asks.
        let run = ground.start(world, &["run", "-P", "asks,short,next"]);
        holds_what_is_next(run, &ground.path("next"));
    }
}

#[test]
fn a_pause_at_the_end_of_a_try_holds_the_next() {
    let tries = format!(
        "#!/bin/sh\n# /// provost\n# retries = 1\n# ///\n\
         cd \"$PROVOST_TEST\"\nif rm first; then\n{ASK}exit 1\nfi\n: >next\n"
    );
    let ground = Ground::new(&[("tries", &tries)]);
    for world in World::all() {
        std::fs::write(ground.path("first"), "").unwrap();
        holds_what_is_next(ground.start(world, &["run", "tries"]), &ground.path("next"));
    }
}

#[test]
fn a_pause_while_the_run_fetches_holds_the_first_script() {
    let ground = Ground::new(&[("next", NEXT)]);
    for world in World::all() {
        let server = ground.server();
        server.fault("/", Times::Always, Fault::Stall);
        let run = ground.start(world, &["run", "next"]);
        assert!(server.until(SOON, |asked| !asked.is_empty()));
        run.signal(Signal::TSTP);
        was_heard(&run);
        server.repair();
        holds_what_is_next(run, &ground.path("next"));
    }
}
