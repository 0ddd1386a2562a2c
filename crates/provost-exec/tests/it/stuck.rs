//! A keeper that is stuck. In a process of its own, since all that the process has started goes
//! with the keeper, but what steps before have left.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use provost_exec::{EndCause, LeakPolicy, Limits, Orders, Secrets, Step, Supervisor, Trace};
use rustix::process::{Pid, Signal};

fn step(folder: &Path, name: &str, text: &str) -> Step {
    let script = folder.join(name);
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    let short = Duration::from_millis(300);
    Step {
        name: name.into(),
        args: Vec::new(),
        folder: folder.to_owned(),
        env: Vec::new(),
        log: script.with_extension("log"),
        trace: Trace::Commands,
        digest: None,
        bash_trace: false,
        trace_lines: false,
        limits: Limits { timeout: short, slow: short, grace: short, leak: short },
        leak: LeakPolicy::Warn,
        xtrace: false,
        lines: false,
        secrets: Secrets::default(),
    }
}

/// Holds the process whose id comes to be in the file `keeper`, until it ends: it stands still, as
/// one does that writes to a file on a dead server. It would go on by itself after SIGSTOP.
#[expect(unsafe_code, reason = "no safe wrapper traces")]
fn hold(keeper: &Path) {
    let pid = loop {
        match std::fs::read_to_string(keeper) {
            Ok(text) => break text.trim().parse::<libc::pid_t>().unwrap(),
            Err(_) => std::thread::yield_now(),
        }
    };
    let none = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: no memory is involved.
    let held = unsafe {
        [
            libc::ptrace(libc::PTRACE_SEIZE, pid, none, none),
            libc::ptrace(libc::PTRACE_INTERRUPT, pid, none, none),
        ]
    };
    assert_eq!(held, [0, 0]);
    // A tracer that ends would let it go.
    std::thread::park();
}

#[test]
fn a_keeper_that_is_stuck_does_not_hold_the_run_up() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut daemon = step(folder, "daemon", "#!/bin/sh\nsleep 1000 >/dev/null 2>&1 &\n");
    daemon.limits.timeout = Duration::from_secs(20);
    let stuck = step(
        folder,
        "stuck",
        "#!/bin/sh\necho $PPID >keeper.new\nmv keeper.new keeper\nsleep 1000\n",
    );
    let next = step(folder, "next", "#!/bin/sh\n");
    let mut supervisor = Supervisor::start().unwrap();
    let (_orders, mut orders) = tokio::sync::watch::channel(Orders::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut run = |step| runtime.block_on(supervisor.execute(step, &mut orders, |_| {}));

    let left = run(&daemon).leaked;
    let (pid, _) = left.first().and_then(|left| left.split_once(' ')).unwrap();
    let daemon = Pid::from_raw(pid.parse().unwrap()).unwrap();
    let begun = Instant::now();
    let keeper = folder.join("keeper");
    let _holder = std::thread::spawn(move || hold(&keeper));
    let outcome = run(&stuck);
    assert!(matches!(outcome.end, EndCause::TimedOut(_)), "{outcome:?}");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    let outcome = run(&next);
    assert!(matches!(outcome.end, EndCause::NoKeeper), "{outcome:?}");
    rustix::process::kill_process(daemon, Signal::KILL).expect("it lives on");
}
