//! What is published: written, signed, unpacked, refused.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod publish;
mod trust;
mod unpack;
