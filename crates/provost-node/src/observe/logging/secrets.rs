//! What no message may show.

use std::sync::{PoisonError, RwLock};

use provost_exec::Secrets;

/// One for all layers. None until the first settings are read.
static SECRETS: RwLock<Option<Secrets>> = RwLock::new(None);

/// Hides `secrets`, and none of those before, in all messages from now on.
pub fn hide(secrets: Secrets) {
    *SECRETS.write().unwrap_or_else(PoisonError::into_inner) = Some(secrets);
}

/// `text` without what is hidden.
pub(super) fn hidden(text: String) -> String {
    match &*SECRETS.read().unwrap_or_else(PoisonError::into_inner) {
        Some(secrets) => secrets.hide(&text).into_owned(),
        None => text,
    }
}
