use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use provost_record::now;
use provost_store::{Store, StoreError};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::door::Stop;

/// How long a store that failed is left alone.
const RETRY: Duration = Duration::from_secs(10);

/// Gives up nodes that fell silent. It sleeps until the first of them is due, however many there
/// are, and is woken where one is due sooner.
pub(crate) struct Silence {
    store: Arc<dyn Store>,
    margin: Duration,
    /// What it sleeps for, in milliseconds of Unix time; while it doesn't know, the end of time,
    /// so that whatever is due wakes it.
    sleeps_for: AtomicI64,
    sooner: Notify,
}

impl Silence {
    /// A node is given up `margin` after it was due to speak.
    pub(crate) fn new(store: Arc<dyn Store>, margin: Duration) -> Self {
        Self { store, margin, sleeps_for: AtomicI64::new(i64::MAX), sooner: Notify::new() }
    }

    /// Notes that a node is due to speak at that time.
    pub(crate) fn note(&self, due: Option<Timestamp>) {
        let sleeps_for = self.sleeps_for.load(Ordering::SeqCst);
        if due.is_some_and(|due| due.as_millisecond() < sleeps_for) {
            self.sooner.notify_one();
        }
    }

    /// Watches until `stop`. A daemon that was down itself has heard nobody, so it gives all
    /// nodes their time anew.
    pub(crate) async fn watch(&self, mut stop: Stop) {
        let watching = async {
            let mut anew = true;
            loop {
                match self.step(anew).await {
                    Ok(jumped) => anew = jumped,
                    Err(error) => {
                        tracing::error!(hint = error.hint(), "watching for silent nodes: {error}");
                        sleep(RETRY).await;
                    }
                }
            }
        };
        tokio::select! {
            () = watching => {}
            () = stop.wait() => {}
        }
    }

    /// Waits for the first node that is due, and gives up what is. Says whether the clock has
    /// jumped meanwhile, as it does on a machine that was suspended.
    async fn step(&self, anew: bool) -> Result<bool, StoreError> {
        if anew {
            self.store.listen_anew(now()).await?;
        }
        self.sleeps_for.store(i64::MAX, Ordering::SeqCst);
        let due = self.store.next_due().await?;
        if let Some(due) = due {
            self.sleeps_for.store(due.as_millisecond(), Ordering::SeqCst);
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
        }
        let here = Timestamp::now();
        if left(here, at) > began.elapsed() + self.margin {
            tracing::warn!("the clock has jumped: all nodes get their time anew");
            return Ok(true);
        }
        let margin = SignedDuration::try_from(self.margin).unwrap_or(SignedDuration::MAX);
        let overdue = here.checked_sub(margin).unwrap_or(Timestamp::MIN);
        for lost in self.store.lose(overdue, now()).await? {
            let stage = lost.stage.as_deref().unwrap_or("no stage");
            tracing::warn!("{} is lost: it fell silent in {stage:?}", lost.node);
        }
        Ok(false)
    }
}

/// From `at` to `until`, or nothing.
fn left(until: Timestamp, at: Timestamp) -> Duration {
    until.duration_since(at).try_into().unwrap_or_default()
}
