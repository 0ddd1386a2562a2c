//! What is published: written, signed, refused.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod publish;
mod trust;
