//! The pages that are open in a browser, each with its content.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// The content of a page; none until it is made.
pub(crate) type Content = Option<Arc<str>>;

/// The pages, by their addresses.
#[derive(Default)]
pub(crate) struct OpenPages(Mutex<HashMap<String, watch::Sender<Content>>>);

impl OpenPages {
    fn pages(&self) -> MutexGuard<'_, HashMap<String, watch::Sender<Content>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the page at `path`. Where nobody had it open, there is a sender, too: somebody has to
    /// make its content, until [`is_closed`](Self::is_closed).
    pub(crate) fn open(
        &self,
        path: &str,
    ) -> (watch::Receiver<Content>, Option<watch::Sender<Content>>) {
        let mut pages = self.pages();
        if let Some(sender) = pages.get(path) {
            let mut receiver = sender.subscribe();
            receiver.mark_changed();
            return (receiver, None);
        }
        let (sender, receiver) = watch::channel(None);
        pages.insert(path.to_owned(), sender.clone());
        (receiver, Some(sender))
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.pages().len()).unwrap_or(u32::MAX)
    }

    /// Whether nobody has the page open any more; then it is forgotten.
    pub(crate) fn is_closed(&self, path: &str) -> bool {
        let mut pages = self.pages();
        let is_closed = pages.get(path).is_none_or(watch::Sender::is_closed);
        if is_closed {
            pages.remove(path);
        }
        is_closed
    }
}
