use std::io;

use provost_exec::Orders;
use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// The signals that end a run. Those after the first three would end this process without an end of
/// its record, unless its caller had it ignore them, as nohup(1) does.
const ENDS: [(Signal, &str); 9] = [
    (Signal::INT, "SIGINT"),
    (Signal::TERM, "SIGTERM"),
    (Signal::QUIT, "SIGQUIT"),
    (Signal::HUP, "SIGHUP"),
    (Signal::USR1, "SIGUSR1"),
    (Signal::USR2, "SIGUSR2"),
    (Signal::ALARM, "SIGALRM"),
    (Signal::VTALARM, "SIGVTALRM"),
    (Signal::PROF, "SIGPROF"),
];

/// Turns the signals that this process gets into orders. The first of those in [`ENDS`] ends the run in order, a
/// second one at once; SIGTSTP pauses it until SIGCONT.
pub(crate) fn watch() -> io::Result<watch::Receiver<Orders>> {
    let (tell, orders) = watch::channel(Orders::default());
    for (at, (ends, name)) in ENDS.into_iter().enumerate() {
        if at >= 3 && is_ignored(ends) {
            continue;
        }
        let (mut ends, tell) = (signal(SignalKind::from_raw(ends.as_raw()))?, tell.clone());
        tokio::spawn(async move {
            while ends.recv().await.is_some() {
                tell.send_modify(|orders| {
                    orders.hurry = orders.stop.is_some();
                    orders.stop.get_or_insert(name);
                });
            }
        });
    }
    let mut pause = signal(SignalKind::from_raw(Signal::TSTP.as_raw()))?;
    let mut resume = signal(SignalKind::from_raw(Signal::CONT.as_raw()))?;
    tokio::spawn(async move {
        loop {
            tokio::select! {
                // Of a SIGTSTP and a SIGCONT that are there at once nothing tells which came last;
                // what is not paused can be paused again.
                biased;
                _ = pause.recv() => tell.send_modify(|orders| orders.pauses += 1),
                _ = resume.recv() => tell.send_modify(|orders| orders.resumed = orders.pauses),
            }
        }
    });
    Ok(orders)
}

/// Whether the caller of this process had it ignore `signal`, as nohup(1) does. Where /proc
/// isn't there, nobody did.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    ignored & (1 << (signal.as_raw() - 1)) != 0
}
