//! The contract between the programs: what a node, the daemon and the admin's command of any two versions say to each
//! other.

pub mod admins;
pub mod disclosed;
mod error;
mod facts;
pub mod headers;
pub mod limits;
mod node;
pub mod nodes;
pub mod published;
mod route;
mod words;

/// The version of this build: the workspace's, or the one that `cargo xtask dist --version` gives.
pub const VERSION: &str = match option_env!("PROVOST_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};

pub use admins::{Admin, Followed};
pub use error::ErrorBody;
pub use facts::Facts;
pub use node::{Detail, Node, ReportedGenerations, RunningFor, SlowStep, UNPUBLISHED};
pub use nodes::{Beat, Growth, InnerStage, LogKind};
pub use route::Route;
pub use words::{
    AuthFailure, Cause, Directive, Expires, NoticeKind, Outcome, Phase, Role, Service, Status,
    UnknownRole, UpdateStatus, Word,
};
