//! For how long an xcatd may refuse connections.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use reqwest::Url;
use tokio::time::Instant;

use crate::failure::Failure;
use crate::fetch::FetchError;

/// Longer than a restart takes. The web server of its host has answered all the while, so that the
/// host itself is up.
pub(crate) const BORNE: Duration = Duration::from_secs(60);

/// Since when the xcatd of which server refuses connections.
#[derive(Default)]
pub struct Refusals(RefCell<HashMap<Url, Instant>>);

impl Refusals {
    /// What another refusal is to `server`'s turns.
    pub(crate) fn miss(&self, server: &Url, failure: Failure) -> FetchError {
        let now = Instant::now();
        let since = *self.0.borrow_mut().entry(server.clone()).or_insert(now);
        if now - since < BORNE { FetchError::silent(failure) } else { FetchError::give_up(failure) }
    }

    /// Notes that `server`'s doesn't refuse any more.
    pub(crate) fn end(&self, server: &Url) {
        self.0.borrow_mut().remove(server);
    }

    /// Whether one does.
    pub(crate) fn is_any(&self) -> bool {
        !self.0.borrow().is_empty()
    }
}
