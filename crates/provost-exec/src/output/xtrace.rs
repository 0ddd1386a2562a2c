//! What bash shows of a script with `-x`, through a pipe of its own.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use provost_steplog::{LINE, WHOLE};
use rustix::fs::OFlags;
use rustix::pipe::{PipeFlags, pipe_with};

use super::capture::Capture;
use super::secrets::{Redactor, Secrets};
use super::stream::Stream;

/// The descriptor that the script's bash writes to: one that no script uses.
pub(crate) const FD: i32 = 63;
/// A line longer than this is shown in pieces, in bytes.
const MOST: usize = 4096;
/// How much is read at once, in bytes.
const CHUNK: usize = 16 * 1024;

/// The pipe.
pub(crate) struct Xtrace {
    pipe: OwnedFd,
    /// The other end, until the program has begun.
    write_end: Option<OwnedFd>,
    redactor: Option<Redactor>,
    /// The script's process.
    pid: u32,
    partial: Vec<u8>,
}

impl Xtrace {
    pub(crate) fn new(secrets: &Secrets) -> io::Result<Self> {
        let (pipe, write_end) = pipe_with(PipeFlags::CLOEXEC)?;
        rustix::fs::fcntl_setfl(&pipe, OFlags::NONBLOCK)?;
        let (redactor, partial) = (secrets.redactor(), Vec::new());
        Ok(Self { pipe, write_end: Some(write_end), redactor, pid: 0, partial })
    }

    /// The end that the program is to write to.
    pub(crate) fn write_end(&self) -> Option<&OwnedFd> {
        self.write_end.as_ref()
    }

    /// The program has begun in this process.
    pub(crate) fn begun(&mut self, pid: u32) {
        self.write_end = None;
        self.pid = pid;
    }

    /// Puts the lines that have come into the log. Returns whether more may come.
    pub(crate) fn take(&mut self, capture: &mut Capture) -> bool {
        let mut chunk = [0; CHUNK];
        while let Ok(read) = rustix::io::read(self.pipe.as_fd(), &mut chunk) {
            let text = match &mut self.redactor {
                None => &chunk[..read],
                Some(redactor) if read == 0 => redactor.finish(Stream::Stderr),
                Some(redactor) => redactor.take(Stream::Stderr, &chunk[..read]),
            };
            for part in text.split_inclusive(|b| *b == b'\n') {
                self.partial.extend_from_slice(part);
                if part.ends_with(b"\n") || self.partial.len() >= MOST {
                    put(&mut self.partial, self.pid, capture);
                }
            }
            if read == 0 {
                return false;
            }
        }
        true
    }

    pub(crate) fn pipe(&self) -> &OwnedFd {
        &self.pipe
    }

    pub(crate) fn into_pipe(self) -> OwnedFd {
        self.pipe
    }
}

/// Puts a line, or what there is of it, into the log.
fn put(partial: &mut Vec<u8>, pid: u32, capture: &mut Capture) {
    let text = String::from_utf8_lossy(partial.trim_ascii_end());
    capture.put_line(&format!("{LINE} {WHOLE} {pid} {text}"));
    partial.clear();
}
