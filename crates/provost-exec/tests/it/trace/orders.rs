//! Whatever comes first of what the kernel reports, the record is the same: the keeper is held up for a
//! moment between any two of its steps, in which everything else goes on.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use fastrand::Rng;
use libc::{c_int, c_long, c_uint, pid_t};
use provost_exec::{LeakPolicy, Supervisor, Trace};
use provost_tests::{processes, repeats, seed};
use rustix::process::{Pid, Signal, kill_process};

use crate::trace::{Bench, Ran};

/// The system calls between which something may change for the keeper.
const STEPS: [c_long; 4] = [libc::SYS_waitid, libc::SYS_wait4, libc::SYS_ptrace, libc::SYS_poll];
/// How long it is held up: longer than what a script does between two steps.
const HELD: Duration = Duration::from_millis(40);
/// What no script here takes, however slow its keeper is.
const LONG: Duration = Duration::from_secs(5);
/// How long a step takes that waits for what has come already.
const LEAK: Duration = Duration::from_secs(10);

/// What goes on while the keeper is held up: as much as may in that time.
fn anything(_keeper: pid_t) {
    std::thread::sleep(HELD);
}

/// Holds `keeper` up before the nth of its `steps`, if it comes to that, until `meanwhile` is over. Returns how many
/// there were.
fn hold_up(
    keeper: pid_t,
    steps: &'static [c_long],
    nth: usize,
    meanwhile: impl FnOnce(pid_t) + Send + 'static,
) -> JoinHandle<usize> {
    let (ready, is_ready) = std::sync::mpsc::channel();
    let holder = std::thread::spawn(move || {
        trace(libc::PTRACE_SEIZE, keeper, libc::PTRACE_O_TRACESYSGOOD);
        trace(libc::PTRACE_INTERRUPT, keeper, 0);
        ready.send(()).unwrap();
        let (mut begun, mut meanwhile) = (0, Some(meanwhile));
        while let Some(stop) = next_stop(keeper) {
            let is_syscall = stop == libc::SIGTRAP | 0x80;
            if is_syscall && entered(keeper).is_some_and(|call| steps.contains(&call)) {
                begun += 1;
                if begun == nth
                    && let Some(meanwhile) = meanwhile.take()
                {
                    meanwhile(keeper);
                }
            }
            // What is no signal of its own is a stop that its tracer has asked for.
            let is_signal = !is_syscall && stop >> 8 == 0;
            trace(libc::PTRACE_SYSCALL, keeper, if is_signal { stop } else { 0 });
        }
        begun
    });
    is_ready.recv().unwrap();
    holder
}

#[expect(unsafe_code, reason = "no safe wrapper traces")]
fn trace(request: c_uint, pid: pid_t, data: c_int) {
    let data = std::ptr::without_provenance_mut::<libc::c_void>(data as usize);
    // SAFETY: no memory is involved. It may have ended.
    unsafe { libc::ptrace(request, pid, std::ptr::null_mut::<libc::c_void>(), data) };
}

/// Which system call is about to begin.
#[expect(unsafe_code, reason = "as above")]
fn entered(pid: pid_t) -> Option<c_long> {
    // SAFETY: plain data for which all zeroes is a value; the kernel writes no more than there is room for.
    unsafe {
        let mut info: libc::ptrace_syscall_info = std::mem::zeroed();
        let size = std::mem::size_of_val(&info);
        libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, pid, size, &raw mut info);
        (info.op == libc::PTRACE_SYSCALL_INFO_ENTRY).then_some(info.u.entry.nr as c_long)
    }
}

/// Why it stops next: a signal, and what is above it. None: it has ended.
#[expect(unsafe_code, reason = "as above")]
fn next_stop(pid: pid_t) -> Option<c_int> {
    let mut status = 0;
    // SAFETY: the pointer is to a local that outlives the call.
    let waited = unsafe { libc::waitpid(pid, &raw mut status, libc::__WALL) };
    (waited == pid && libc::WIFSTOPPED(status)).then_some(status >> 8)
}

/// The keeper that this thread has started last.
fn keeper() -> pid_t {
    let children = std::fs::read_to_string("/proc/thread-self/children").unwrap();
    children.split_ascii_whitespace().next_back().unwrap().parse().unwrap()
}

