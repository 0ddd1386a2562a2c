//! For nodes that still run xCAT's own scripts: the port that receives their status, and the one
//! that serves their `mypostscript`. They have no token; their address identifies them.

pub(crate) mod context;
pub(crate) mod monitor;
pub(crate) mod peers;
pub(crate) mod request;
pub(crate) mod server;
pub(crate) mod verb;
pub(crate) mod xcatd;

pub(crate) use context::Xcat;
pub(crate) use monitor::answer as monitor;
pub(crate) use server::serve;
pub(crate) use xcatd::answer as xcatd;
