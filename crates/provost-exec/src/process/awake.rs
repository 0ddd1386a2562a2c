//! What a script has stopped goes on: the keeper by itself, the runner by its keeper.

use std::ffi::CStr;

use rustix::process::{Signal, getpid, getppid, kill_process};

use super::status;

/// How often they are looked after, in seconds.
const PERIOD: libc::time_t = 1;
/// The name of a runner that is paused on purpose, as `ps` shows it.
const PAUSED: &CStr = c"provost-paused";
/// Its name again, once SIGCONT has come.
const RUNNER: &CStr = c"provost";

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

/// Has SIGCONT take the name of a paused runner, this process, away. To be called before anything else
/// handles that signal: what does so then calls this handler, too.
#[expect(unsafe_code, reason = "setting a signal's handler")]
pub(crate) fn unpause_by_signal() {
    extern "C" fn unpause(_: libc::c_int) {
        let _ = rustix::thread::set_name(RUNNER);
    }
    let handler = unpause as extern "C" fn(libc::c_int);
    // SAFETY: the handler makes one system call, which is safe at any moment.
    unsafe { libc::signal(libc::SIGCONT, handler as libc::sighandler_t) };
}

/// Names this process, a runner, as one that is paused. A SIGCONT that comes from now on is not lost, if
/// it comes before the process stops: without that name the keeper lets it go on.
pub(crate) fn begin_pause() {
    let _ = rustix::thread::set_name(PAUSED);
}

/// Stops this process, a runner, until SIGCONT comes.
pub(crate) fn stop() {
    // Nothing refuses that to a process of itself.
    let _ = kill_process(getpid(), Signal::STOP);
}

/// Names this process, a runner, as one that isn't paused.
pub(crate) fn end_pause() {
    let _ = rustix::thread::set_name(RUNNER);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(unsafe_code, reason = "sending a signal to this thread alone")]
    fn a_signal_to_go_on_takes_the_name_of_a_paused_runner_away() {
        let name = || rustix::thread::name().unwrap();
        unpause_by_signal();
        begin_pause();
        assert_eq!(name().as_c_str(), PAUSED);
        // SAFETY: the signal has a handler.
        unsafe { libc::raise(libc::SIGCONT) };
        assert_eq!(name().as_c_str(), RUNNER);
    }
}
