//! One of a program's two pipes.

use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

/// How much is read of a pipe before it is handed on, in bytes; a pipe holds as much.
pub(crate) const CHUNK: usize = 64 * 1024;

/// How much a pipe holds of a program that has filled it, in bytes: so it can go on printing while
/// its log is written. More than this only root may ask for (`/proc/sys/fs/pipe-max-size`).
const WIDE: usize = 1024 * 1024;

/// What is read of the pipe, and not yet handed on.
pub(crate) struct ReadEnd {
    pub(super) pipe: OwnedFd,
    /// What it was like when it was new.
    look: PipeState,
    /// Whether its end has come.
    pub(super) ended: bool,
    /// Whether it was made to hold more.
    widened: bool,
    text: Box<[u8]>,
    /// What of that was read and not handed on.
    pub(super) from: usize,
    pub(super) to: usize,
    /// Up to where it is to be handed on next.
    pub(super) upto: usize,
    /// Whether there was a note since the last of it was read.
    pub(super) noted: bool,
}

/// Which pipe it is, and what a program can change of it for good: its mode, its owner and its group,
/// how much it holds.
type PipeState = (u64, u64, u32, u32, u32, usize);

fn look(pipe: &OwnedFd) -> Option<PipeState> {
    let stat = rustix::fs::fstat(pipe).ok()?;
    let size = rustix::pipe::fcntl_getpipe_size(pipe).ok()?;
    Some((stat.st_dev, stat.st_ino, stat.st_mode, stat.st_uid, stat.st_gid, size))
}

impl ReadEnd {
    pub(super) fn new(pipe: OwnedFd) -> Self {
        // So that there may be nothing to read. It is so at this end alone.
        let _ = rustix::fs::fcntl_setfl(&pipe, OFlags::NONBLOCK);
        let text = vec![0; CHUNK].into_boxed_slice();
        let look = look(&pipe).unwrap_or_default();
        let (ended, widened, noted) = (false, false, false);
        Self { pipe, look, ended, widened, text, from: 0, to: 0, upto: 0, noted }
    }

    /// Another end to write to, after it has ended, if it is like a new one.
    pub(super) fn open_again(&mut self) -> Option<OwnedFd> {
        let path = format!("/proc/self/fd/{}", self.pipe.as_raw_fd());
        let write_end = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        // It may be another file, if somebody has mounted something over /proc.
        if look(&write_end)? != self.look {
            return None;
        }
        (self.ended, self.noted) = (false, false);
        (self.from, self.to, self.upto) = (0, 0, 0);
        Some(write_end)
    }

    /// Whether its pipe may hold more.
    pub(super) fn is_full(&self) -> bool {
        self.to == self.text.len()
    }

    /// Whether there was anything.
    pub(super) fn read(&mut self) -> bool {
        if self.ended || self.is_full() {
            return false;
        }
        match rustix::io::read(&self.pipe, &mut self.text[self.to..]) {
            Ok(n) if n > 0 => {
                self.to += n;
                self.noted = false;
                if self.is_full() && !self.widened {
                    // Where the kernel has no more room it goes on as it is.
                    let _ = rustix::pipe::fcntl_setpipe_size(&self.pipe, WIDE);
                    self.widened = true;
                }
                return true;
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(_) | Err(_) => self.ended = true,
        }
        false
    }

    /// Whether there is text of which no note has come yet.
    pub(super) fn is_unnoted(&self) -> bool {
        !self.ended && !self.noted && !self.rest().is_empty()
    }

    pub(super) fn rest(&self) -> &[u8] {
        &self.text[self.from..self.upto]
    }

    /// How many there are, with the one that has no end yet.
    pub(super) fn lines(&self) -> usize {
        let rest = self.rest();
        let ends = memchr::memchr_iter(b'\n', rest).count();
        ends + usize::from(rest.last().is_some_and(|last| *last != b'\n'))
    }

    /// Hands on so many lines of what is there, or all.
    pub(super) fn put(&mut self, lines: Option<usize>, put: impl FnOnce(&[u8])) {
        let rest = self.rest();
        let mut ends = memchr::memchr_iter(b'\n', rest);
        let end = match lines {
            Some(0) => 0,
            Some(lines) => ends.nth(lines - 1).map_or(rest.len(), |end| end + 1),
            None => rest.len(),
        };
        if end > 0 {
            put(&rest[..end]);
        }
        self.from += end;
    }

    pub(super) fn make_room(&mut self) {
        self.text.copy_within(self.from..self.to, 0);
        self.to -= self.from;
        (self.from, self.upto) = (0, 0);
    }
}