/// Runs the script with its keeper held up before the nth of its `steps`. Returns how many it has.
fn run(
    bench: &Bench,
    steps: &'static [c_long],
    nth: usize,
    meanwhile: impl FnOnce(pid_t) + Send + 'static,
) -> (Ran, usize) {
    let mut held = None;
    let ran = bench.run_step(&bench.step(Trace::Commands), || {
        let supervisor = Supervisor::start()?;
        held = Some((keeper(), hold_up(keeper(), steps, nth, meanwhile)));
        Ok(supervisor)
    });
    let (keeper, holder) = held.unwrap();
    // One whose step has left something behind stays until its runner ends, which is this process.
    kill(keeper);
    (ran, holder.join().unwrap())
}

/// What is recorded of a run whose keeper is held up before the nth step, and how many it has.
fn record(bench: &Bench, nth: usize) -> (String, usize) {
    let (ran, steps) = run(bench, &STEPS, nth, anything);
    let is_late = ran.outcome.duration > LONG;
    let mut lines = ran.lines();
    lines.sort();
    let outcome = &ran.outcome;
    let names = outcome.leaked.iter().map(|left| left.split_once(' ').unwrap().1);
    let names: Vec<_> = names.collect();
    let counts = (outcome.commands, outcome.commands_failed);
    let record = format!("{:?} left {names:?} {counts:?} late {is_late} {lines:#?}", outcome.end);
    for left in &outcome.leaked {
        kill(left.split_once(' ').unwrap().0.parse().unwrap());
    }
    (record, steps)
}

/// Kills one that may have ended.
fn kill(pid: pid_t) {
    let _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
}

/// Runs a script, which ends by itself, with its keeper held up at any of its steps.
#[track_caller]
fn is_recorded_alike(script: &str, leak: LeakPolicy, expected: &[&str]) {
    is_recorded_alike_until(LONG, script, leak, expected);
}

#[track_caller]
fn is_recorded_alike_until(timeout: Duration, script: &str, leak: LeakPolicy, expected: &[&str]) {
    let mut bench = Bench::new();
    bench.leak = leak;
    bench.limits.leak = LEAK;
    bench.limits.timeout = timeout;
    bench.limits.grace = Duration::from_millis(100);
    bench.write("script", script);
    let (first, steps) = record(&bench, 0);
    for part in expected {
        assert!(first.contains(part), "{part}: {script}{first}");
    }
    let mut rng = Rng::with_seed(seed());
    let mut places: Vec<usize> = (1..=steps).collect();
    rng.shuffle(&mut places);
    let mut records = BTreeMap::from([(first, vec![0])]);
    for nth in places.into_iter().take(repeats(8, usize::MAX)) {
        records.entry(record(&bench, nth).0).or_default().push(nth);
    }
    assert_eq!(records.len(), 1, "{script}, held up before each of these: {records:#?}");
}

#[test]
fn a_job_ends_after_its_script() {
    let script = "#!/bin/bash\n(sleep 0.1; echo late) &\nexit 0\n";
    for leak in [LeakPolicy::Fail, LeakPolicy::Kill, LeakPolicy::Warn] {
        is_recorded_alike(script, leak, &["Exit(0) left [] (1, 0) late false", "late\"", "exit 0"]);
    }
}

#[test]
fn a_job_is_killed_by_its_script() {
    let script = "#!/bin/bash\nsleep 30 & sleep 0.1; kill $!\n";
    is_recorded_alike(script, LeakPolicy::Fail, &["Exit(0) left [] (2, 1)", "exit SIGTERM"]);
    let script = "#!/bin/sh\nsleep 30 & sleep 0.1; kill $!; exit 1\n";
    is_recorded_alike(script, LeakPolicy::Fail, &["Exit(1) left [] (2, 1)", "exit SIGTERM"]);
}

#[test]
fn the_script_ends_before_what_it_reads_from() {
    let script = "#!/bin/bash\nwhile read -r x; do echo $x; done < <(ls /nonexistent)\n";
    is_recorded_alike(script, LeakPolicy::Fail, &["Exit(0) left [] (1, 1)", "exit 2"]);
    let script = "#!/bin/bash\nread -r x < <(yes)\n";
    is_recorded_alike(script, LeakPolicy::Fail, &["Exit(0) left [] (1, 1)", "exit SIGPIPE"]);
}

