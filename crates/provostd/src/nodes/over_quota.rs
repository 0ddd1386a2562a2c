//! The nodes that are over their quota, of which nothing more is stored; in memory alone.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use provost_steplog::wording::error_chain;
use provost_store::{Node, StoreError};

/// How soon it is logged again that a node is over its quota.
const LOG_PAUSE: Duration = Duration::from_secs(3600);

#[derive(Default)]
pub(crate) struct OverQuota(Mutex<HashMap<String, Refused>>);

struct Refused {
    why: String,
    /// When the node may try again.
    until: Instant,
    logged: Instant,
}

impl OverQuota {
    /// Notes that `error` refused what `node` has sent, if that was for its quota, and logs it once an
    /// hour.
    pub(crate) fn note(&self, node: &str, error: &StoreError) {
        let Some(retry_after) = error.retry_after() else { return };
        let now = Instant::now();
        let (why, until) = (error_chain(error), now + retry_after);
        let mut nodes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = nodes.get(node).map(|refused| refused.logged);
        let logged = before.filter(|at| at.elapsed() <= LOG_PAUSE);
        if logged.is_none() {
            tracing::warn!(hint = error.hint(), "{why}");
        }
        nodes.insert(node.to_owned(), Refused { why, until, logged: logged.unwrap_or(now) });
    }

    /// Why nothing more is stored of some nodes, of at most `most`.
    pub(crate) fn list(&self, most: usize) -> Vec<String> {
        let nodes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = nodes.values().filter(|refused| Instant::now() < refused.until);
        refused.take(most).map(|refused| refused.why.clone()).collect()
    }

    /// Of how many nodes nothing more is stored.
    pub(crate) fn count(&self) -> usize {
        let nodes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        nodes.values().filter(|refused| Instant::now() < refused.until).count()
    }

    /// Adds to each of `shown` why nothing more is stored of it, where that is so.
    pub(crate) fn show(&self, shown: &mut [Node]) {
        let nodes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if nodes.is_empty() {
            return;
        }
        for node in shown {
            let refused = nodes.get(&node.name).filter(|refused| Instant::now() < refused.until);
            node.over_quota = refused.map(|refused| refused.why.clone());
        }
    }
}
