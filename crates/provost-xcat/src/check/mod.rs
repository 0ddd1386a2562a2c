//! What `provost check` tries of an xCAT management node.

mod server;

pub use server::try_monitor;
pub use server::try_server;
