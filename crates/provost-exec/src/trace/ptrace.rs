//! ptrace(2), as far as it is needed here, and the wait for what it reports.

use std::io;

use libc::{c_int, c_long};
use rustix::process::{Pid, Signal};

/// What is reported besides stops by signals, and that the kernel kills what its tracer, a keeper that is
/// killed, leaves behind. An exit needs no stop: it is waited for.
const OPTIONS: c_int = libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_EXITKILL;

/// Why a traced thread has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It has a new child process.
    Fork,
    /// It has a new thread, or a child that sends no SIGCHLD.
    Clone,
    /// Its process has begun another program.
    Exec,
    /// A signal has stopped its process (job control).
    Group,
    /// It is new, was interrupted by its tracer, or goes on after a stop of its process.
    Trap,
    /// It is about to get this signal.
    Signal(c_int),
    /// A system call begins or ends.
    Call,
}

/// Whom a thread is about to trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Traces {
    /// Its parent is to trace it.
    Me,
    /// It traces this thread.
    Thread(i32),
}

/// What has become of a child or a traced thread.
#[derive(Debug)]
pub(super) enum Change {
    Stopped(i32, Stop),
    /// It has ended, and its parent does not know yet.
    Ended(i32, ProcessEnd),
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessEnd {
    Exit(c_int),
    Signal(c_int),
}

/// Starts to trace a process that goes on meanwhile. All that it starts from then on is traced, too.
pub(crate) fn seize(pid: Pid) -> io::Result<()> {
    request(libc::PTRACE_SEIZE.into(), pid.as_raw_nonzero().get(), OPTIONS).map(drop)
}

/// Lets a stopped thread go on, with this signal, if it isn't 0.
pub(crate) fn go_on(pid: i32, signal: c_int) {
    resume(libc::PTRACE_CONT.into(), pid, signal);
}

/// The same, but to its next system call.
pub(super) fn go_on_to_call(pid: i32, signal: c_int) {
    resume(libc::PTRACE_SYSCALL.into(), pid, signal);
}

/// Leaves a stopped thread as it is until its process goes on.
pub(super) fn leave_stopped(pid: i32) {
    resume(libc::PTRACE_LISTEN.into(), pid, 0);
}

/// Lets a stopped thread go on and traces it no more. Returns whether that is so: one that has been killed
/// meanwhile is traced to its end.
pub(super) fn detach(pid: i32, signal: c_int) -> bool {
    resume(libc::PTRACE_DETACH.into(), pid, signal)
}

/// Kills the process of a stopped thread.
pub(super) fn kill(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}

/// A thread that has taken its process's number by exec can't go on until its stop was waited for
/// (`looks_like_a_spurious_pid` in the kernel). Any other that can't has been killed meanwhile.
fn resume(how: c_long, pid: i32, signal: c_int) -> bool {
    request(how, pid, signal).is_ok() || {
        forget(pid);
        request(how, pid, signal).is_ok()
    }
}

/// Has a thread stop as soon as it can.
pub(super) fn interrupt(pid: i32) -> io::Result<()> {
    request(libc::PTRACE_INTERRUPT.into(), pid, 0).map(drop)
}

fn request(request: c_long, pid: i32, data: c_int) -> io::Result<c_long> {
    call(request, pid, usize::try_from(data).unwrap_or_default())
}

/// Which thread is new, at [`Stop::Fork`] and [`Stop::Clone`]; which one it was before, at
/// [`Stop::Exec`].
pub(super) fn message(pid: i32) -> Option<i32> {
    let mut number: libc::c_ulong = 0;
    // The kernel writes one number, which outlives the call.
    call(libc::PTRACE_GETEVENTMSG.into(), pid, (&raw mut number).expose_provenance()).ok()?;
    i32::try_from(number).ok()
}

/// Whom a thread is about to trace, at [`Stop::Call`]. Not by `PTRACE_GET_SYSCALL_INFO`, which is of Linux
/// 5.3; so the end of a call looks like its beginning.
pub(super) fn traces(pid: i32) -> Option<Traces> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/syscall")).ok()?;
    // `101 0x4206 0x1f3 ...`: the call's number and its arguments.
    let mut words = text.split_ascii_whitespace();
    if words.next()?.parse() != Ok(libc::SYS_ptrace) {
        return None;
    }
    let mut arg = || u32::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
    match arg()? {
        libc::PTRACE_TRACEME => Some(Traces::Me),
        libc::PTRACE_ATTACH | libc::PTRACE_SEIZE => {
            Some(Traces::Thread(i32::try_from(arg()?).ok()?))
        }
        _ => None,
    }
}

