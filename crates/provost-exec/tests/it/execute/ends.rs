//! How scripts end, and what they leave.

use std::path::Path;
use std::time::{Duration, Instant};

use provost_exec::{EndCause, Event, LeakPolicy, Orders, Supervisor};
use provost_tests::skip_part;
use tokio::sync::watch;

use crate::execute::Bench;

#[test]
fn a_script_that_takes_too_long_is_ended_with_all_its_descendants() {
    let mut bench = Bench::new();
    bench.limits.timeout = Duration::from_millis(500);
    bench.limits.slow = Duration::from_millis(100);
    let hostile = "#!/bin/bash\ntrap '' TERM\nsetsid bash -c 'trap \"\" TERM; echo $$ >>pids; \
         while :; do sleep 100; done' &\necho $$ >>pids\nwhile :; do sleep 100; done\n";
    bench.write(hostile);
    let begun = Instant::now();
    let (outcome, events) = bench.run_telling(None);
    assert!(matches!(outcome.end, EndCause::TimedOut(_)), "{outcome:?}");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!(events, [Event::Slow, Event::Terminating, Event::Killing]);
    let pids = std::fs::read_to_string(bench.path().join("pids")).unwrap();
    assert_eq!(pids.lines().count(), 2);
    for pid in pids.lines() {
        assert!(!Path::new(&format!("/proc/{pid}")).exists(), "{pid} lives");
    }
}

#[test]
fn a_killed_script_names_its_signal_and_an_ended_run_is_no_success() {
    let bench = Bench::new();
    let outcome = bench.run("#!/bin/bash\nkill -KILL $$\n");
    assert!(
        matches!(&outcome.end, EndCause::Signal { name, .. } if name == "SIGKILL"),
        "{outcome:?}"
    );
    bench.write("#!/bin/bash\ntrap 'exit 0' TERM\nwhile :; do sleep 0.05; done\n");
    let (outcome, _) = bench.run_telling(Some(Duration::from_millis(300)));
    assert!(matches!(&outcome.end, EndCause::Interrupted(s) if s == "SIGTERM"), "{outcome:?}");
}

#[test]
fn a_run_that_is_to_end_ends_a_step_that_has_just_begun() {
    let bench = Bench::new();
    bench.write("#!/bin/sh\nexec sleep 1000\n");
    let stop = Orders { stop: Some("SIGTERM"), ..Orders::default() };
    let (_order, mut orders) = watch::channel(stop);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut supervisor = Supervisor::start().unwrap();
    for _ in 0..20 {
        let begun = Instant::now();
        let outcome = runtime.block_on(supervisor.execute(&bench.step(), &mut orders, |_| {}));
        assert!(matches!(&outcome.end, EndCause::Interrupted(_)), "{outcome:?}");
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }
}

#[test]
fn each_signal_has_its_name() {
    let bench = Bench::new();
    for name in ["PROF", "VTALRM", "IO", "STKFLT", "PWR", "RTMIN", "RTMIN+3", "RTMIN+29"] {
        let outcome = bench.run(&format!("#!/bin/bash\nkill -{name} $$\n"));
        let EndCause::Signal { name: told, .. } = outcome.end else { panic!("{outcome:?}") };
        assert_eq!(told, format!("SIG{name}"));
    }
}

#[test]
fn a_core_file_is_told_of_where_there_is_one() {
    let bench = Bench::new();
    let core = |limit: &str| {
        let outcome = bench.run(&format!("#!/bin/bash\nulimit -c {limit}\nkill -SEGV $$\n"));
        let EndCause::Signal { name, core } = outcome.end else { panic!("{outcome:?}") };
        assert_eq!(name, "SIGSEGV");
        core
    };
    assert!(!core("0"));
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    if pattern.trim_end() != "core" {
        return skip_part(&format!("a core file: they go elsewhere here: {}", pattern.trim_end()));
    }
    assert!(core("unlimited"));
    let files = std::fs::read_dir(bench.path()).unwrap().flatten();
    assert!(files.into_iter().any(|f| f.file_name().to_string_lossy().starts_with("core")));
}

#[test]
fn descendants_that_outlive_the_script_are_named_and_don_t_hold_it_up() {
    let mut bench = Bench::new();
    let script = "#!/bin/bash\nsleep 300 &\necho done\n";
    let begun = Instant::now();
    let outcome = bench.run(script);
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert!(matches!(outcome.end, EndCause::Exit(0)));
    assert!(outcome.leaked[0].ends_with(" sleep"), "{outcome:?}");
    let pid = outcome.leaked[0].split(' ').next().unwrap().to_owned();
    assert!(Path::new(&format!("/proc/{pid}")).exists(), "a daemon lives on");
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();

    bench.leak = LeakPolicy::Fail;
    let outcome = bench.run(script);
    assert!(matches!(outcome.end, EndCause::Leaked), "{outcome:?}");
    let pid = outcome.leaked[0].split(' ').next().unwrap().to_owned();
    assert!(!Path::new(&format!("/proc/{pid}")).exists(), "it was to be killed");
}
