//! What Linux 3.10 may lack: each system call, since when there is one, and what is done without it.
//!
//! The kernel is asked once, when the supervisor starts, and its keepers do as it does. What the
//! standard library and tokio look after themselves isn't listed here: statx(2), `copy_file_range(2)`.
//! getrandom(2), of 3.17, has to be there; the 3.10 of Enterprise Linux 7 has it.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, getpid, pidfd_open, waitid};

/// How often a child is looked at whose end can't be waited for with a limit.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Where files without a name are made where `memfd_create(2)` can't; the first two are memory as well.
const UNNAMED: &[&str] = &["/run", "/dev/shm", "/tmp"];
/// `CLOSE_RANGE_CLOEXEC`, which the C library's headers may not have.
const CLOSE_ON_EXEC: libc::c_uint = 4;

/// Something that a kernel may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// `CLOSE_RANGE_CLOEXEC` of `close_range(2)`.
    CloseRange,
    /// `pidfd_open(2)` and `CLONE_PIDFD`.
    Pidfd,
    /// `__WALL` of waitid(2).
    WaitAll,
    /// `memfd_create(2)`.
    Memfd,
}

impl Feature {
    /// All, the newest first.
    const ALL: [Self; 4] = [Self::CloseRange, Self::Pidfd, Self::WaitAll, Self::Memfd];

    /// What it is, as a manual page names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::CloseRange => "CLOSE_RANGE_CLOEXEC",
            Self::Pidfd => "pidfd_open",
            Self::WaitAll => "waitid with __WALL",
            Self::Memfd => "memfd_create",
        }
    }

    /// The first Linux that has it.
    pub fn since(self) -> &'static str {
        match self {
            Self::CloseRange => "5.11",
            Self::Pidfd => "5.3",
            Self::WaitAll => "4.7",
            Self::Memfd => "3.17",
        }
    }

    /// What is done without it.
    pub fn instead(self) -> &'static str {
        match self {
            Self::CloseRange => "/proc/self/fd is read",
            Self::Pidfd => "SIGCHLD reports a script's end",
            Self::WaitAll => "the commands of scripts aren't traced",
            Self::Memfd => "unnamed files in /run are used, which can't be sealed",
        }
    }

    /// Whether it is there.
    pub(crate) fn is_there(self) -> bool {
        !missing().contains(&self)
    }

    fn ask(self) -> bool {
        match self {
            // A range of numbers that no descriptor has.
            Self::CloseRange => close_range_from(libc::c_uint::MAX).is_ok(),
            Self::Pidfd => is_known(pidfd_open(getpid(), PidfdFlags::empty()).err()),
            Self::WaitAll => can_wait_for_all(),
            Self::Memfd => is_known(memfd_create("provost", MemfdFlags::CLOEXEC).err()),
        }
    }
}

/// What this kernel lacks.
pub fn missing() -> &'static [Feature] {
    static MISSING: OnceLock<Vec<Feature>> = OnceLock::new();
    MISSING.get_or_init(|| Feature::ALL.into_iter().filter(|feature| !feature.ask()).collect())
}

/// Whether the kernel knows a call that ended so. A container's filter says EPERM of what it doesn't
/// know; what has no room now may have it later.
fn is_known(error: Option<Errno>) -> bool {
    !matches!(error, Some(Errno::NOSYS | Errno::PERM))
}

#[expect(unsafe_code, reason = "no safe wrapper has this flag")]
fn can_wait_for_all() -> bool {
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    // SAFETY: siginfo_t is plain data for which all zeroes is a value, and outlives the call.
    let waited = unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        libc::waitid(libc::P_ALL, 0, &raw mut info, flags)
    };
    waited == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::EINVAL)
}

/// A pidfd of `pid`. Without one, its end has to be looked for.
pub(crate) fn pidfd(pid: Pid) -> Option<OwnedFd> {
    if !Feature::Pidfd.is_there() {
        return None;
    }
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

/// Waits until a child of this process has ended, no longer than `limit`. Returns whether it has; it
/// is still to be reaped.
pub fn wait_for_end(child: Pid, limit: Duration) -> bool {
    if let Some(pidfd) = pidfd(child) {
        let limit = limit.try_into().unwrap_or_default();
        return matches!(poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&limit)), Ok(1));
    }
    let until = Instant::now() + limit;
    while !has_ended(child) {
        if Instant::now() >= until {
            return false;
        }
        thread::sleep(LOOK_EVERY);
    }
    true
}

/// Whether a child of this process has ended, and is still to be reaped.
pub(crate) fn has_ended(child: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let waited = waitid(WaitId::Pid(child), options).ok().flatten();
    // The stop of one that is traced is reported unasked.
    waited.is_some_and(|status| status.exited() || status.killed() || status.dumped())
}

/// Has all descriptors but the first three closed at exec.
#[expect(unsafe_code, reason = "a call on a number that stands for no known descriptor")]
pub fn close_at_exec() {
    if Feature::CloseRange.is_there() && close_range_from(3).is_ok() {
        return;
    }
    for entry in std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten() {
        let fd = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some(fd) = fd.filter(|fd| *fd > 2) {
            // SAFETY: a number that stands for nothing is refused.
            unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
}

#[expect(unsafe_code, reason = "a call that no safe wrapper makes")]
fn close_range_from(first: libc::c_uint) -> io::Result<()> {
    // SAFETY: a system call on numbers; what is closed is closed at exec, not now.
    match unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, CLOSE_ON_EXEC) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A file that has no name; in memory and, if `flags` say so, to be sealed, where that can be had.
pub(crate) fn memory_file(name: &str, flags: MemfdFlags) -> io::Result<File> {
    if !Feature::Memfd.is_there() {
        return unnamed_file(name);
    }
    let flags = flags | MemfdFlags::CLOEXEC;
    // Linux before 6.3 doesn't know it; later ones may insist on it (sysctl vm.memfd_noexec).
    let created: Result<OwnedFd, Errno> = match memfd_create(name, flags | MemfdFlags::NOEXEC_SEAL)
    {
        Err(Errno::INVAL) => memfd_create(name, flags),
        created => created,
    };
    Ok(File::from(created?))
}

fn unnamed_file(name: &str) -> io::Result<File> {
    let name = format!("{name}.{}", std::process::id());
    let mut error = io::ErrorKind::NotFound.into();
    for folder in UNNAMED {
        let path = Path::new(folder).join(&name);
        let mut options = File::options();
        match options.read(true).write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => return std::fs::remove_file(&path).map(|()| file),
            Err(e) => error = e,
        }
    }
    Err(error)
}
