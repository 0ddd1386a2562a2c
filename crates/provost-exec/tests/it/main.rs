//! Steps as real processes.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod execute;
mod place;
mod stuck;
mod trace;
