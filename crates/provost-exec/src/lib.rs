//! One program under supervision: its process tree, its time-outs, its output and its outcome.
//!
//! The executor owns a child and its clock. It knows no server and decides nothing about the
//! run: it reports what happens, and whoever called it decides.
//!
//! It works in a process of its own, the *keeper*, which is small, outlives the runner if it must,
//! and is the parent of every orphan of the scripts that it runs. So nothing runs unwatched after
//! the runner was killed, and a daemon that a script starts on purpose keeps somebody who reads
//! what it prints.

mod awake;
mod capture;
mod cgroup;
mod clock;
mod execute;
mod interpreter;
mod keeper;
mod next;
mod notes;
mod oom;
mod orders;
mod output;
mod perl;
mod python;
mod remote;
mod script;
mod secrets;
mod shell;
mod spawn;
mod start;
mod step;
mod supervisor;
mod trace;
mod tree;
mod wait;
mod watch;
mod wire;
mod writes;

pub use orders::Orders;
pub use secrets::Secrets;
pub use start::{NotStarted, Why};
pub use step::{Ended, Event, LeakPolicy, Limits, Outcome, Step, Usage};
pub use supervisor::Supervisor;
pub use trace::{Place, install as install_trace};
