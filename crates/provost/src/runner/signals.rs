use std::io;

use provost_exec::Orders;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Turns the signals that this process gets into orders. The first of SIGHUP, SIGINT, SIGTERM,
/// SIGQUIT ends the run in order, a second one at once; SIGTSTP pauses it.
pub(super) fn watch() -> io::Result<watch::Receiver<Orders>> {
    let mut hangup = signal(SignalKind::hangup())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut quit = signal(SignalKind::quit())?;
    let mut pause = signal(SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()))?;
    let (tell, orders) = watch::channel(Orders::default());
    tokio::spawn(async move {
        loop {
            let name = tokio::select! {
                _ = hangup.recv() => "SIGHUP",
                _ = interrupt.recv() => "SIGINT",
                _ = terminate.recv() => "SIGTERM",
                _ = quit.recv() => "SIGQUIT",
                _ = pause.recv() => {
                    tell.send_modify(|orders| orders.pauses += 1);
                    continue;
                }
            };
            tell.send_modify(|orders| {
                orders.hurry = orders.stop.is_some();
                orders.stop.get_or_insert(name);
            });
        }
    });
    Ok(orders)
}
