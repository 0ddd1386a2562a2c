//! One program under supervision: its process tree, its time-outs, its output and its outcome.
//!
//! The executor owns a child and its clock. It knows no server and decides nothing about the
//! run: it reports what happens, and its caller decides.
//!
//! It works in a process of its own, the *keeper*, which is small, outlives the runner if it must,
//! and is the parent of every orphan of the scripts that it runs. So nothing runs unwatched after
//! the runner was killed, and a daemon that a script starts on purpose keeps a
//! reader of its output.

pub mod architecture;
mod failure_location;
mod keeper;
pub mod kernel;
mod orders;
mod outcome;
mod output;
mod process;
mod step;
mod supervisor;
mod trace;

pub use failure_location::FailureLocation;
pub use keeper::{end, fork_here};
pub use orders::Orders;
pub use outcome::{EndCause, Event, Outcome, Usage};
pub use output::Secrets;
pub use process::{NoCgroup, NotStarted, Why, can_use_cgroup, kill_marked};
pub use step::{LeakPolicy, Limits, Step, Trace};
pub use supervisor::Supervisor;
pub use trace::{Untraceable, can_trace};
