//! Processes: how a program starts, its tree of descendants, and its end.

pub(crate) mod awake;
pub(crate) mod cgroup;
mod cut_off;
pub(crate) mod file_watch;
mod interpreter;
mod not_started;
pub(crate) mod oom;
pub(crate) mod signals;
pub(crate) mod spawn;
pub(crate) mod start;
pub(crate) mod status;
pub(crate) mod tree;
pub(crate) mod wait;

pub use cgroup::{NoCgroup, can_use_cgroup};
pub use cut_off::kill_marked;
pub use not_started::{NotStarted, Why};
