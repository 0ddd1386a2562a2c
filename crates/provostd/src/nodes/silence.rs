use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use provost_record::now;
use provost_steplog::wording::error_chain;
use provost_store::{Store, StoreError, Watch};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::listener::Stop;

/// The pause after an error of the store.
const RETRY: Duration = Duration::from_secs(10);

/// Marks nodes as lost that have stopped reporting. It sleeps until the first of them is due, however
/// many there are, and is woken when one is due sooner.
pub(crate) struct Silence {
    store: Arc<dyn Store>,
    margin: Duration,
    /// The time until which it sleeps, in milliseconds of Unix time; the largest value while that is
    /// unknown, so that every deadline wakes it.
    sleeps_until: AtomicI64,
    sooner: Notify,
}

impl Silence {
    /// A node is lost `margin` after it was due to report.
    pub(crate) fn new(store: Arc<dyn Store>, margin: Duration) -> Self {
        Self { store, margin, sleeps_until: AtomicI64::new(i64::MAX), sooner: Notify::new() }
    }

    /// Notes that a node is due to report at that time.
    pub(crate) fn note(&self, due: Option<Timestamp>) {
        let sleeps_until = self.sleeps_until.load(Ordering::SeqCst);
        if due.is_some_and(|due| due.as_millisecond() < sleeps_until) {
            self.sooner.notify_one();
        }
    }

    /// Watches until `stop`, while no other daemon of the same store does. Where none was up, none
    /// has received reports, so all deadlines are restarted first.
    pub(crate) async fn watch(self: Arc<Self>, mut stop: Stop) {
        let watching = async {
            let mut restart = false;
            loop {
                match self.step(restart).await {
                    Ok(jumped) => restart = jumped,
                    Err(error) => {
                        tracing::error!(
                            hint = error.hint(),
                            "watching for lost nodes: {}",
                            error_chain(&error)
                        );
                        sleep(RETRY).await;
                        // Reports may have been refused as well.
                        restart = true;
                    }
                }
            }
        };
        tokio::select! {
            () = watching => {}
            () = stop.wait() => {}
        }
    }

    /// Waits for the first node that is due, and marks as lost those that are. Returns whether the
    /// clock has jumped meanwhile, for example on a machine that was suspended.
    async fn step(&self, restart: bool) -> Result<bool, StoreError> {
        let again = match self.store.watch().await? {
            Watch::Here { was_unwatched, again } => {
                if was_unwatched || restart {
                    self.store.restart_deadlines(now()).await?;
                }
                again.unwrap_or(Duration::MAX)
            }
            Watch::Elsewhere { again } => {
                // No deadline wakes it.
                self.sleeps_until.store(i64::MIN, Ordering::SeqCst);
                sleep(again).await;
                return Ok(false);
            }
        };
        self.sleeps_until.store(i64::MAX, Ordering::SeqCst);
        let due = self.store.next_due().await?;
        if let Some(due) = due {
            self.sleeps_until.store(due.as_millisecond(), Ordering::SeqCst);
        }
        let (began, at) = (Instant::now(), Timestamp::now());
        let until_due = async {
            match due {
                Some(due) => sleep(left(due, at) + self.margin).await,
                None => pending().await,
            }
        };
        tokio::select! {
            () = until_due => {}
            () = self.sooner.notified() => return Ok(false),
            () = sleep(again) => {}
        }
        let here = Timestamp::now();
        if left(here, at) > began.elapsed() + self.margin {
            tracing::warn!("the clock has jumped: the deadlines of all nodes are restarted");
            return Ok(true);
        }
        let margin = SignedDuration::try_from(self.margin).unwrap_or(SignedDuration::MAX);
        let overdue = here.checked_sub(margin).unwrap_or(Timestamp::MIN);
        for lost in self.store.lose(overdue, now()).await? {
            let stage = lost.stage.as_deref().unwrap_or("no stage");
            tracing::warn!("{} is lost: its last report was in {stage:?}", lost.node);
        }
        Ok(false)
    }
}

/// The time from `at` to `until`, or zero.
fn left(until: Timestamp, at: Timestamp) -> Duration {
    until.duration_since(at).try_into().unwrap_or_default()
}
