//! The management node's daemon. It has three doors: one for the nodes, one for admins that
//! changes nothing, and a socket for the admin who owns the machine.

mod admin_door;
mod bodies;
mod bundle;
mod cli;
mod config;
mod daemon;
mod door;
mod encoding;
mod events;
mod guard;
mod host;
mod ingest;
mod installer;
mod metrics;
mod nodes_door;
mod refusal;
mod silence;
mod tokens;
mod xcat;

pub use cli::{command, main};
pub use config::{Config, ConfigError, Guard, NodeConfig, XcatConfig, Xcatd};
pub use daemon::{Addresses, Daemon, DaemonError};
pub use xcat::TlsError;

/// What the handlers of all doors share.
struct App {
    store: std::sync::Arc<dyn provost_store::Store>,
    www: std::path::PathBuf,
    node_program: std::sync::Arc<installer::NodeProgram>,
    /// The nodes' door.
    nodes_at: std::net::SocketAddr,
    guard: Guard,
    silence: silence::Silence,
    bodies: bodies::Bodies,
    metrics: metrics::Metrics,
    stop: door::Stop,
}

/// Whether `text` is a run's id in the one form in which nodes write it.
fn is_run_id(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::parse_str(text).is_ok()
}
