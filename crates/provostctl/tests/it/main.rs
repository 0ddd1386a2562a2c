//! provostctl, run against a provostd that answers as told.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod commands;
mod import;
