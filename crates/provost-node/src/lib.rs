//! The node's engine: settings, fetch, schedule, run, observe. It runs a node's scripts, records what
//! happens and reports it; the commands that start it are in `provost`.

pub mod failure;
pub mod fetch;
pub mod finding;
pub mod install;
pub mod observe;
pub mod room;
pub mod runner;
pub mod settings;
pub mod state;
