use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::timeout;

use crate::body;
use crate::connections::{ClientAddress, Connection, ConnectionLimits, Connections};
use crate::pace::Paced;

/// How long a client may take for the head of a request, and how long it may leave a connection
/// idle.
const HEAD: Duration = Duration::from_secs(30);
/// How soon a client that waits for a place looks again for an idle connection to close.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// How much of an answer may wait in the kernel to be sent, in bytes, so that what a slow client
/// takes is seen at once.
const UNSENT: u32 = 128 * 1024;
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

/// Serves `router` within `limits` until `stop`. Idle connections make room for new ones; if none is
/// idle, further clients wait in the kernel's queue, and those of an address that is over its limit
/// are refused. Requests that are running at `stop` are still answered.
pub(crate) async fn serve<L: Listener<Addr: ClientAddress>>(
    mut listener: L,
    router: Router,
    limits: ConnectionLimits,
    mut stop: Stop,
) {
    let permits = Arc::new(Semaphore::new(limits.all));
    let open = Arc::<Connections>::default();
    let shutdown = GracefulShutdown::new();
    loop {
        let accepted = async {
            let (io, address) = listener.accept().await;
            let connection = open.add(address.ip(), limits)?;
            Some((io, connection, permit(&permits, &open).await?))
        };
        let accepted = tokio::select! {
            accepted = accepted => accepted,
            () = stop.wait() => break,
        };
        let Some((io, connection, permit)) = accepted else { continue };
        let connection = Arc::new(connection);
        let serving = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .serve_connection(
                TokioIo::new(Paced::new(io)),
                answer(router.clone(), Arc::clone(&connection)),
            );
        let serving = shutdown.watch(serving);
        tokio::spawn(async move {
            tokio::select! {
                // Fails where the client goes away in the middle; nothing is left to do for it.
                _ = serving => {}
                () = connection.must_close() => {}
            }
            drop(permit);
        });
    }
    drop(listener);
    shutdown.shutdown().await;
}

/// Waits for a free place; none if the listener ends.
async fn permit(permits: &Arc<Semaphore>, open: &Connections) -> Option<OwnedSemaphorePermit> {
    loop {
        if let Ok(permit) = Arc::clone(permits).try_acquire_owned() {
            return Some(permit);
        }
        open.close_idle();
        let place = Arc::clone(permits).acquire_owned();
        if let Ok(permit) = timeout(LOOK_AGAIN, place).await {
            return permit.ok();
        }
    }
}

/// Answers the requests of a connection, which is busy until the body of the answer is sent. The
/// handlers find the connection among the request's extensions.
fn answer(
    router: Router,
    connection: Arc<Connection>,
) -> impl hyper::service::Service<
    Request<Incoming>,
    Response = Response<Body>,
    Error = Infallible,
    Future: Send,
> {
    let router = TowerToHyperService::new(router);
    service_fn(move |mut request: Request<Incoming>| {
        let running = connection.begin_request();
        request.extensions_mut().insert(Arc::clone(&connection));
        let answer = hyper::service::Service::call(&router, request);
        async move {
            let response = answer.await?;
            Ok(response.map(|body| body::keep(running, body)))
        }
    })
}

/// Prepares a connection over TCP.
pub(crate) fn tune(stream: &mut tokio::net::TcpStream) {
    // These fail only on a connection that is closed, which the next read shows.
    let _ = stream.set_nodelay(true);
    let _ = rustix::net::sockopt::set_tcp_user_timeout(&*stream, UNACKNOWLEDGED);
    let _ = socket2::SockRef::from(&*stream).set_tcp_notsent_lowat(UNSENT);
}
