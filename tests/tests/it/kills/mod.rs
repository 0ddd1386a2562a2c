//! Nodes and daemons that are killed: `cargo xtask test --long kills` does so more often.

mod daemons;
mod runs;
