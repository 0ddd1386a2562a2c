//! One request to the management node, at the server whose turn it is.

use std::time::{Duration, Instant};

use provost_api::nodes::{BEAT, LOG, RECORDS};
use provost_api::{ErrorBody, LogKind, Route, headers};
use provost_record::Cause;
use reqwest::{RequestBuilder, StatusCode, Url};

use super::server_rotation::ServerRotation;
use crate::failure::Failure;
use crate::settings::{Settings, Token};
use provost_http::{Client, body, no_route, reason, retry_after};

/// How long one request may take.
const REQUEST: Duration = Duration::from_secs(10);
/// The longest wait that a server may ask for.
const MOST_WAIT: Duration = Duration::from_secs(60);
/// The longest answer that is read, in bytes.
const MOST_ANSWER: usize = 16 * 1024;

/// What a server made of a request.
pub(super) enum Response {
    /// It took it; its answer.
    Taken(Vec<u8>),
    /// It understood it and will never take it; why.
    Refused(String),
}

/// The servers of one management node, which are tried in turn.
pub(super) struct Servers {
    client: Client,
    turns: ServerRotation,
    node: String,
    token: Option<Token>,
    /// For how long the server that took the last report asked for no other one.
    pause: Duration,
}

impl Servers {
    pub(super) fn new(settings: &Settings, client: &Client) -> Self {
        Self {
            client: client.clone(),
            turns: ServerRotation::new(&settings.servers),
            node: settings.node.clone(),
            token: settings.token.clone(),
            pause: Duration::ZERO,
        }
    }

    /// For how long the server that took the last report asked for no other one that can wait.
    pub(super) fn pause(&self) -> Duration {
        self.pause
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.turns.count()
    }

    /// Sends a JSON array of records.
    pub(super) async fn send_records(&mut self, json: String) -> Result<Response, ReportError> {
        let request = self.client.private().post(self.url(RECORDS, &[]));
        self.send(request.header("content-type", "application/json").body(json)).await
    }

    /// Sends a beat of `run`.
    pub(super) async fn send_beat(
        &mut self,
        run: &str,
        json: String,
    ) -> Result<Response, ReportError> {
        let request = self.client.private().post(self.url(BEAT, &[run]));
        self.send(request.header("content-type", "application/json").body(json)).await
    }

    /// Uploads the log `name` of `run`, which is packed by gzip.
    pub(super) async fn send_log(
        &mut self,
        run: &str,
        name: &str,
        kind: LogKind,
        packed: Vec<u8>,
    ) -> Result<Response, ReportError> {
        let mut request = self.client.private().put(self.url(LOG, &[run, name]));
        if kind == LogKind::Success {
            // A provostd that doesn't know it stores the log like any other one.
            request = request.header(headers::LOG, headers::SUCCESS);
        }
        self.send(request.header("content-encoding", "gzip").body(packed)).await
    }

    /// The server has acknowledged nothing: the next one has its turn.
    pub(super) fn acknowledged_nothing(&mut self) -> ReportError {
        let message = format!("reporting to {}: it acknowledged nothing", self.server());
        let hint = "check which program listens at that address: it doesn't seem to be provostd";
        self.pass_on(Failure::new(Cause::Fetch, message, hint))
    }

    /// Waits until it is known how to send reports, or nothing is left to wait for.
    pub(super) async fn wait_ready(&self) {
        self.client.transport().wait_ready().await;
    }

    fn server(&self) -> Url {
        self.client.transport().private(self.turns.server())
    }

    fn url(&self, route: Route, of_run: &[&str]) -> String {
        let parameters = [&[&*self.node], of_run].concat();
        format!("{}{}", self.server(), route.path(&parameters))
    }

    fn pass_on(&mut self, failure: Failure) -> ReportError {
        ReportError::Retry(failure, self.turns.pass_on(Duration::ZERO))
    }

    async fn send(&mut self, request: RequestBuilder) -> Result<Response, ReportError> {
        if self.client.transport().is_withheld() {
            let message = format!(
                "reporting to {}: nothing was sent, because what is published has expired, and may be a \
                 replay of before there was TLS",
                self.server()
            );
            let hint = "sign it again: provostctl publish … --refresh";
            return Err(ReportError::Abort(Failure::new(Cause::Verify, message, hint)));
        }
        let mut request = request.timeout(REQUEST);
        if let Some(token) = &self.token {
            request = request.bearer_auth(&token.0);
        }
        let begun = Instant::now();
        let answer = async {
            let response = request.send().await?;
            let wait = retry_after(response.headers()).unwrap_or_default();
            Ok((response.status(), wait, body(response, MOST_ANSWER).await?))
        };
        let (status, wait, answer) = answer.await.map_err(|e: reqwest::Error| {
            let message = format!("reporting to {}: {}", self.server(), reason(&e));
            let hint = no_route::hint(&e, &self.server()).unwrap_or_else(|| {
                "check that provostd runs there and that this node can reach it".to_owned()
            });
            self.pass_on(Failure::new(Cause::Fetch, message, hint))
        })?;
        let took_us = begun.elapsed().as_micros() as u64;
        tracing::debug!(
            status = u64::from(status.as_u16()),
            wait_s = wait.as_secs(),
            took_us,
            "reported"
        );
        if status.is_success() {
            self.pause = wait.min(MOST_WAIT);
            return Ok(Response::Taken(answer));
        }
        let refusal = ErrorBody::parse(&answer);
        let why = match &refusal {
            Some(body) => format!("{status}: {}", body.error),
            None => status.to_string(),
        };
        if matches!(status, StatusCode::UNPROCESSABLE_ENTITY | StatusCode::PAYLOAD_TOO_LARGE) {
            return Ok(Response::Refused(why));
        }
        let message = format!("reporting to {}: it responded {why}", self.server());
        let hint = refusal.map_or_else(|| hint(status).to_owned(), |body| body.hint);
        let failure = Failure::new(Cause::Fetch, message, hint);
        let is_transient = !status.is_client_error() || matches!(status.as_u16(), 408 | 425 | 429);
        // Another server may be the right one for reports: a cache serves files alone.
        let turn = match is_transient {
            true => Some(self.turns.pass_on(wait.min(MOST_WAIT))),
            false => self.turns.refused(),
        };
        Err(match turn {
            Some(wait) => ReportError::Retry(failure, wait),
            None => ReportError::Abort(failure),
        })
    }
}

/// What to do about an error status that comes without a hint.
fn hint(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 | 403 => "let this node join: provostctl join NODE",
        404 | 405 => "check that provostd listens there, not a plain web server",
        _ => "check the daemon's log: journalctl -u provostd",
    }
}

/// Whether to try again. The failure says why.
pub(super) enum ReportError {
    /// It may be taken later, or by another server: no sooner than after this wait.
    Retry(Failure, Duration),
    /// It would fail again.
    Abort(Failure),
}

impl ReportError {
    pub(super) fn failure(&self) -> &Failure {
        match self {
            Self::Retry(failure, _) | Self::Abort(failure) => failure,
        }
    }

    /// How long the management node has asked to wait.
    pub(super) fn wait(&self) -> Duration {
        match self {
            Self::Retry(_, wait) => *wait,
            Self::Abort(_) => Duration::ZERO,
        }
    }

    pub(super) fn into_failure(self) -> Failure {
        match self {
            Self::Retry(failure, _) | Self::Abort(failure) => failure,
        }
    }
}
