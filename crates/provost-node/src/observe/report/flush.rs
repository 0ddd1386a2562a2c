//! The time that the end of a run gives to what is still to be sent.

use std::time::Duration;

use provost_exec::Orders;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How long it may take at most in a run that a signal ended.
const WHEN_STOPPED: Duration = Duration::from_secs(5);

/// Gives a run's last `task` its time: less of it if a signal ended the run, none after another
/// signal. Who started the task ends it then.
pub async fn flush(
    task: &mut JoinHandle<()>,
    deadline: Duration,
    orders: &mut watch::Receiver<Orders>,
) {
    let stopped = orders.borrow_and_update().stop.is_some();
    let deadline = if stopped { deadline.min(WHEN_STOPPED) } else { deadline };
    tokio::select! {
        // What a task that failed has left is counted by who started it.
        _ = tokio::time::timeout(deadline, &mut *task) => {}
        _ = orders.wait_for(|now| now.hurry || (now.stop.is_some() && !stopped)) => {}
    }
}
