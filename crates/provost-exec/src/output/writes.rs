//! Which of a program's two outputs it wrote to, and when it changed over to the other.
//!
//! Two pipes don't tell. inotify(7) does: one queue has a note of each write to either, notes of
//! the same pipe one after the other made one. There is one queue a keeper, since closing one
//! waits for the kernel some milliseconds. Where there is none, or no /proc, order is a guess.

use std::fs::{self, File};
use std::io::{Read, Write};
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
        if selinux_allows() == Some(false) {
            return None;
        }
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

/// Whether SELinux allows this process to watch its own pipes; none where there is no such rule. Debian's
/// policy doesn't. It is asked first, as libselinux does, because each refusal is logged.
fn selinux_allows() -> Option<bool> {
    let number = |name: &str| -> Option<u32> {
        let path = format!("/sys/fs/selinux/class/fifo_file/{name}");
        fs::read_to_string(path).ok()?.trim_end().parse().ok()
    };
    let (class, watch) = (number("index")?, number("perms/watch")?);
    let own = fs::read_to_string("/proc/self/attr/current").ok()?;
    let own = own.trim_end_matches(['\n', '\0']);
    let mut access = File::options().read(true).write(true).open("/sys/fs/selinux/access").ok()?;
    access.write_all(format!("{own} {own} {class}").as_bytes()).ok()?;
    let mut answer = String::new();
    access.read_to_string(&mut answer).ok()?;
    let allowed = u32::from_str_radix(answer.split(' ').next()?, 16).ok()?;
    Some(allowed.checked_shr(watch.checked_sub(1)?)? & 1 == 1)
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
