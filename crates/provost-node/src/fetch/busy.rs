//! Which servers have said when to come, as long as it isn't time.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use reqwest::Url;
use tokio::time::Instant;

/// Servers, and until when each of them is busy.
#[derive(Default)]
pub(super) struct Busy(RefCell<HashMap<Url, Instant>>);

impl Busy {
    /// The server at `base` asked to be left alone for the time `wait`.
    pub(super) fn note(&self, base: &Url, wait: Duration) {
        let until = Instant::now().checked_add(wait);
        self.0.borrow_mut().extend(until.map(|until| (base.clone(), until)));
    }

    /// Whether a server has asked for that.
    pub(super) fn is_any(&self) -> bool {
        !self.0.borrow().is_empty()
    }

    /// Whether the server at `base` wants to be left alone now.
    pub(super) fn is_busy(&self, base: &Url) -> bool {
        self.0.borrow().get(base).is_some_and(|until| Instant::now() < *until)
    }
}
