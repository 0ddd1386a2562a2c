//! Clients for whom there is no place now. Each is refused at once, with a time to come again: one after
//! the other, instead of all of them in a connect that times out.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use crate::refusal::Refusal;

/// How many clients are told at once. What is more is closed without an answer.
const AT_ONCE: usize = 1024;
/// How long telling one may take.
const TELLING: Duration = Duration::from_secs(5);
/// The time between the turns of two clients: the requests of a thousand a second can be served on
/// two processors.
const TURN: Duration = Duration::from_millis(1);
/// The soonest that a client may come again, and the latest: a queue that is longer begins anew.
const SOONEST: Duration = Duration::from_secs(1);
const LATEST: Duration = Duration::from_secs(60);

/// The turns of those who were turned away.
pub(crate) struct Queue {
    /// When the next of them may come.
    next: Mutex<Instant>,
    telling: Arc<Semaphore>,
}

impl Queue {
    pub(crate) fn new() -> Self {
        Self { next: Mutex::new(Instant::now()), telling: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// Tells the client of `io` when to come again.
    pub(crate) fn turn_away<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(&self, io: S) {
        let Ok(permit) = Arc::clone(&self.telling).try_acquire_owned() else { return };
        let wait = self.wait();
        tokio::spawn(async move {
            let refuse = move |_: Request<Incoming>| async move { Ok::<_, Infallible>(busy(wait)) };
            let serving = http1::Builder::new()
                .keep_alive(false)
                .serve_connection(TokioIo::new(io), service_fn(refuse));
            // A client that goes away doesn't need it.
            let _ = timeout(TELLING, serving).await;
            drop(permit);
        });
    }

    /// Takes the next turn.
    fn wait(&self) -> Duration {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if *next < now || *next > now + LATEST - SOONEST {
            *next = now;
        }
        *next += TURN;
        SOONEST + (*next - now)
    }
}

fn busy(wait: Duration) -> Response<Body> {
    let error = "all connections are in use";
    let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error, "try again later");
    // Not by its own answer, which is logged: thousands are usual after a power cut.
    let mut response = refusal.quietly();
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs()));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn turns_follow_each_other_and_are_free_again_when_their_time_has_come() {
        let queue = Queue::new();
        let waits: Vec<u64> = (0..5000).map(|_| queue.wait().as_secs()).collect();
        assert_eq!((waits[0], waits[2500], waits[4999]), (1, 3, 6));
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(queue.wait().as_secs(), 1);
        let longest = (0..200_000).map(|_| queue.wait()).max().unwrap();
        assert!(longest <= LATEST + TURN, "{longest:?}");
    }
}
