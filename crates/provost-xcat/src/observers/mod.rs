//! What happens on this node for xCAT while a run goes on.

pub(crate) mod echo;
pub(crate) mod label;
pub(crate) mod log;
mod log_output;
pub(crate) mod node_files;
mod script_status;
mod xcatinfo;
