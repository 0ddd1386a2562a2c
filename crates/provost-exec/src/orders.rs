//! Requests from outside that are about the run as a whole.

use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::outcome::{EndCause, Outcome};
use crate::process::awake;

/// How far apart signals may come that were sent at once, to several processes.
pub(crate) const TOGETHER: Duration = Duration::from_millis(100);

/// What signals to this process have requested of the run as a whole.
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

/// What stops a unit or a session signals its scripts as well as this process, and a script may
/// be quicker. So a script that ended no earlier than the signal came was interrupted, whatever
/// its exit status says.
pub(crate) async fn interrupted(
    outcome: &Outcome,
    orders: &mut watch::Receiver<Orders>,
    stopped_at: Option<Instant>,
) -> Option<EndCause> {
    let by_signal = match &outcome.end {
        // How a shell ends when a signal ended its command.
        EndCause::Exit(status) => matches!(status, 129..=131 | 143),
        EndCause::Signal { name, .. } => {
            matches!(name.as_str(), "SIGHUP" | "SIGINT" | "SIGQUIT" | "SIGTERM")
        }
        _ => return None,
    };
    let ended_ago = outcome.ended_ago;
    let checked_at = Instant::now();
    process_signals().await;
    if by_signal {
        let stop = orders.wait_for(|orders| orders.stop.is_some());
        let _ = tokio::time::timeout(TOGETHER, stop).await;
    }
    let signal = orders.borrow().stop?;
    let stopped_ago =
        stopped_at.map_or(Duration::ZERO, |at| checked_at.saturating_duration_since(at));
    (ended_ago <= stopped_ago + TOGETHER).then(|| EndCause::Interrupted(signal.to_owned()))
}

/// Stops this process until SIGCONT comes, unless it has come already. Returns for how long.
pub(crate) async fn wait_for_continue(orders: &watch::Receiver<Orders>) -> Duration {
    process_signals().await;
    let since = Instant::now();
    let is_paused = || orders.borrow().pauses != orders.borrow().resumed;
    if is_paused() {
        awake::begin_pause();
        process_signals().await;
        if is_paused() {
            awake::stop();
            process_signals().await;
        }
        awake::end_pause();
    }
    since.elapsed()
}

/// Lets the task run that makes orders of signals, for those that have come: in the first turn it
/// is woken, in the second it runs.
async fn process_signals() {
    for _ in 0..3 {
        tokio::task::yield_now().await;
    }
}
