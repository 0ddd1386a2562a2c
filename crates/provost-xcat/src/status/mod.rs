//! What the management node is told of this node's status.

mod deliverer;
pub(crate) mod messages;
pub(crate) mod monitor;
pub(crate) mod observer;
mod queue;

pub use messages::describe;
