use std::num::NonZeroU32;
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue};
use provost_api::{Directive, Service, headers};
use provost_record::Record;
use provost_steplog::wording;
use provost_store::{Standing, Store, StoreError};

/// The longest text about the last failure in a reason, in characters: it is for one line.
const MOST_WORDS: usize = 200;

/// How many attempts of a node may fail, and the store that counts them.
#[derive(Clone)]
pub(crate) struct AttemptGuard {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) budget: NonZeroU32,
}

/// Why a node is held by its attempts, if it is; `budget` is how many may fail.
fn held(standing: &Standing, budget: NonZeroU32) -> Option<String> {
    let attempts = standing.attempts;
    if attempts < budget.get() {
        return None;
    }
    let mut reason =
        format!("{} failed (max_attempts = {budget})", wording::count(attempts, "attempt"));
    if let Some(last) = &standing.last_failure {
        reason.push_str("; the last: ");
        reason.extend(last.chars().take(MOST_WORDS).flat_map(ascii));
    }
    Some(reason)
}

/// What a header may have in place of `c`, which a script may have printed.
fn ascii(c: char) -> impl Iterator<Item = char> {
    let is_printable = c == ' ' || c.is_ascii_graphic();
    let escaped = (!is_printable).then(|| c.escape_default());
    is_printable.then_some(c).into_iter().chain(escaped.into_iter().flatten())
}

impl AttemptGuard {
    /// Why the run that has sent `last` is held, if it is. Reruns never are.
    pub(crate) fn after(&self, last: &Record, standing: &Standing) -> Option<String> {
        let is_rerun = last.service == Service::Run.as_str();
        held(standing, self.budget).filter(|_| !is_rerun)
    }

    /// How the attempts of `node` stand, without that of the run that asks for its plan by these headers.
    pub(crate) async fn standing(
        &self,
        node: &str,
        sent: &HeaderMap,
    ) -> Result<Standing, StoreError> {
        let current = sent.get(headers::RUN).and_then(|run| run.to_str().ok());
        self.store.standing(node, current).await
    }

    /// Adds the directive to the headers of a plan.
    pub(crate) fn add_directive(&self, to: &mut HeaderMap, standing: &Standing) {
        let held = held(standing, self.budget);
        let directive = if held.is_some() { Directive::Hold } else { Directive::Proceed };
        // Printable ASCII is always valid in a header.
        let value = |text: &str| HeaderValue::from_str(text).ok();
        let released = standing.released.filter(|_| held.is_none()).map(|at| at.to_string());
        for (name, text) in [
            (headers::DIRECTIVE, Some(directive.to_string())),
            (headers::REASON, held),
            (headers::RELEASED, released),
        ] {
            if let Some(value) = text.and_then(|text| value(&text)) {
                to.insert(name, value);
            }
        }
    }
}
