//! A keeper that is stuck. In a process of its own, since all that the process has started goes
//! with the keeper.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use provost_exec::{Ended, LeakPolicy, Limits, Orders, Secrets, Step, Supervisor};

#[test]
fn a_keeper_that_is_stuck_does_not_hold_the_run_up() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    std::fs::write(&script, "#!/bin/sh\necho hello\n").unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    // Opening it waits for a reader, as opening a file on a dead server may wait for ever.
    let (log, mode) = (folder.path().join("log"), rustix::fs::Mode::from_raw_mode(0o600));
    rustix::fs::mknodat(rustix::fs::CWD, &log, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let short = Duration::from_millis(300);
    let step = Step {
        name: "script".into(),
        args: Vec::new(),
        folder: folder.path().to_owned(),
        env: Vec::new(),
        log,
        trace: None,
        limits: Limits { timeout: short, slow: short, grace: short, leak: short },
        leak: LeakPolicy::Warn,
        xtrace: false,
        lines: false,
        secrets: Secrets::default(),
    };
    let mut supervisor = Supervisor::start().unwrap();
    let (_orders, mut orders) = tokio::sync::watch::channel(Orders::default());
    let begun = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = runtime.block_on(supervisor.execute(&step, &mut orders, |_| {}));
    assert!(matches!(outcome.ended, Ended::TimedOut(_)), "{outcome:?}");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}
