//! xCAT's side of a node: what a node that belongs to an xCAT management node does for it.
//!
//! The rest of the node's program knows it by [`XCAT`] alone, which makes a source and observers for a
//! run, and by the commands that take the place of xCAT's own programs.

pub mod check;
pub mod commands;
mod handover;
mod management;
mod observers;
mod source;
mod status;

pub use management::XCAT;
pub use status::describe;
pub use status::messages::{Delivery, StatusMessage, status_messages};
