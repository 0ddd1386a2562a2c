//! What the handlers of a relay share.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use axum::http::StatusCode;
use tokio::sync::Semaphore;

use super::files::Cache;
use super::known::Known;
use super::metrics::Metrics;
use super::queues::Queues;
use super::spool::Spool;
use super::upstream::Upstreams;
use crate::bodies::Bodies;
use crate::refusal::Refusal;

/// When a node may come again that only an upstream can answer: one is asked again within 5 s.
const AGAIN: Duration = Duration::from_secs(3);

/// What the handlers share.
pub(super) struct Relay {
    pub(super) data: PathBuf,
    pub(super) upstreams: Upstreams,
    pub(super) cache: Cache,
    pub(super) spool: Spool,
    pub(super) known: Known,
    pub(super) queues: Queues,
    pub(super) forwarding: Semaphore,
    pub(super) bodies: Bodies,
    pub(super) metrics: Metrics,
    /// How many attempts of a node may fail while no upstream can be reached.
    pub(super) budget: NonZeroU32,
}

/// The answer where no upstream can be reached, and this relay can't take their place.
pub(super) fn away() -> Refusal {
    let error = "the management node behind this relay can't be reached";
    let hint = "check that provostd runs there and that this relay can reach it: journalctl -u provost-relay";
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error, hint).after(AGAIN)
}

/// `text` as one segment of a URL's path.
pub(super) fn escaped(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    let escape = |byte: u8| match plain(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}
