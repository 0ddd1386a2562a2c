use std::io;
use std::time::Duration;

use rustix::process::Pid;

use crate::Usage;

/// Takes leave of the program, which has ended.
#[expect(unsafe_code, reason = "no safe wrapper gives the exit status and the usage of one child")]
pub(crate) fn wait(pid: Pid) -> io::Result<(i32, Usage)> {
    let mut status = 0;
    // SAFETY: rusage is plain data for which all zeroes is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to locals that outlive the call.
    let ended =
        unsafe { libc::wait4(pid.as_raw_nonzero().get(), &raw mut status, 0, &raw mut usage) };
    if ended < 0 {
        return Err(io::Error::last_os_error());
    }
    let time = |t: libc::timeval| {
        Duration::from_secs(t.tv_sec.unsigned_abs())
            + Duration::from_micros(t.tv_usec.unsigned_abs())
    };
    let max_rss_kib = usage.ru_maxrss.unsigned_abs();
    Ok((status, Usage { user: time(usage.ru_utime), system: time(usage.ru_stime), max_rss_kib }))
}

/// The first real-time signal that isn't the C library's own, by the names that `kill -l` has,
/// whichever library this program has.
const RT_MIN: i32 = 34;

/// A signal's name.
pub(crate) fn signal_name(number: i32) -> String {
    let name = match number {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGSTKFLT => "SIGSTKFLT",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGVTALRM => "SIGVTALRM",
        libc::SIGPROF => "SIGPROF",
        libc::SIGIO => "SIGIO",
        libc::SIGPWR => "SIGPWR",
        libc::SIGSYS => "SIGSYS",
        RT_MIN => "SIGRTMIN",
        _ if number > RT_MIN => return format!("SIGRTMIN+{}", number - RT_MIN),
        _ => return format!("SIG{number}"),
    };
    name.to_owned()
}
