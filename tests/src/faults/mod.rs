//! A server that goes wrong as it is told: in front of another one, or with a folder of its own.

mod behind;
mod deed;
mod http;
mod rules;
mod server;

pub use http::{Answer, Request};
pub use rules::Times;
pub use server::{Exchange, Faulty};

use std::path::PathBuf;
use std::time::Duration;

/// What goes wrong with the answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// There is none. The other side gives up, or waits until the server is repaired.
    Stall,
    /// There is none: the server ends its side of the connection in order, and listens on.
    HalfClose,
    /// The connection is reset after so many bytes of it, its head included.
    Reset(usize),
    /// The connection ends in order after so many bytes of its body.
    Truncate(usize),
    /// Its head says that the body is so many bytes longer than it is, or shorter.
    WrongLength(isize),
    /// Its body comes in so many pieces, one each pause.
    Drip(usize, Duration),
    /// It is this status, with a page that says nothing.
    Status(u16),
    /// It is this status, and the wish to be left alone for so many seconds.
    RetryAfter(u16, u64),
    /// It is right, with the wish to be left alone for so many seconds.
    Later(u64),
    /// It is a page for people, with 200.
    ErrorPage,
    /// A bit of the byte `n` of its body is flipped; `n` counts round.
    Flip(usize),
    /// It is what this folder has under the name: an older state of the server's.
    Replay(PathBuf),
    /// The request is done, and the connection ends without a word.
    Swallow,
    /// The request is done, and the answer is this status.
    Belie(u16),
}
