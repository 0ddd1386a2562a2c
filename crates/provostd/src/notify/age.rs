//! What waits for too long, or is too much, is dropped.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use provost_steplog::wording;
use provost_steplog::wording::error_chain;
use provost_store::{Store, StoreError};
use tokio::time::sleep;

use crate::fleet::reasons::Reasons;
use crate::metrics::Metrics;

/// How many wait for a receiver at most. Then the oldest are dropped, …
const MOST: u64 = 100_000;
/// … and those that have waited for this long.
pub(super) const KEEP: SignedDuration = SignedDuration::from_hours(3 * 24);
/// How often that is looked at.
pub(super) const TIDY: Duration = Duration::from_secs(60);

/// The receivers' queues.
pub(crate) struct Queues {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) metrics: Arc<Metrics>,
    /// Why nodes failed.
    pub(crate) reasons: Arc<Reasons>,
}

impl Queues {
    /// Drops what is too much or too old for `receiver`.
    pub(super) async fn drop_old(&self, receiver: &str, hint: &str) -> Result<(), StoreError> {
        let before = Timestamp::now().checked_sub(KEEP).unwrap_or(Timestamp::MIN);
        let dropped = self.store.drop_notices(receiver, MOST, before).await?;
        if dropped > 0 {
            let what = wording::count(dropped, "event");
            tracing::error!(
                hint,
                "dropped {what} for {receiver}: of {MOST} at most, for 3 days at most"
            );
            self.metrics.deliveries.dropped(receiver, dropped);
        }
        Ok(())
    }

    /// Does the same, for ever, for receivers that are none of `known`: the configuration doesn't name them any
    /// more.
    pub(super) async fn drop_unclaimed(&self, known: BTreeSet<String>) {
        let mut told = BTreeSet::new();
        loop {
            if let Err(error) = self.look(&known, &mut told).await {
                let (hint, why) = (error.hint(), error_chain(&error));
                tracing::error!(hint, "looking for events that nobody takes: {why}");
            }
            sleep(TIDY).await;
        }
    }

    async fn look(
        &self,
        known: &BTreeSet<String>,
        told: &mut BTreeSet<String>,
    ) -> Result<(), StoreError> {
        if !self.store.delivers().await? {
            return Ok(());
        }
        let queues = self.store.queue_lengths().await?;
        for (receiver, count) in queues.into_iter().filter(|(name, _)| !known.contains(name)) {
            if told.insert(receiver.clone()) {
                let what = wording::count(count, "event");
                let hint = "if it has another name now, restart provostd with the old name once, until \
                            they are delivered";
                tracing::warn!(
                    hint,
                    "{receiver:?} isn't configured any more: dropping what is queued for it ({what}) after 3 days"
                );
            }
            let hint = "add a receiver of this name to provostd.toml, if it is still needed";
            self.drop_old(&receiver, hint).await?;
        }
        Ok(())
    }
}
