//! What outlives its tracer is unharmed.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use provost_exec::{EndCause, Trace};
use rustix::process::{Pid, Signal, kill_process};

use crate::trace::Bench;

fn status(pid: &str) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default()
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(10), "{what}");
        std::thread::yield_now();
    }
}

fn file(bench: &Bench, name: &str) -> PathBuf {
    bench.path().join(name)
}

#[test]
fn a_daemon_outlives_the_script() {
    let bench = Bench::new();
    // One waits in vfork, one is stopped, one has threads to come.
    let script = "#!/bin/bash\nsetsid bash -c 'echo $$ >pid; until [ -e go ]; do sleep 0.01; done; \
                  (exit 3); echo $? >went' </dev/null >/dev/null 2>&1 &\n\
                  setsid sleep 1001 </dev/null >/dev/null 2>&1 & echo $! >stopped; kill -STOP $!\n\
                  until [ -s pid ]; do sleep 0.01; done\n";
    let ran = bench.run(Trace::Commands, script);
    assert!(matches!(ran.outcome.end, EndCause::Exit(0)), "{ran:?}");
    assert!(ran.outcome.leaked.len() >= 2, "{ran:?}");
    let read = |name| std::fs::read_to_string(file(&bench, name)).unwrap_or_default();
    let (daemon, stopped) = (read("pid").trim().to_owned(), read("stopped").trim().to_owned());
    for pid in [&daemon, &stopped] {
        assert!(status(pid).contains("TracerPid:\t0\n"), "{}", status(pid));
    }
    assert!(status(&stopped).contains("State:\tT"), "it stays stopped: {}", status(&stopped));
    std::fs::write(file(&bench, "go"), "").unwrap();
    until("it goes on", || read("went") == "3\n");
    let stopped = Pid::from_raw(stopped.parse().unwrap()).unwrap();
    kill_process(stopped, Signal::KILL).unwrap();
}

#[test]
fn a_time_out_ends_all_that_is_traced() {
    let mut bench = Bench::new();
    bench.limits.timeout = Duration::from_millis(500);
    let script = "#!/bin/bash\ntrap '' TERM\nsetsid bash -c 'trap \"\" TERM; echo $$ >>pids; \
                  while :; do sleep 100; done' &\nbash -c 'echo $$ >>pids; kill -STOP $$' &\n\
                  echo $$ >>pids\nwhile :; do sleep 100; done\n";
    let ran = bench.run(Trace::Commands, script);
    assert!(matches!(ran.outcome.end, EndCause::TimedOut(_)), "{ran:?}");
    assert!(ran.outcome.leaked.is_empty(), "{ran:?}");
    let pids = std::fs::read_to_string(file(&bench, "pids")).unwrap();
    assert_eq!(pids.lines().count(), 3);
    assert!(pids.lines().all(|pid| status(pid).is_empty()), "{ran:?}");
}

/// The runner reports that its keeper was lost, traced as untraced.
#[test]
fn a_killed_keeper_is_reported_as_lost() {
    let bench = Bench::new();
    // What the runner kills when it has lost its keeper must not be among it: it hides from that.
    let script = "#!/bin/bash\n\
                  k=$PPID\n(until ! [ -e /proc/$k ]; do sleep 0.01; done; /bin/true; echo on >went) &\n\
                  kill -9 $PPID\nsleep 1000\n";
    bench.write("script", script);
    let ran = bench.run_file(Trace::Commands);
    assert!(matches!(ran.outcome.end, EndCause::KeeperLost), "{ran:?}");
}
