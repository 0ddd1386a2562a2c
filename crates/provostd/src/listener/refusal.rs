use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use provost_api::ErrorBody;
use provost_steplog::wording::error_chain;
use provost_store::StoreError;
use tokio::task::JoinError;

/// The answer to a request that is refused: a status, what was wrong, and what to do about it.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) error: String,
    pub(crate) hint: String,
    /// When the client may try again, where that isn't soon.
    pub(crate) retry_after: Option<Duration>,
}

/// Why a request was refused, among the extensions of the answer.
#[derive(Clone)]
pub(crate) struct Refused {
    pub(crate) error: String,
    pub(crate) hint: String,
}

/// After how many seconds a client may try again.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("10");

impl Refusal {
    pub(crate) fn new(
        status: StatusCode,
        error: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { status, error: error.into(), hint: hint.into(), retry_after: None }
    }

    /// The same; the client may try again after this time.
    pub(crate) fn after(self, wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..self }
    }

    /// What an admin can do nothing about.
    pub(crate) fn bug(error: impl ToString) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string(), "report this as a bug")
    }

    /// Nothing is known of the node `name`.
    pub(crate) fn unknown_node(name: &str) -> Self {
        let hint = "list all nodes: provostctl nodes";
        Self::new(StatusCode::NOT_FOUND, format!("unknown node {name:?}"), hint)
    }
}

/// A task has panicked.
impl From<JoinError> for Refusal {
    fn from(error: JoinError) -> Self {
        Self::bug(error)
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        let status = match error.retry_after() {
            Some(_) => StatusCode::TOO_MANY_REQUESTS,
            None => StatusCode::SERVICE_UNAVAILABLE,
        };
        let refusal = Self::new(status, error_chain(&error), error.hint());
        Self { retry_after: error.retry_after(), ..refusal }
    }
}

impl Refusal {
    /// The answer, without a line in the log.
    pub(crate) fn quietly(self) -> Response<Body> {
        let mut headers = HeaderMap::new();
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, RETRY_AFTER);
        }
        if let Some(wait) = self.retry_after {
            headers.insert(header::RETRY_AFTER, wait.as_secs().max(1).into());
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        let refused = Refused { error: self.error.clone(), hint: self.hint.clone() };
        let body = axum::Json(ErrorBody { error: self.error, hint: self.hint });
        (self.status, headers, Extension(refused), body).into_response()
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response<Body> {
        match self.status {
            // Thousands are told when to come again after a power cut, which is no fault.
            status if status.is_server_error() && self.retry_after.is_none() => {
                tracing::error!(hint = self.hint, "{}", self.error);
            }
            // Only clients that have a token can cause these, so strangers can't fill the log.
            StatusCode::FORBIDDEN
            | StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::UNPROCESSABLE_ENTITY => {
                tracing::warn!(hint = self.hint, "{}", self.error);
            }
            _ => {}
        }
        self.quietly()
    }
}

/// Gives the JSON body to errors that the framework or the file server has answered.
pub(crate) async fn in_json(response: Response<Body>) -> Response<Body> {
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    // A page says what is wrong by itself.
    let is_whole =
        |kind: &[u8]| kind.starts_with(b"application/json") || kind.starts_with(b"text/html");
    if kind.is_some_and(is_whole) || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let error = status.canonical_reason().unwrap_or("the request was refused").to_lowercase();
    let hint = match status {
        StatusCode::NOT_FOUND => "check the path",
        StatusCode::METHOD_NOT_ALLOWED => "use a method of the Allow header",
        StatusCode::RANGE_NOT_SATISFIABLE => "ask for a range within the file",
        _ => "check that the request is well-formed",
    };
    let mut answer = Refusal::new(status, error, hint).into_response();
    for name in [header::ALLOW, header::CONTENT_RANGE] {
        if let Some(value) = response.headers().get(&name) {
            answer.headers_mut().insert(name, value.clone());
        }
    }
    answer
}
