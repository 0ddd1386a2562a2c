use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use provost_store::Store;

use crate::bodies::Bodies;
use crate::config::Guard;
use crate::listener::Stop;
use crate::metrics::Metrics;
use crate::node_program::NodeProgram;
use crate::silence::Silence;

/// What the handlers of all listeners share.
pub(crate) struct App {
    pub(crate) store: Arc<dyn Store>,
    /// The folder that `provostctl publish` writes to.
    pub(crate) www: PathBuf,
    pub(crate) node_program: Arc<NodeProgram>,
    /// The address of the nodes' listener.
    pub(crate) nodes_at: SocketAddr,
    pub(crate) guard: Guard,
    pub(crate) silence: Silence,
    pub(crate) bodies: Bodies,
    pub(crate) metrics: Metrics,
    pub(crate) stop: Stop,
}
