//! The node's runner: fetches what is published for this node, verifies it, runs it, records what
//! happens and reports it.

mod cli;
mod console;
mod discover;
mod failure;
mod fetch;
mod http;
mod inspect;
mod install;
mod messages;
mod record;
mod report;
mod resolve;
mod runner;
mod secrets;
mod settings;
mod xcat;

pub use cli::{command, main};
