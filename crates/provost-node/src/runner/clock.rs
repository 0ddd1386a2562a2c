use std::time::Duration;

use provost_exec::Supervisor;

use crate::observe::observer::RunContext;
use crate::state::progress::Progress;

/// How long `run` has run, on both sides of its reboots, pauses left out.
pub(crate) fn ran(run: &RunContext, progress: &Progress, executor: &Supervisor) -> Duration {
    let here = run.began.elapsed().saturating_sub(executor.paused());
    Duration::from_millis(progress.ran_ms) + here
}

/// In whole milliseconds, as records have it.
pub(crate) fn milliseconds(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}
