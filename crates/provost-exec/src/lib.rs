//! One program under supervision: its process tree, its time-outs, its output and its outcome.
//!
//! The executor owns a child and its clock. It knows no server and decides nothing about the
//! run: it reports what happens, and whoever called it decides.

mod capture;
mod execute;
mod start;
mod step;
mod trace;
mod tree;

pub use execute::execute;
pub use start::{NotStarted, Why};
pub use step::{Ended, Event, LeakPolicy, Limits, Outcome, Step, Usage};
pub use trace::{Place, install as install_trace};
pub use tree::adopt_orphans;
