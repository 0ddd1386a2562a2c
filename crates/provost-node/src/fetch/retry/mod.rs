//! One server after the other, and again those whose failure may pass.

mod limits;
mod queue;

use reqwest::Url;
use tokio::time::Instant;

use super::error::{FetchError, NotFetched};
use crate::failure::Failure;
pub use limits::RetryLimits;
use queue::Queue;

/// What was served.
pub struct Served<T> {
    /// What the attempt made of it.
    pub what: T,
    /// The server that served it.
    pub server: Url,
    /// Why the others were passed over that were asked before.
    pub passed_over: Vec<Failure>,
}

/// No server served.
pub struct Unserved {
    /// Why.
    pub why: NotFetched,
    /// Whether none of them answered at all.
    pub is_silence: bool,
}

/// Each server was asked once, none served, and it goes on.
pub struct StillTrying {
    /// Why the one failed that is asked again first.
    pub why: Failure,
    /// Whether none of them answered at all.
    pub is_silence: bool,
}

/// Calls `attempt` with each server in turn, and with the time when it has to be over, and again with
/// those whose failure may pass, until one succeeds, none is left, or the time is over. `still_trying`
/// is called once at most.
pub async fn try_servers<'s, T, F>(
    servers: &'s [Url],
    limits: impl Into<RetryLimits>,
    mut still_trying: impl FnMut(StillTrying),
    mut attempt: impl FnMut(&'s Url, Instant) -> F,
) -> Result<Served<T>, Unserved>
where
    F: Future<Output = Result<T, FetchError>>,
{
    let mut queue = Queue::new(servers, limits.into());
    let mut is_first_round = true;
    while let Some(next) = queue.next() {
        if let (true, Some((failure, time))) = (is_first_round, queue.why_again(next)) {
            let why = |text| format!("still trying, for up to {time}: {text}");
            let why = failure.clone().reworded(why);
            still_trying(StillTrying { why, is_silence: queue.is_silence() });
            is_first_round = false;
        }
        let this = queue.begin(next).await;
        match tokio::time::timeout_at(this.deadline(), attempt(this.server, this.deadline())).await
        {
            Ok(Ok(what)) => {
                let server = this.server.clone();
                return Ok(Served { what, server, passed_over: queue.passed_over(this) });
            }
            Ok(Err(error)) => {
                tracing::debug!("{}", error.failure);
                queue.failed(this, Some(error));
            }
            Err(_) => queue.failed(this, None),
        }
    }
    let is_silence = queue.is_silence();
    Err(Unserved { why: queue.not_fetched(), is_silence })
}

#[cfg(test)]
mod tests;
