//! What the management node is told of this node's status.

mod deliverer;
mod describe;
pub(crate) mod messages;
pub(crate) mod monitor;
pub(crate) mod observer;
mod queue;
pub(crate) mod words;

pub use describe::describe;
