//! For nodes that still run xCAT's own scripts: the port that receives their status, and the one
//! that serves their `mypostscript`. They have no token; their address identifies them.

mod context;
mod monitor;
mod peers;
mod request;
mod server;
mod verb;
mod xcatd;

pub(crate) use context::Xcat;
pub(crate) use monitor::answer as monitor;
pub(crate) use server::serve;
pub(crate) use xcatd::answer as xcatd;
