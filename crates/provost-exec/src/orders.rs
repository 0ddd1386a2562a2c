//! What is wanted of a run from outside of it.

use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::outcome::{Ended, Outcome};
use crate::process::awake;

/// How far apart signals may come that were sent at once, to several processes.
pub(crate) const TOGETHER: Duration = Duration::from_millis(100);

/// What whoever runs provost wants of the run as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orders {
    /// The signal by which the run is to end, once it is to end.
    pub stop: Option<&'static str>,
    /// Whether it is to end at once.
    pub hurry: bool,
    /// How often the run was to be paused: it then waits for SIGCONT.
    pub pauses: u32,
    /// How many of those SIGCONT has ended.
    pub resumed: u32,
}

/// Whoever ends a unit or a session signals its scripts as well as this process, and such a script
/// may be quicker: so one that ended no sooner than the signal came was interrupted, whatever it
/// made of that itself.
pub(crate) async fn interrupted(
    outcome: &Outcome,
    orders: &mut watch::Receiver<Orders>,
    stopped_at: Option<Instant>,
) -> Option<Ended> {
    let by_signal = match &outcome.ended {
        // As a shell ends whose command was ended so.
        Ended::Exit(status) => matches!(status, 129..=131 | 143),
        Ended::Signal { name, .. } => {
            matches!(name.as_str(), "SIGHUP" | "SIGINT" | "SIGQUIT" | "SIGTERM")
        }
        _ => return None,
    };
    let ended_ago = outcome.ended_ago;
    let heard_at = Instant::now();
    hear_signals().await;
    if by_signal {
        let stop = orders.wait_for(|orders| orders.stop.is_some());
        let _ = tokio::time::timeout(TOGETHER, stop).await;
    }
    let signal = orders.borrow().stop?;
    let stopped_ago =
        stopped_at.map_or(Duration::ZERO, |at| heard_at.saturating_duration_since(at));
    (ended_ago <= stopped_ago + TOGETHER).then(|| Ended::Interrupted(signal.to_owned()))
}

/// Stops this process until SIGCONT comes, unless it has come already. Returns for how long.
pub(crate) async fn wait_for_continue(orders: &watch::Receiver<Orders>) -> Duration {
    hear_signals().await;
    let since = Instant::now();
    let wanted = *orders.borrow();
    if wanted.pauses != wanted.resumed {
        awake::pause();
        hear_signals().await;
    }
    since.elapsed()
}

/// Lets the task run that makes orders of signals, for those that have come: in the first turn it
/// is woken, in the second it runs.
async fn hear_signals() {
    for _ in 0..3 {
        tokio::task::yield_now().await;
    }
}
