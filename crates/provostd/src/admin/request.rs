//! How a request of the admin API is read, and refused.

use axum::body::Body;
use axum::http::StatusCode;
use provost_plan::nodes;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::listener::refusal::Refusal;

/// The longest request, in bytes: a hundred thousand names.
pub(crate) const MAX_REQUEST: usize = 4 * 1024 * 1024;

/// How many names a message has.
const MAX_FOLDED: usize = 512;

/// Reads the body of a request; `example` is one.
pub(crate) async fn read_json<T: DeserializeOwned>(
    app: &App,
    body: Body,
    example: &str,
) -> Result<T, Refusal> {
    let body = app.bodies.read(body, MAX_REQUEST).await?;
    serde_json::from_slice(&body.bytes)
        .map_err(|e| invalid(format!("the body: {e}"), format!("send {example}")))
}

pub(crate) fn expand(text: &str) -> Result<Vec<String>, Refusal> {
    nodes::expand(text).map_err(|e| invalid(e.to_string(), e.hint()))
}

pub(crate) fn invalid(error: String, hint: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, error, hint)
}

pub(crate) fn absent(error: String, hint: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, error, hint)
}

/// Names as one text; of many only the first are named.
pub(crate) fn short(names: &[String]) -> String {
    match names.len().checked_sub(MAX_FOLDED) {
        None | Some(0) => nodes::fold(names),
        Some(more) => format!("{} and {more} more", nodes::fold(&names[..MAX_FOLDED])),
    }
}
