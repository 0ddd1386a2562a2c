//! What a node does that belongs to an xCAT management node.

pub mod arguments;
pub mod environment;
pub mod fetch;
pub mod folder;
pub mod handover;
pub mod info;
pub mod install;
pub mod label;
pub mod log;
pub mod monitor;
pub mod run;
pub mod status;
pub mod told;

pub use arguments::{Call, called, kind};
pub use environment::{environment, is_debugged, path};
pub use folder::complete;
pub use handover::without_line;
pub use info::{FIRST_BOOT_IS_PAST, Info, note};
pub use install::{hand_over, has_unit, main as install};
pub use log::{Log, status};
pub use monitor::getpostscript;
pub use status::{Status, beginning, end, greeting, is_quiet, tell_failed, tell_rest};
pub use told::{Fate, Told, told};