#[test]
fn jobs_end_in_any_order() {
    let script = "#!/bin/sh\nfor i in 1 2 3; do (/bin/true; exec sh -c \"exit $i\") & done\n";
    is_recorded_alike(script, LeakPolicy::Fail, &["Exit(0) left [] (6, 3)"]);
    let script = "#!/bin/sh\nfor i in 1 2 3; do (/bin/true; exec sh -c \"exit $i\") & done\nwait\n";
    is_recorded_alike(script, LeakPolicy::Fail, &["Exit(0) left [] (6, 3)"]);
}

#[test]
fn a_job_that_holds_no_output_ends_after_its_script() {
    let script = "#!/bin/sh\n(sleep 0.1; /bin/true) >/dev/null 2>&1 &\n";
    is_recorded_alike(script, LeakPolicy::Fail, &["Exit(0) left [] (2, 0)"]);
    let script = "#!/bin/sh\nsetsid sleep 0.1 >/dev/null 2>&1 &\nexec /bin/echo end\n";
    is_recorded_alike(script, LeakPolicy::Fail, &["Exit(0) left [] (2, 0)"]);
}

#[test]
fn a_job_is_left_behind() {
    let script = "#!/bin/sh\nsleep 30 >/dev/null 2>&1 &\n/bin/true\n";
    let killed = "left [\"sleep\"] (2, 1) late false";
    is_recorded_alike(script, LeakPolicy::Fail, &["Leaked", killed, "exit SIGKILL"]);
    is_recorded_alike(script, LeakPolicy::Kill, &["Exit(0)", killed, "exit SIGKILL"]);
    is_recorded_alike(script, LeakPolicy::Warn, &["Exit(0) left [\"sleep\"] (2, 0)"]);
}

/// Kills the job that `keeper` traces, if it does, and notes that.
fn kill_traced(keeper: pid_t, is_killed: &AtomicBool) {
    let is = |pid: &pid_t, lines: &[&str]| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        lines.iter().all(|is| status.lines().any(|line| line.starts_with(is)))
    };
    let traced = format!("TracerPid:\t{keeper}");
    let all = fs::read_dir("/proc").unwrap().flatten();
    let mut all = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    if let Some(job) = all.find(|pid| is(pid, &["Name:\tsleep", &traced])) {
        kill(job);
        let ended = || is(&job, &["State:\tZ"]);
        assert!(processes::until(LONG, ended), "{job}");
        is_killed.store(true, Ordering::Relaxed);
    }
}

#[test]
fn what_ends_while_it_is_traced_is_in_the_log() {
    const STEPS: &[c_long] = &[libc::SYS_ptrace];
    let mut bench = Bench::new();
    bench.leak = LeakPolicy::Warn;
    bench.write("script", "#!/bin/sh\nsleep 30 >/dev/null 2>&1 &\n/bin/true\n");
    let (_, steps) = run(&bench, STEPS, 0, anything);
    // By the last one it is detached from, by the one before it is interrupted for that.
    let mut killed = 0;
    for nth in steps - 2..=steps {
        let is_killed = Arc::new(AtomicBool::new(false));
        let note = Arc::clone(&is_killed);
        let (ran, _) = run(&bench, STEPS, nth, move |keeper| kill_traced(keeper, &note));
        for left in &ran.outcome.leaked {
            kill(left.split_once(' ').unwrap().0.parse().unwrap());
        }
        let is_killed = is_killed.load(Ordering::Relaxed);
        let ends = ran.lines().iter().filter(|line| *line == "exit SIGKILL").count();
        assert_eq!(ends, usize::from(is_killed), "before step {nth} of {steps}: {ran:#?}");
        killed += usize::from(is_killed);
    }
    assert!(killed > 1, "{killed} of {steps}");
}

#[test]
fn the_script_is_out_of_time() {
    let script = "#!/bin/sh\nsleep 30 & sh -c 'trap \"\" TERM; sleep 31; sleep 32'\n";
    let expected = ["TimedOut", "left [] (3, 3) late false", "exit SIGTERM", "exit SIGKILL"];
    // Its three commands have begun by then on a busy machine as well.
    let timeout = Duration::from_secs(2);
    is_recorded_alike_until(timeout, script, LeakPolicy::Warn, &expected);
}
