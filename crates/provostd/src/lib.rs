//! The management node's daemon. It has listeners for the nodes, one for admins that
//! is read-only, a socket with the whole admin API for the user who runs the daemon, and one over TLS
//! for admins who have a token.

mod admin;
mod cli;
mod config;
mod daemon;
mod error;
mod fleet;
mod listener;
mod metrics;
mod nodes;
mod notify;
mod published;
mod web;
mod xcat;

pub use cli::{LAYOUT, command, main};
pub use config::{
    Config, ConfigError, EnrolConfig, Guard, HooksConfig, MetricsConfig, NodeConfig, PageConfig,
    QuotaConfig, RackConfig, RetentionConfig, Secret, Template, TlsConfig, TlsFiles, TokensConfig,
    WebhookConfig, XcatConfig, Xcatd,
};
pub use daemon::{Addresses, Daemon};
pub use error::DaemonError;
pub use listener::tls::{AuthorityError, IdentityError, TlsError};
