//! The commands that take the place of xCAT's own programs.

pub mod call;
pub mod install;

use provost_node::settings::{Flag, Origin};

/// The command whose name stands for the kind of the management node.
pub(crate) const COMMAND: &str = "xcatdsklspost";

/// The setting by which the management node is xCAT's, because of the name of `command`.
pub fn source_kind(command: &'static str) -> Flag {
    ("source.kind", "xcat".into(), Origin::Flag(command))
}
