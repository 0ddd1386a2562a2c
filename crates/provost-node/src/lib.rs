//! The node's engine: settings, fetch, schedule, run, observe. It runs a node's scripts, records what
//! happens and reports it; the commands that start it are in `provost`.

#![allow(missing_docs, reason = "what became public by the move gets its docs next")]

pub mod backoff;
pub mod failure;
pub mod fetch;
pub mod http;
pub mod install;
pub mod observe;
pub mod runner;
pub mod settings;
pub mod state;
pub mod xcat;
