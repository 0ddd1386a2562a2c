//! What is published: unpacked, refused.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod unpack;
