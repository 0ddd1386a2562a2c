use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use provost_record::wording::error_chain;
use provost_store::{Store, StoreError};
use tokio::sync::Semaphore;

use crate::beats::Beats;
use crate::bodies::Bodies;
use crate::config::Guard;
use crate::listener::Stop;
use crate::metrics::Metrics;
use crate::node_program::NodeProgram;
use crate::pending::Pending;
use crate::refresher::Refresher;
use crate::refusal::Refusal;
use crate::silence::Silence;

/// How soon it is logged again that a node is over its quota.
const LOG_PAUSE: Duration = Duration::from_secs(3600);

/// What the handlers of all listeners share.
pub(crate) struct App {
    pub(crate) store: Arc<dyn Store>,
    /// The daemon's own folder.
    pub(crate) data: PathBuf,
    /// The folder that `provostctl publish` writes to.
    pub(crate) www: PathBuf,
    pub(crate) refresher: Refresher,
    pub(crate) node_program: Arc<NodeProgram>,
    /// The address of the nodes' listener.
    pub(crate) nodes_at: SocketAddr,
    pub(crate) guard: Guard,
    pub(crate) silence: Silence,
    pub(crate) beats: Beats,
    pub(crate) bodies: Bodies,
    /// How many histories of nodes are read and sent at once: each may be 8 MiB.
    pub(crate) histories: Arc<Semaphore>,
    /// The nodes that were over their quota, and when that was logged.
    pub(crate) over_quota: Mutex<HashMap<String, Instant>>,
    /// The nodes that have no valid token.
    pub(crate) pending: Pending,
    pub(crate) metrics: Metrics,
    pub(crate) stop: Stop,
}

impl App {
    /// The answer to a node whose report the store refuses. That it is over its quota is logged once
    /// an hour.
    pub(crate) fn refused_by_store(&self, node: &str, error: StoreError) -> Refusal {
        if error.retry_after().is_some() {
            let mut logged = self.over_quota.lock().unwrap_or_else(PoisonError::into_inner);
            let before = logged.get(node).copied();
            if before.is_none_or(|at| at.elapsed() > LOG_PAUSE) {
                logged.insert(node.to_owned(), Instant::now());
                tracing::warn!(hint = error.hint(), "{}", error_chain(&error));
            }
        }
        error.into()
    }
}
