//! What happens on this node for xCAT while a run goes on.

pub(crate) mod echo;
pub(crate) mod log;
pub(crate) mod node_files;
mod xcatinfo;
