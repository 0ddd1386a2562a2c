//! Steps as real processes.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod execute;
mod failure_location;
mod secrets;
mod stuck;
mod trace;
