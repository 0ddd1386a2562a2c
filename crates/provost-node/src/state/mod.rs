//! All that a node keeps below STATE and LOG: each file has one owner here.

pub mod attempts;
pub mod journal;
pub mod library;
pub mod lock;
pub mod logs;
pub mod markers;
pub mod own_stages;
pub(crate) mod own_stages_watch;
pub mod privacy;
pub mod progress;
pub mod root;
