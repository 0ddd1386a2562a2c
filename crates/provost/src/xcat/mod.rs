//! What a node does that belongs to an xCAT management node.

mod arguments;
mod environment;
mod folder;
mod handover;
mod info;
mod install;
mod label;
mod log;
mod monitor;
mod status;
mod told;

pub(crate) use arguments::{Call, called, kind};
pub(crate) use environment::{environment, is_debugged, path};
pub(crate) use folder::complete;
pub(crate) use handover::without_line;
pub(crate) use info::{FIRST_BOOT_IS_PAST, Info, note};
pub(crate) use install::{hand_over, has_unit, main as install};
pub(crate) use log::{Log, status};
pub(crate) use monitor::getpostscript;
pub(crate) use status::{Status, beginning, end, greeting, is_quiet, tell_failed, tell_rest};
pub(crate) use told::{Fate, Told, told};
