pub(crate) mod bodies;
pub(crate) mod body;
pub(crate) mod client_address;
pub(crate) mod connections;
pub(crate) mod encoding;
pub(crate) mod host;
pub(crate) mod ingest_limiter;
pub(crate) mod proxy_protocol;
pub(crate) mod ranges;
pub(crate) mod refusal;
pub(crate) mod retry_slots;
pub(crate) mod serving;
pub(crate) mod slow_client_guard;
pub(crate) mod socket;
pub(crate) mod tls;
pub(crate) mod token;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Method, Request, Response, header};
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::sync::watch;

use crate::metrics::ListenerCounts;
use client_address::ClientAddress;
use connections::{Connection, Connections};
use slow_client_guard::SlowClientGuard;

/// How long a client may take for the head of a request, and how long it may leave a connection
/// idle.
const HEAD: Duration = Duration::from_secs(30);
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

/// Serves `router` until `stop`, to as many as have places among the `open` connections. Idle ones make
/// room for new ones; if none is idle, further clients are told when to come again, as are those of an address that is
/// over its limit; `counts` counts all of them. Requests that are running at `stop` are still answered.
pub(crate) async fn serve<L: Listener<Addr: ClientAddress>>(
    mut listener: L,
    router: Router,
    open: Arc<Connections>,
    counts: ListenerCounts,
    mut stop: Stop,
) {
    let shutdown = GracefulShutdown::new();
    loop {
        let (io, address) = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.wait() => break,
        };
        let accepted = counts.accepted();
        // Nothing here waits for a client: while thousands come at once, the next one has to be taken from the
        // kernel's queue before it gives up.
        let Some(connection) = open.add(&address) else {
            counts.refused();
            tokio::select! {
                () = open.turn_away(&address, io) => continue,
                () = stop.wait() => break,
            }
        };
        let connection = Arc::new(connection);
        let of_all = Arc::clone(&open);
        let is_crowded = move || of_all.is_crowded();
        let serving = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .serve_connection(
                TokioIo::new(SlowClientGuard::new(io)),
                answer(router.clone(), Arc::clone(&connection), is_crowded),
            );
        let serving = shutdown.watch(serving);
        tokio::spawn(async move {
            tokio::select! {
                // Fails where the client goes away in the middle; nothing is left to do for it.
                _ = serving => {}
                () = connection.must_close() => {}
            }
            drop(accepted);
        });
    }
    drop(listener);
    shutdown.shutdown().await;
}

/// Answers the requests of a connection, which is busy until the body of the answer is sent. The
/// handlers find the connection among the request's extensions. While it `is_crowded`, the connection
/// ends with a report, so that a node has none between two; one that fetches has more to ask at once.
fn answer(
    router: Router,
    connection: Arc<Connection>,
    is_crowded: impl Fn() -> bool + Clone + Send + 'static,
) -> impl hyper::service::Service<
    Request<Incoming>,
    Response = Response<Body>,
    Error = Infallible,
    Future: Send,
> {
    let router = TowerToHyperService::new(router);
    service_fn(move |mut request: Request<Incoming>| {
        let running = connection.begin_request();
        let is_report = request.method() == Method::POST;
        request.extensions_mut().insert(Arc::clone(&connection));
        let answer = hyper::service::Service::call(&router, request);
        let is_crowded = is_crowded.clone();
        async move {
            let mut response = answer.await?;
            if is_report && is_crowded() {
                response
                    .headers_mut()
                    .insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
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
