use std::io;
use std::time::Duration;

use rustix::process::Pid;

use crate::outcome::Usage;

/// Reaps the program, which has ended.
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
