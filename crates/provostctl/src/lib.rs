//! The admin's command: creates keys and tokens, publishes, and shows what nodes report.

mod cli;
mod client;
mod events;
mod failure;
mod format;
mod gather;
mod import;
mod key;
mod log;
mod node_set;
mod nodes;
mod output;
mod publish;
mod release;
mod rerun;
mod show;
mod snippet;
mod ssh;
mod table;
mod text;
mod token;
mod wait_for;

pub use cli::{command, main};
