//! The tables that aren't hot: each statement once, for every store.

mod admins;
mod history;
pub(crate) mod identities;
mod jobs;
pub(crate) mod nodes;
pub(crate) mod prune;
mod queues;
pub(crate) mod steps;
pub(crate) mod tokens;
