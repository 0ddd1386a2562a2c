use std::num::NonZeroU32;
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use provost_record::Record;
use provost_steplog::wording;
use provost_store::{Standing, Store, StoreError};
use serde::Serialize;

/// On a request for a plan: the run that asks, which doesn't count as an attempt yet.
const RUN: HeaderName = HeaderName::from_static("provost-run");
/// On a plan: what the node has to do.
const DIRECTIVE: HeaderName = HeaderName::from_static("provost-directive");
/// Why the node is held: one line of ASCII.
const REASON: HeaderName = HeaderName::from_static("provost-reason");
/// When an admin released the node, RFC 3339: it forgets attempts that began before.
const RELEASED: HeaderName = HeaderName::from_static("provost-released");

/// The longest text about the last failure in a reason, in characters: it is for one line.
const MOST_WORDS: usize = 200;

/// How many attempts of a node may fail, and the store that counts them.
#[derive(Clone)]
pub(crate) struct AttemptGuard {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) budget: NonZeroU32,
}

/// What a node has to do.
#[derive(Debug, Serialize)]
#[serde(tag = "directive", rename_all = "lowercase")]
pub(crate) enum Directive {
    /// Run.
    Proceed,
    /// Run nothing until an admin releases the node.
    Hold {
        /// One line of ASCII.
        reason: String,
    },
}

impl Directive {
    /// Decides by a node's attempts; `budget` is how many may fail.
    pub(crate) fn of(standing: &Standing, budget: NonZeroU32) -> Self {
        let attempts = standing.attempts;
        if attempts < budget.get() {
            return Self::Proceed;
        }
        let mut reason =
            format!("{} failed (max_attempts = {budget})", wording::count(attempts, "attempt"));
        if let Some(last) = &standing.last_failure {
            reason.push_str("; the last: ");
            reason.extend(last.chars().take(MOST_WORDS).flat_map(ascii));
        }
        Self::Hold { reason }
    }

    /// Decides for the run that has sent `last`. Reruns are never held.
    pub(crate) fn after(last: &Record, standing: &Standing, budget: NonZeroU32) -> Self {
        match last.service.as_str() {
            "run" => Self::Proceed,
            _ => Self::of(standing, budget),
        }
    }
}

/// What a header may have in place of `c`, which a script may have printed.
fn ascii(c: char) -> impl Iterator<Item = char> {
    let is_printable = c == ' ' || c.is_ascii_graphic();
    let escaped = (!is_printable).then(|| c.escape_default());
    is_printable.then_some(c).into_iter().chain(escaped.into_iter().flatten())
}

impl AttemptGuard {
    /// How the attempts of `node` stand, without that of the run that asks for its plan by these headers.
    pub(crate) async fn standing(
        &self,
        node: &str,
        headers: &HeaderMap,
    ) -> Result<Standing, StoreError> {
        let current = headers.get(RUN).and_then(|run| run.to_str().ok());
        self.store.standing(node, current).await
    }

    /// Adds the directive to the headers of a plan.
    pub(crate) fn add_directive(&self, headers: &mut HeaderMap, standing: &Standing) {
        match Directive::of(standing, self.budget) {
            Directive::Hold { reason } => {
                headers.insert(DIRECTIVE, HeaderValue::from_static("hold"));
                // Printable ASCII is always valid in a header.
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
}
