//! The management node's daemon. It has listeners for the nodes, one for admins that
//! is read-only, a socket with the whole admin API for the user who runs the daemon, and one over TLS
//! for admins who have a token.

mod admin_api;
mod admin_changes;
mod admin_request;
mod admins;
mod app;
mod beats;
mod bodies;
mod body;
mod bundle;
mod caller;
mod cli;
mod client_address;
mod config;
mod connections;
mod daemon;
mod deliveries;
mod encoding;
mod enrolment;
mod error;
mod events;
mod failures;
mod follow;
mod guard;
mod health;
mod history;
mod hook;
mod host;
mod ingest;
mod installer;
mod listener;
mod metrics;
mod node_program;
mod nodes_api;
mod over_quota;
mod pace;
mod pending;
mod program;
mod published_nodes;
mod ranges;
mod refresher;
mod refusal;
mod report_places;
mod retention;
mod serving;
mod silence;
mod socket;
mod startup;
mod tls;
mod tokens;
mod turns;
mod web;
mod xcat;

pub use cli::{command, main};
pub use config::{
    Config, ConfigError, EnrolConfig, Guard, HooksConfig, MetricsConfig, NodeConfig, QuotaConfig,
    RetentionConfig, Secret, StoreKind, Template, TlsConfig, TlsFiles, TokensConfig, WebhookConfig,
    XcatConfig, Xcatd,
};
pub use daemon::{Addresses, Daemon};
pub use error::DaemonError;
pub use startup::RESTORING;
pub use tls::{AuthorityError, IdentityError, TlsError};
