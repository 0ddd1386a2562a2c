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
/// How long sent data may stay unacknowledged, in milliseconds. Then the connection is closed: the
/// node has lost its power, or the client doesn't read.
const UNACKNOWLEDGED: u32 = 60_000;

/// The order to end, for the listeners and all streams.
#[derive(Clone)]
pub(crate) struct Stop(watch::Receiver<bool>);

impl Stop {
    pub(crate) fn new() -> (watch::Sender<bool>, Self) {
        let (sender, receiver) = watch::channel(false);
        (sender, Self(receiver))
    }

    /// Waits until it is time to end.
    pub(crate) async fn wait(&mut self) {
        // Fails where the sender is gone: then the daemon is.
        let _ = self.0.wait_for(|stop| *stop).await;
    }
}

/// Serves `router` to at most `limit` connections at once until `stop`; further clients wait in
/// the kernel's queue. Requests that are running at `stop` are still answered.
pub(crate) async fn serve<L: Listener>(
    mut listener: L,
    router: Router,
    limit: usize,
    mut stop: Stop,
) {
    let permits = Arc::new(Semaphore::new(limit));
    let connections = GracefulShutdown::new();
    loop {
        let accepted = async {
            let permit = Arc::clone(&permits).acquire_owned().await;
            (permit, listener.accept().await.0)
        };
        let (permit, io) = tokio::select! {
            accepted = accepted => accepted,
            () = stop.wait() => break,
        };
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .serve_connection(TokioIo::new(io), TowerToHyperService::new(router.clone()));
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            // Fails where the client goes away in the middle; nothing is left to do for it.
            let _ = connection.await;
            drop(permit);
        });
    }
    drop(listener);
    connections.shutdown().await;
}

/// Prepares a connection over TCP.
pub(crate) fn tune(stream: &mut tokio::net::TcpStream) {
    // Both fail only on a connection that is closed, which the next read shows.
    let _ = stream.set_nodelay(true);
    let _ = rustix::net::sockopt::set_tcp_user_timeout(&*stream, UNACKNOWLEDGED);
}
