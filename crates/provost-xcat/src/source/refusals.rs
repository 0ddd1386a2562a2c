//! For how long an xcatd may refuse connections.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use reqwest::Url;
use tokio::time::Instant;

use provost_node::failure::Failure;
use provost_node::fetch::FetchError;

/// Longer than a restart takes. The web server on the same host has answered all this time, so the host
/// itself is up.
pub(super) const LIMIT: Duration = Duration::from_secs(60);

/// Since when the xcatd of which server refuses connections.
#[derive(Default)]
pub(crate) struct Refusals(RefCell<HashMap<Url, Instant>>);

impl Refusals {
    /// Whether another refusal by `server` is worth another try.
    pub(super) fn miss(&self, server: &Url, failure: Failure) -> FetchError {
        let now = Instant::now();
        let since = *self.0.borrow_mut().entry(server.clone()).or_insert(now);
        if now - since < LIMIT { FetchError::silent(failure) } else { FetchError::give_up(failure) }
    }

    /// Notes that `server` no longer refuses.
    pub(super) fn end(&self, server: &Url) {
        self.0.borrow_mut().remove(server);
    }

    /// Whether any refuses now.
    pub(super) fn is_any(&self) -> bool {
        !self.0.borrow().is_empty()
    }
}
