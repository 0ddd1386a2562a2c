//! How a request of the admin API is read, and refused.

use std::error::Error;

use axum::body::{Body, to_bytes};
use axum::http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use provost_plan::nodes;
use serde::de::{DeserializeOwned, Error as _};

use crate::listener::refusal::Refusal;

/// The longest request, in bytes: a hundred thousand names.
pub(crate) const MAX_REQUEST: usize = 4 * 1024 * 1024;

/// How many names a message has.
const MAX_FOLDED: usize = 512;

/// Reads the body of a request, which the audit log has in memory; `example` is one.
pub(crate) async fn read_json<T: DeserializeOwned>(
    body: Body,
    example: &str,
) -> Result<T, Refusal> {
    let wrong = |e: &dyn Error| invalid(format!("the body: {e}"), format!("send {example}"));
    let bytes = to_bytes(body, MAX_REQUEST).await.map_err(|e| wrong(&e))?;
    // Else an array would do, with the values of the keys in their order.
    if bytes.trim_ascii_start().starts_with(b"[") {
        return Err(wrong(&serde_json::Error::custom("an array, not an object")));
    }
    serde_json::from_slice(&bytes).map_err(|e| wrong(&e))
}

pub(crate) fn expand(text: &str) -> Result<Vec<String>, Refusal> {
    // Blanks around names are no mistake, but nobody means other characters that aren't seen.
    if let Some(char) = text.chars().find(|c| c.is_control() || !c.is_ascii()) {
        let error = format!("{char:?} is in no node's name, in {text:?}");
        return Err(invalid(error, "write names and ranges such as cn001, cn[001-512,600]"));
    }
    nodes::expand(text).map_err(|e| invalid(e.to_string(), e.hint()))
}

pub(crate) fn invalid(error: String, hint: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, error, hint)
}

pub(crate) fn absent(error: String, hint: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, error, hint)
}

/// The time `ms` milliseconds after `at`, at most the last one that a store can keep, in the year 9999.
pub(crate) fn after(at: Timestamp, ms: u64) -> Timestamp {
    let last = Timestamp::from_second(Timestamp::MAX.as_second()).unwrap_or(at);
    let time = SignedDuration::from_millis(i64::try_from(ms).unwrap_or(i64::MAX));
    at.saturating_add(time).unwrap_or(last).min(last)
}

/// Names as one text; of many only the first are named.
pub(crate) fn short(names: &[String]) -> String {
    match names.len().checked_sub(MAX_FOLDED) {
        None | Some(0) => nodes::fold(names),
        Some(more) => format!("{} and {more} more", nodes::fold(&names[..MAX_FOLDED])),
    }
}
