//! The admin's command: creates keys and tokens, publishes, and shows what nodes report.

mod channel;
mod cli;
mod client;
mod events;
mod failure;
mod fleet;
mod follow;
mod format;
mod gather;
mod goal;
mod import;
mod key;
mod live;
mod log;
mod node_query;
mod node_set;
mod nodes;
mod on_nodes;
mod outage;
mod output;
mod plan;
mod publish;
mod release;
mod remove;
mod rerun;
mod show;
mod site_file;
mod snippet;
mod ssh;
mod table;
mod text;
mod token;
mod wait_for;
mod watch;

pub use cli::{command, main};
