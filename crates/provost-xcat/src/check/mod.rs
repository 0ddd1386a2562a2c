//! What `provost check` tries of an xCAT management node.

mod monitor;
mod server;

pub use monitor::try_monitor;
pub use server::try_server;