#[expect(unsafe_code, reason = "no safe wrapper traces")]
fn call(request: c_long, pid: i32, data: usize) -> io::Result<c_long> {
    // SAFETY: no request that is made here writes to this process's memory, but GETEVENTMSG, whose caller
    // gives it room.
    match unsafe { libc::syscall(libc::SYS_ptrace, request, c_long::from(pid), 0_usize, data) } {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result),
    }
}

/// The next change of any child and any traced thread, without waiting for one. An error: there is
/// neither child nor thread.
///
/// It is looked at only. A stop is over when its thread goes on. The parent learns of an end when
/// it is [reaped](reap), so that nothing can happen after it until then.
pub(super) fn next_change() -> io::Result<Option<Change>> {
    look(libc::P_ALL, 0, libc::WNOHANG)
}

/// The next change of one, without waiting for it.
pub(super) fn change_of(pid: i32) -> io::Result<Option<Change>> {
    look(libc::P_PID, pid.cast_unsigned(), libc::WNOHANG)
}

/// Waits for the next change of one.
pub(crate) fn wait_for_exec(pid: Pid) -> bool {
    let pid = pid.as_raw_nonzero().get();
    loop {
        match look(libc::P_PID, pid.cast_unsigned(), 0) {
            Ok(Some(Change::Stopped(_, Stop::Exec))) => return true,
            Ok(Some(Change::Stopped(_, Stop::Signal(signal)))) => go_on(pid, signal),
            Ok(Some(Change::Stopped(_, Stop::Group))) => leave_stopped(pid),
            Ok(Some(Change::Stopped(..))) => go_on(pid, 0),
            Ok(Some(Change::Ended(..))) => return false,
            Ok(None) => {}
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
}

#[expect(unsafe_code, reason = "no safe wrapper says whose change it is")]
fn look(which: libc::idtype_t, id: libc::id_t, flags: c_int) -> io::Result<Option<Change>> {
    let flags = flags | libc::WEXITED | libc::WNOWAIT | libc::__WALL;
    // SAFETY: siginfo_t is plain data for which all zeroes is a value.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a local that outlives the call.
    if unsafe { libc::waitid(which, id, &raw mut info, flags) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: these are set where a change is reported, and zero else.
    let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
    Ok((pid != 0).then(|| match info.si_code {
        libc::CLD_EXITED => Change::Ended(pid, ProcessEnd::Exit(status)),
        libc::CLD_KILLED | libc::CLD_DUMPED => Change::Ended(pid, ProcessEnd::Signal(status)),
        _ => Change::Stopped(pid, stop(status)),
    }))
}

fn stop(status: c_int) -> Stop {
    let signal = status & 0xff;
    match status >> 8 {
        0 if signal == libc::SIGTRAP | 0x80 => Stop::Call,
        0 => Stop::Signal(signal),
        libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK => Stop::Fork,
        libc::PTRACE_EVENT_CLONE => Stop::Clone,
        libc::PTRACE_EVENT_EXEC => Stop::Exec,
        _ if signal == libc::SIGTRAP => Stop::Trap,
        _ => Stop::Group,
    }
}

/// Lets the end of one be known to its parent.
#[expect(unsafe_code, reason = "no safe wrapper waits for a thread")]
pub(super) fn reap(pid: i32) {
    // SAFETY: nothing is written.
    unsafe {
        libc::wait4(pid, std::ptr::null_mut(), libc::__WALL | libc::WNOHANG, std::ptr::null_mut())
    };
}

/// Waits for a stop that was looked at, so that it isn't reported again.
#[expect(unsafe_code, reason = "as above")]
fn forget(pid: i32) {
    let flags = libc::WSTOPPED | libc::WNOHANG | libc::__WALL;
    // SAFETY: siginfo_t is plain data for which all zeroes is a value, and outlives the call.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        libc::waitid(libc::P_PID, pid.cast_unsigned(), &raw mut info, flags);
    }
}
