//! What a program prints: its two pipes, the order of what was written, secrets, the log.

mod capture;
mod encoded;
mod log_file;
mod pipe;
mod pipes;
mod secrets;
mod stream;
mod writes;
pub(crate) mod xtrace;

pub(crate) use capture::{Capture, Tail};
pub(crate) use pipe::CHUNK;
pub(crate) use pipes::Output;
pub use secrets::Secrets;
pub(crate) use writes::Writes;
