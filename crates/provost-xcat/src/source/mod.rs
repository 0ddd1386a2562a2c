//! Where the scripts and the plan of an xCAT node come from.

mod certificates;
mod complete;
mod crawl;
mod environment;
mod listing;
pub(crate) mod mypostscript;
mod next_folder;
mod preamble;
pub(crate) mod published;
pub(crate) mod refusals;
mod scripts;
pub(crate) mod tree;
pub(crate) mod unmodified;
mod xcatd;
