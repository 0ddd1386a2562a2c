use std::num::NonZeroU32;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use provost_record::Record;
use provost_store::Standing;
use serde::Serialize;

/// With a request for a plan: the run that asks, which is no attempt in vain yet.
const RUN: HeaderName = HeaderName::from_static("provost-run");
/// With a plan: what the node is to do.
const DIRECTIVE: HeaderName = HeaderName::from_static("provost-directive");
/// Why the node is to hold: one line of ASCII.
const REASON: HeaderName = HeaderName::from_static("provost-reason");
/// When an admin released the node, RFC 3339: it forgets attempts that began before.
const RELEASED: HeaderName = HeaderName::from_static("provost-released");

/// What a node is to do.
#[derive(Debug, Serialize)]
#[serde(tag = "directive", rename_all = "lowercase")]
pub(crate) enum Directive {
    /// Go on.
    Proceed,
    /// Run nothing until an admin has released the node.
    Hold {
        /// One line of ASCII.
        reason: String,
    },
}

impl Directive {
    /// Judges a node by its attempts; `budget` is how many may be in vain.
    pub(crate) fn of(standing: Standing, budget: NonZeroU32) -> Self {
        let attempts = standing.attempts;
        if attempts < budget.get() {
            return Self::Proceed;
        }
        let tries = if attempts == 1 { "attempt has" } else { "attempts have" };
        let reason = format!(
            "{attempts} {tries} not ended well since the last that did; max_attempts in \
             provostd.toml is {budget}"
        );
        Self::Hold { reason }
    }

    /// Judges the run that has sent `last`. Reruns by hand are never held.
    pub(crate) fn after(last: &Record, standing: Standing, budget: NonZeroU32) -> Self {
        match last.service.as_str() {
            "run" => Self::Proceed,
            _ => Self::of(standing, budget),
        }
    }
}

/// The run that asks for its plan.
pub(crate) fn present(headers: &HeaderMap) -> Option<&str> {
    headers.get(RUN)?.to_str().ok()
}

/// Says with a plan how the node stands.
pub(crate) fn tell(headers: &mut HeaderMap, standing: Standing, budget: NonZeroU32) {
    match Directive::of(standing, budget) {
        Directive::Hold { reason } => {
            headers.insert(DIRECTIVE, HeaderValue::from_static("hold"));
            // Digits and our own words: always a header's value.
            if let Ok(reason) = HeaderValue::try_from(reason) {
                headers.insert(REASON, reason);
            }
        }
        Directive::Proceed => {
            headers.insert(DIRECTIVE, HeaderValue::from_static("proceed"));
            let at = standing.released.map(|at| HeaderValue::try_from(at.to_string()));
            if let Some(Ok(at)) = at {
                headers.insert(RELEASED, at);
            }
        }
    }
}
