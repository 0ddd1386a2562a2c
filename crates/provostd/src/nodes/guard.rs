use std::num::NonZeroU32;
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue};
use provost_api::nodes::Directive;
use provost_api::{Service, headers};
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

/// Decides by a node's attempts; `budget` is how many may fail.
fn directive(standing: &Standing, budget: NonZeroU32) -> Directive {
    let attempts = standing.attempts;
    if attempts < budget.get() {
        return Directive::Proceed;
    }
    let mut reason =
        format!("{} failed (max_attempts = {budget})", wording::count(attempts, "attempt"));
    if let Some(last) = &standing.last_failure {
        reason.push_str("; the last: ");
        reason.extend(last.chars().take(MOST_WORDS).flat_map(ascii));
    }
    Directive::Hold { reason }
}

/// What a header may have in place of `c`, which a script may have printed.
fn ascii(c: char) -> impl Iterator<Item = char> {
    let is_printable = c == ' ' || c.is_ascii_graphic();
    let escaped = (!is_printable).then(|| c.escape_default());
    is_printable.then_some(c).into_iter().chain(escaped.into_iter().flatten())
}

impl AttemptGuard {
    /// Decides for the run that has sent `last`. Reruns are never held.
    pub(crate) fn after(&self, last: &Record, standing: &Standing) -> Directive {
        match Service::from(&*last.service) {
            Service::Run => Directive::Proceed,
            _ => directive(standing, self.budget),
        }
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
        match directive(standing, self.budget) {
            Directive::Hold { reason } => {
                to.insert(headers::DIRECTIVE, HeaderValue::from_static(headers::HOLD));
                // Printable ASCII is always valid in a header.
                if let Ok(reason) = HeaderValue::try_from(reason) {
                    to.insert(headers::REASON, reason);
                }
            }
            Directive::Proceed => {
                to.insert(headers::DIRECTIVE, HeaderValue::from_static(headers::PROCEED));
                let at = standing.released.map(|at| HeaderValue::try_from(at.to_string()));
                if let Some(Ok(at)) = at {
                    to.insert(headers::RELEASED, at);
                }
            }
        }
    }
}
