use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::sync::{Semaphore, watch};

/// How long a client may take for the head of a request, and how long it may leave a connection
/// idle.
const HEAD: Duration = Duration::from_secs(30);
/// How long what was sent may stay unacknowledged, in milliseconds: a node that lost its power,
/// or a client that doesn't read, is let go.
const UNACKNOWLEDGED: u32 = 60_000;

/// Tells the doors, and whatever streams through them, to end.
#[derive(Clone)]
pub(crate) struct Stop(watch::Receiver<bool>);

impl Stop {
    pub(crate) fn new() -> (watch::Sender<bool>, Self) {
        let (sender, receiver) = watch::channel(false);
        (sender, Self(receiver))
    }

    /// Waits until it is time to end.
    pub(crate) async fn wait(&mut self) {
        // Without a sender there is nobody left to work for.
        let _ = self.0.wait_for(|stop| *stop).await;
    }
}

/// Serves `router` to at most `seats` connections at once until `stop`; whoever comes then waits
/// in the kernel's queue. Requests that are under way at `stop` are still answered.
pub(crate) async fn serve<L: Listener>(
    mut listener: L,
    router: Router,
    seats: usize,
    mut stop: Stop,
) {
    let seats = Arc::new(Semaphore::new(seats));
    let connections = GracefulShutdown::new();
    loop {
        let guest = async {
            let seat = Arc::clone(&seats).acquire_owned().await;
            (seat, listener.accept().await.0)
        };
        let (seat, io) = tokio::select! {
            guest = guest => guest,
            () = stop.wait() => break,
        };
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .serve_connection(TokioIo::new(io), TowerToHyperService::new(router.clone()));
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            // A client that goes away in the middle is its own affair.
            let _ = connection.await;
            drop(seat);
        });
    }
    drop(listener);
    connections.shutdown().await;
}

/// Prepares a connection over TCP.
pub(crate) fn tune(stream: &mut tokio::net::TcpStream) {
    // Neither can fail on a connection that lives, and one that doesn't is seen at once.
    let _ = stream.set_nodelay(true);
    let _ = rustix::net::sockopt::set_tcp_user_timeout(&*stream, UNACKNOWLEDGED);
}
