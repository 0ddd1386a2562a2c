//! For how long an xcatd may refuse connections.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use reqwest::Url;
use tokio::time::Instant;

use super::super::retry::Miss;
use crate::failure::Failure;

/// Longer than a restart takes. The web server of its host has answered all the while, so that the
/// host itself is up.
pub(super) const BORNE: Duration = Duration::from_secs(60);

/// Since when the xcatd of which server refuses connections.
#[derive(Default)]
pub(crate) struct Refusals(RefCell<HashMap<Url, Instant>>);

impl Refusals {
    /// What another refusal is to `server`'s turns.
    pub(super) fn miss(&self, server: &Url, failure: Failure) -> Miss {
        let now = Instant::now();
        let since = *self.0.borrow_mut().entry(server.clone()).or_insert(now);
        if now - since < BORNE { Miss::silent(failure) } else { Miss::last(failure) }
    }

    /// Notes that `server`'s doesn't refuse any more.
    pub(super) fn end(&self, server: &Url) {
        self.0.borrow_mut().remove(server);
    }

    /// Whether one does.
    pub(super) fn is_any(&self) -> bool {
        !self.0.borrow().is_empty()
    }
}
