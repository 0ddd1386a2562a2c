//! The node's command: runs this node's scripts by `provost-node`, and shows what became of them.

mod cli;
mod dry_run;
mod inspect;
mod kinds;
mod xcat;

pub use cli::{LAYOUT, command, main};
