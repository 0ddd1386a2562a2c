//! What of the nodes' history is removed when.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use provost_steplog::wording::error_chain;
use provost_store::{PruneScope, Pruned, Retention, Store, StoreError};
use tokio::time::{Instant, sleep};

use crate::listener::Stop;
use crate::metrics::Metrics;

/// The pause after all was removed that is kept no longer. It is the first pause too: a daemon that has
/// just started has other work.
const PAUSE: Duration = Duration::from_secs(600);
/// How often what has become too old is looked for everywhere; else only nodes with new runs are looked at.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// Removes the history that is kept no longer.
pub(crate) struct Pruner {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) retention: Retention,
}

impl Pruner {
    /// Removes it again and again, until the daemon stops.
    pub(crate) async fn keep(self: Arc<Self>, mut stop: Stop) {
        let mut everywhere_at = None;
        let pruning = async {
            loop {
                sleep(PAUSE).await;
                let look = match everywhere_at {
                    Some(at) if Instant::now() < at => PruneScope::AtNewRuns,
                    _ => PruneScope::Everywhere,
                };
                if look == PruneScope::Everywhere {
                    everywhere_at = Some(Instant::now() + DAY);
                }
                if let Err(error) = self.prune(look).await {
                    tracing::error!(
                        hint = error.hint(),
                        "removing old history: {}",
                        error_chain(&error)
                    );
                }
            }
        };
        tokio::select! {
            () = pruning => {}
            () = stop.wait() => {}
        }
    }

    /// What would be removed now.
    pub(crate) async fn prunable(&self) -> Result<Pruned, StoreError> {
        self.store.prunable(self.retention, Timestamp::now()).await
    }

    /// Removes what is kept no longer now.
    pub(crate) async fn prune(&self, look: PruneScope) -> Result<Pruned, StoreError> {
        let mut all = Pruned::default();
        loop {
            let pruned = self.store.prune(self.retention, look, Timestamp::now()).await?;
            self.metrics.pruned(&pruned);
            all += pruned;
            if pruned == Pruned::default() {
                return Ok(all);
            }
        }
    }
}
