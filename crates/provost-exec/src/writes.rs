//! Which of a program's two outputs it wrote to, and when it changed over to the other.
//!
//! Two pipes don't tell. inotify(7) does: one queue has a note of each write to either, notes of
//! the same pipe one after the other made one. There is one queue a keeper, since closing one
//! waits for the kernel some milliseconds. Where there is none, or no /proc, order is a guess.

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};

use crate::capture::Stream;

/// How long a program may take from writing to its note, which the kernel does right after it: the
/// processor may be given to others in between.
const MOMENT: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// The queue.
pub(crate) struct Writes(OwnedFd);

/// Both pipes of a program, being watched while this is held.
pub(crate) struct Watched<'a> {
    writes: &'a Writes,
    watches: [i32; 2],
}

impl Writes {
    pub(crate) fn new() -> Option<Self> {
        inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok().map(Self)
    }

    /// Begins with these two.
    pub(crate) fn watch(&self, pipes: [&OwnedFd; 2]) -> Option<Watched<'_>> {
        let [stdout, stderr] = pipes.map(|pipe| {
            let path = format!("/proc/self/fd/{}", pipe.as_raw_fd());
            inotify::add_watch(&self.0, path, WatchFlags::MODIFY).ok()
        });
        Some(Watched { writes: self, watches: [stdout?, stderr?] })
    }
}

impl Watched<'_> {
    /// Adds to `runs` the turns since the last look, of what was written to which. Returns for
    /// which there was a note.
    pub(crate) fn look(&self, runs: &mut Vec<Stream>) -> [bool; 2] {
        let mut noted = [false; 2];
        let mut room = [MaybeUninit::uninit(); 4096];
        let mut notes = Reader::new(&self.writes.0, &mut room);
        // Until there is no more. A queue that ran over has one of no pipe.
        while let Ok(note) = notes.next() {
            let of = self.watches.iter().position(|watch| *watch == note.wd());
            let Some(at) = of else { continue };
            let stream = [Stream::Stdout, Stream::Stderr][at];
            noted[at] = true;
            if runs.last() != Some(&stream) {
                runs.push(stream);
            }
        }
        noted
    }

    /// Waits a moment for a note, or for the end of one of `pipes`. Returns whether it came.
    pub(crate) fn wait<'p>(&self, pipes: impl Iterator<Item = &'p OwnedFd>) -> bool {
        let ends = pipes.map(|pipe| PollFd::new(pipe, PollFlags::empty()));
        let mut fds: Vec<_> =
            [PollFd::new(&self.writes.0, PollFlags::IN)].into_iter().chain(ends).collect();
        poll(&mut fds, Some(&MOMENT)).is_ok_and(|came| came > 0)
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        for watch in self.watches {
            // Else the kernel would keep its pipe.
            let _ = inotify::remove_watch(&self.writes.0, watch);
        }
    }
}
