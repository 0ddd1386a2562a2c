//! The management nodes behind a relay: asked in order, and none again and again while it can't be
//! reached, so that nobody waits for it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, header};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use provost_node::backoff::{Backoff, Jitter};
use provost_node::http::{Client, reason, retry_after};
use provost_record::now;
use reqwest::Url;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, timeout};

/// How long an upstream may take to begin an answer, and for all of a small one. A node waits 10 s for
/// the relay.
pub(super) const PATIENCE: Duration = Duration::from_secs(4);
/// The same where nobody waits for the answer.
pub(super) const LONG: Duration = Duration::from_secs(30);
/// How many requests are under way at once.
const AT_ONCE: usize = 128;
/// The longest answer that is kept in memory, in bytes.
const MOST: usize = 4 * 1024 * 1024;
/// For how long an upstream isn't asked after it has failed.
const BACKOFF: Backoff = Backoff {
    first: Duration::from_millis(500),
    most: Duration::from_secs(5),
    jitter: Jitter::Half,
};
/// The longest wait that an upstream may ask for.
const MOST_WAIT: Duration = Duration::from_secs(60);

/// All upstreams.
pub(super) struct Upstreams {
    client: Client,
    all: Vec<Upstream>,
    under_way: Semaphore,
    /// Changes when one can be reached again.
    back: watch::Sender<()>,
}

struct Upstream {
    url: Url,
    away: Mutex<Option<Away>>,
}

/// Since when an upstream can't be reached.
#[derive(Clone)]
pub(super) struct Away {
    pub(super) since: Timestamp,
    pub(super) why: String,
    failures: u32,
    /// Not to be asked before.
    until: Instant,
}

/// A request.
pub(super) struct Request<'a> {
    pub(super) method: Method,
    /// Path and query, from the slash on.
    pub(super) path: &'a str,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) patience: Duration,
}

/// A whole answer.
#[derive(Clone)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// Why one upstream has failed, and how long it asks to wait.
pub(super) struct Failed {
    why: String,
    wait: Duration,
}

impl Failed {
    pub(super) fn because(why: impl Into<String>) -> Self {
        Self { why: why.into(), wait: Duration::ZERO }
    }
}

/// No upstream can be reached.
pub(super) struct NoneReached;

impl Upstreams {
    pub(super) fn new(client: Client, urls: Vec<Url>) -> Self {
        let all = urls.into_iter().map(|url| Upstream { url, away: Mutex::default() }).collect();
        let (back, under_way) = (watch::Sender::new(()), Semaphore::new(AT_ONCE));
        Self { client, all, under_way, back }
    }

    /// Asks for a small answer, which the first upstream gives that `takes` accepts as one.
    pub(super) async fn send(
        &self,
        request: &Request<'_>,
        takes: impl Fn(&Answer) -> Result<(), Failed> + Sync,
    ) -> Result<Answer, NoneReached> {
        let takes = &takes;
        let whole = |response: reqwest::Response| {
            let whole = async move {
                let (status, headers) = (response.status(), response.headers().clone());
                let body = read(response).await?;
                let answer = Answer { status, headers, body };
                takes(&answer).map(|()| answer)
            };
            whole.boxed()
        };
        self.first(request, whole).await
    }

    /// Asks for an answer whose body is still to be read.
    pub(super) async fn open(
        &self,
        request: &Request<'_>,
    ) -> Result<reqwest::Response, NoneReached> {
        self.first(request, |response| std::future::ready(Ok(response)).boxed()).await
    }

    async fn first<'r, T>(
        &self,
        request: &Request<'_>,
        read: impl Fn(reqwest::Response) -> BoxFuture<'r, Result<T, Failed>>,
    ) -> Result<T, NoneReached> {
        let permit = timeout(request.patience, self.under_way.acquire()).await;
        let _permit = permit.ok().and_then(Result::ok).ok_or(NoneReached)?;
        for upstream in &self.all {
            if !upstream.may_be_asked(request.patience) {
                continue;
            }
            let asked = async { read(self.ask(upstream, request).await?).await };
            let silent = || format!("no answer within {} s", request.patience.as_secs());
            let asked = timeout(request.patience, asked).await;
            match asked.unwrap_or_else(|_| Err(Failed::because(silent()))) {
                Ok(answer) => {
                    if upstream.answers() {
                        self.back.send_replace(());
                    }
                    return Ok(answer);
                }
                Err(failed) => upstream.fails(failed),
            }
        }
        Err(NoneReached)
    }

    async fn ask(
        &self,
        upstream: &Upstream,
        request: &Request<'_>,
    ) -> Result<reqwest::Response, Failed> {
        let is_private = request.headers.contains_key(header::AUTHORIZATION);
        let base = match is_private {
            true => self.client.way().private(&upstream.url),
            false => upstream.url.clone(),
        };
        let url = format!("{base}{}", request.path.trim_start_matches('/'));
        let send = || {
            let asked = self.client.request(request.method.clone(), &url);
            asked.headers(request.headers.clone()).body(request.body.clone()).send()
        };
        let sent = match send().await {
            // It may have ended a connection that was idle, just then. What is sent twice counts once.
            Err(e) if !e.is_connect() && !e.is_timeout() => send().await,
            sent => sent,
        };
        let response = sent.map_err(|e| Failed::because(reason(&e)))?;
        let status = response.status();
        if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT {
            let wait = retry_after(response.headers()).unwrap_or_default();
            return Err(Failed { why: format!("it responded {status}"), wait });
        }
        Ok(response)
    }

    /// Waits until one can be reached again, from now on.
    pub(super) async fn come_back(&self) {
        // Fails where the sender is gone, which this is.
        let _ = self.back.subscribe().changed().await;
    }

    /// Each upstream, and since when it can't be reached, if so.
    pub(super) fn list(&self) -> impl Iterator<Item = (&Url, Option<Away>)> {
        self.all.iter().map(|upstream| (&upstream.url, upstream.away().clone()))
    }
}

impl Upstream {
    fn away(&self) -> MutexGuard<'_, Option<Away>> {
        self.away.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is its time. Of one that has failed, one request at a time finds out more.
    fn may_be_asked(&self, patience: Duration) -> bool {
        let now = Instant::now();
        let mut away = self.away();
        let Some(away) = away.as_mut() else { return true };
        let may = now >= away.until;
        if may {
            away.until = now + patience;
        }
        may
    }

    /// Whether it didn't before.
    fn answers(&self) -> bool {
        let Some(away) = self.away().take() else { return false };
        let since = away.since;
        tracing::info!("{} can be reached again; it couldn't since {since}", self.url);
        true
    }

    fn fails(&self, Failed { why, wait }: Failed) {
        let mut away = self.away();
        if away.is_none() {
            let hint = "check that provostd runs there and that this machine can reach it; reports are \
                        kept here meanwhile";
            tracing::warn!(hint, "{} can't be reached: {why}", self.url);
        }
        let (since, failures) =
            away.as_ref().map_or((now(), 0), |away| (away.since, away.failures));
        let failures = failures + 1;
        let until = Instant::now() + wait.min(MOST_WAIT).max(BACKOFF.wait(failures));
        *away = Some(Away { since, why, failures, until });
    }
}

async fn read(mut response: reqwest::Response) -> Result<Bytes, Failed> {
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.map_err(|e| Failed::because(reason(&e)))? {
        body.extend_from_slice(&bytes);
        if body.len() > MOST {
            return Err(Failed::because(format!("its answer is longer than {MOST} bytes")));
        }
    }
    Ok(body.into())
}
