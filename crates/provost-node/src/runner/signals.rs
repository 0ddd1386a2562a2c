use std::io;

use provost_exec::Orders;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Turns the signals that this process gets into orders. The first of SIGHUP, SIGINT, SIGTERM,
/// SIGQUIT ends the run in order, a second one at once; SIGTSTP pauses it until SIGCONT.
pub(crate) fn watch() -> io::Result<watch::Receiver<Orders>> {
    let heed_hangup = !is_ignored(rustix::process::Signal::HUP);
    let mut hangup = signal(SignalKind::hangup())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut quit = signal(SignalKind::quit())?;
    let mut pause = signal(SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()))?;
    let mut resume = signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?;
    let (tell, orders) = watch::channel(Orders::default());
    tokio::spawn(async move {
        loop {
            let name = tokio::select! {
                // Of a SIGTSTP and a SIGCONT that are there at once nothing tells which came last;
                // what is not paused can be paused again.
                biased;
                _ = pause.recv() => {
                    tell.send_modify(|orders| orders.pauses += 1);
                    continue;
                }
                _ = resume.recv() => {
                    tell.send_modify(|orders| orders.resumed = orders.pauses);
                    continue;
                }
                _ = hangup.recv(), if heed_hangup => "SIGHUP",
                _ = interrupt.recv() => "SIGINT",
                _ = terminate.recv() => "SIGTERM",
                _ = quit.recv() => "SIGQUIT",
            };
            tell.send_modify(|orders| {
                orders.hurry = orders.stop.is_some();
                orders.stop.get_or_insert(name);
            });
        }
    });
    Ok(orders)
}

/// Whether the caller of this process had it ignore `signal`, as nohup(1) does. Where /proc
/// isn't there, nobody did.
fn is_ignored(signal: rustix::process::Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    ignored & (1 << (signal.as_raw() - 1)) != 0
}
