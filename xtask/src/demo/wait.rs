use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Waits until one of `fds` is readable, as a process's pidfd is once it has ended, and returns
/// its index; none when `limit` is over.
pub(super) fn first(fds: &[BorrowedFd<'_>], limit: Duration) -> io::Result<Option<usize>> {
    let end = Instant::now() + limit;
    let mut fds: Vec<PollFd<'_>> =
        fds.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut fds, Some(&left)) {
            Ok(0) => return Ok(None),
            Ok(_) => return Ok(fds.iter().position(|fd| !fd.revents().is_empty())),
            Err(Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
}
