//! The tables that aren't hot: each statement once, for every store.

mod admins;
pub(crate) mod identities;
mod queues;
pub(crate) mod tokens;
