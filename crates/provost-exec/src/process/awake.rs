//! What a script has stopped goes on: the keeper by itself, the runner by its keeper.

use std::ffi::CStr;

use rustix::process::{Signal, getpid, getppid, kill_process};

use super::status;

/// How often they are looked after, in seconds.
const PERIOD: libc::time_t = 1;
/// The name of a runner that is paused on purpose, as `ps` shows it.
const PAUSED: &CStr = c"provost-paused";

/// Has the kernel send this process SIGCONT again and again, for which it needs a handler. That
/// ends all waiting, too.
#[expect(unsafe_code, reason = "no safe wrapper makes timers")]
pub(crate) fn stay() {
    // SAFETY: both are plain data for which all zeroes is a value.
    let (mut event, mut times): (libc::sigevent, libc::itimerspec) =
        unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    event.sigev_notify = libc::SIGEV_SIGNAL;
    event.sigev_signo = libc::SIGCONT;
    times.it_interval.tv_sec = PERIOD;
    times.it_value.tv_sec = PERIOD;
    let mut timer = std::ptr::null_mut();
    // SAFETY: all pointers are to locals that outlive the calls. Without a timer a keeper that is
    // stopped stays so.
    unsafe {
        if libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) == 0 {
            libc::timer_settime(timer, 0, &raw const times, std::ptr::null_mut());
        }
    }
}

/// Lets the runner, this process's parent, go on if something else than an order has stopped it.
pub(crate) fn wake_runner() {
    let runner = getppid();
    if let Some(runner) = runner.filter(|pid| status::is_stopped(*pid, PAUSED)) {
        let _ = kill_process(runner, Signal::CONT);
    }
}

/// Stops this process, a runner, until SIGCONT comes.
pub(crate) fn pause() {
    let name = rustix::thread::name();
    let _ = rustix::thread::set_name(PAUSED);
    // Nothing refuses that to a process of itself.
    let _ = kill_process(getpid(), Signal::STOP);
    let _ = name.map(|name| rustix::thread::set_name(&name));
}
