//! Whether commands can be traced here.

use std::io;

use rustix::process::Pid;
use rustix::thread::CapabilitySet;

use super::ptrace;
use crate::kernel::Feature;

/// Why commands can't be traced here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Untraceable {
    /// This process lacks the right, without which what a step starts would lose rights, too: the
    /// kernel gives a traced program none by its setuid bit, unless its tracer may have them.
    #[error("this takes root and CAP_SYS_PTRACE, else su, sudo and the like would not work")]
    NotPrivileged,
    /// Without it, threads can't be waited for.
    #[error("waitid(2) has no __WALL before Linux {}", Feature::WaitAll.since())]
    OldKernel,
    /// There is no /proc, which has commands' arguments.
    #[error("/proc isn't mounted")]
    NoProc,
    /// The kernel, or a filter of system calls, refuses it.
    #[error("ptrace(2) is refused: {0}")]
    Refused(String),
}

/// Says why commands can't be traced here, if so. It tries it.
///
/// # Errors
///
/// Why not, e.g. by Yama (`kernel.yama.ptrace_scope = 3`) or a container's seccomp filter.
pub fn can_trace() -> Result<(), Untraceable> {
    may_trace()?;
    try_it().map_err(|e| Untraceable::Refused(e.to_string()))
}

/// What can be said without trying.
pub(crate) fn may_trace() -> Result<(), Untraceable> {
    if !Feature::WaitAll.is_there() {
        return Err(Untraceable::OldKernel);
    }
    let sets = rustix::thread::capabilities(None);
    if !sets.is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_PTRACE)) {
        return Err(Untraceable::NotPrivileged);
    }
    // A file of the kernel's own: an empty folder may be there.
    match std::fs::exists("/proc/self/cmdline") {
        Ok(true) => Ok(()),
        _ => Err(Untraceable::NoProc),
    }
}

#[expect(unsafe_code, reason = "no safe wrapper forks")]
fn try_it() -> io::Result<()> {
    // SAFETY: the child makes system calls alone, which is safe whatever threads there are.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: as above. Only a signal ends it.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            loop {
                libc::pause();
            }
        }
    }
    let child = Pid::from_raw(child.max(0)).ok_or_else(io::Error::last_os_error)?;
    let seized = ptrace::seize(child);
    let _ = rustix::process::kill_process(child, rustix::process::Signal::KILL);
    while matches!(
        rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty()),
        Err(rustix::io::Errno::INTR)
    ) {}
    seized
}
