//! The postscripts that come with the product, each run for real.
#![expect(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod debian;
mod disk;
mod files;
mod host;
mod network;
mod packages;
mod prefix;
mod root;
mod runner;
mod services;
