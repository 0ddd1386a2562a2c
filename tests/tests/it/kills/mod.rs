//! Nodes and daemons that are killed: `cargo xtask test --long kills` does so more often.

mod both;
mod daemons;
mod errors;
mod jobs;
mod runs;
