//! Clients for whom there is no place now. Each is refused at once, with a time to come again: one after
//! the other, instead of all of them in a connect that times out.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Request, Response, StatusCode};
use axum::response::IntoResponse;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::refusal::Refusal;
use crate::turns::Turns;

/// How many clients are told at once, as a part of those that are served. The next ones wait for their
/// turn in the kernel's queue, …
const AT_ONCE: usize = 8;
/// … for so long each. What is more is closed without an answer.
const PATIENCE: Duration = Duration::from_millis(100);
/// How long telling one may take.
const TELLING: Duration = Duration::from_secs(5);
/// How much of a refused request's body is read, in bytes, so that the client gets to read the answer.
const DRAIN: usize = 64 * 1024;
/// The turns of those who were turned away.
pub(crate) struct Queue {
    turns: Turns,
    telling: Arc<Semaphore>,
}

impl Queue {
    /// The queue of a listener that serves so many clients at once.
    pub(crate) fn new(served: usize) -> Self {
        let telling = Arc::new(Semaphore::new(served.div_ceil(AT_ONCE)));
        Self { turns: Turns::new(), telling }
    }

    /// Tells the client of `io` when to come again. Returns when the next one may be told.
    pub(crate) async fn turn_away<S>(&self, io: S)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let permit = timeout(PATIENCE, Arc::clone(&self.telling).acquire_owned()).await;
        let Ok(Ok(permit)) = permit else { return };
        let wait = self.turns.next();
        tokio::spawn(async move {
            let refuse = move |request: Request<Incoming>| async move {
                // One that is longer, or doesn't come, loses the answer.
                let _ = to_bytes(Body::new(request.into_body()), DRAIN).await;
                Ok::<_, Infallible>(busy(wait))
            };
            let serving = http1::Builder::new()
                .keep_alive(false)
                .serve_connection(TokioIo::new(io), service_fn(refuse));
            // A client that goes away doesn't need it.
            let _ = timeout(TELLING, serving).await;
            drop(permit);
        });
    }
}

/// The answer to a client that may come again after this time.
fn busy(wait: Duration) -> Response<Body> {
    let error = "all connections are in use";
    let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error, "try again later");
    refusal.after(wait).into_response()
}
