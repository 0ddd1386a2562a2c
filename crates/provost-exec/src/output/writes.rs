//! Which of a program's two outputs it wrote to, and when it changed over to the other.
//!
//! Two pipes don't tell. inotify(7) does: one queue has a note of each write to either, notes of
//! the same pipe one after the other made one. There is one queue a keeper, since closing one
//! waits for the kernel some milliseconds. Where there is none, or no /proc, order is a guess.

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::stream::Stream;

/// How long a program may take from writing to its note, which the kernel does right after it: the
/// processor may be given to others in between.
pub(crate) const MOMENT: Duration = Duration::from_millis(20);

/// The queue.
pub(crate) struct Writes {
    queue: OwnedFd,
}

/// Both pipes of a program, being watched while this is held.
pub(crate) struct WatchedPipes<'a> {
    writes: &'a Writes,
    /// As the queue knows them.
    watches: [Option<i32>; 2],
}

impl Writes {
    pub(crate) fn new() -> Option<Self> {
        let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        Some(Self { queue })
    }

    /// Begins with these two.
    pub(crate) fn watch(&self, pipes: [&OwnedFd; 2]) -> Option<WatchedPipes<'_>> {
        let mut watched = WatchedPipes { writes: self, watches: [None; 2] };
        for (pipe, watch) in pipes.into_iter().zip(&mut watched.watches) {
            let path = format!("/proc/self/fd/{}", pipe.as_raw_fd());
            *watch = Some(inotify::add_watch(&self.queue, path, WatchFlags::MODIFY).ok()?);
        }
        Some(watched)
    }
}

impl WatchedPipes<'_> {
    /// Adds to `runs` the turns since the last look, of what was written to which. Returns for
    /// which there was a note.
    pub(crate) fn look(&self, runs: &mut Vec<Stream>) -> [bool; 2] {
        let mut noted = [false; 2];
        let mut room = [MaybeUninit::uninit(); 4096];
        let mut notes = Reader::new(&self.writes.queue, &mut room);
        // Until there is no more. A queue that ran over has one of no pipe.
        while let Ok(note) = notes.next() {
            let of = self.watches.iter().position(|watch| *watch == Some(note.wd()));
            let Some(at) = of else { continue };
            let stream = [Stream::Stdout, Stream::Stderr][at];
            noted[at] = true;
            runs.push(stream);
        }
        noted
    }

    /// Waits for a note, or for something else in one of `pipes`, its end at least. Returns whether
    /// it came by `until`.
    pub(crate) fn wait<'p>(
        &self,
        pipes: impl Iterator<Item = &'p OwnedFd>,
        something: PollFlags,
        until: Instant,
    ) -> bool {
        let left = until.saturating_duration_since(Instant::now());
        let left = left.try_into().unwrap_or_default();
        let ends = pipes.map(|pipe| PollFd::new(pipe, something));
        let mut fds: Vec<_> =
            [PollFd::new(&self.writes.queue, PollFlags::IN)].into_iter().chain(ends).collect();
        matches!(poll(&mut fds, Some(&left)), Ok(1..) | Err(Errno::INTR))
    }
}

impl Drop for WatchedPipes<'_> {
    fn drop(&mut self) {
        for watch in self.watches.into_iter().flatten() {
            // Else the kernel would keep its pipe.
            let _ = inotify::remove_watch(&self.writes.queue, watch);
        }
    }
}
