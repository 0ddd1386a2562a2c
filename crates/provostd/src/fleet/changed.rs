//! Which nodes have changed since they were last read.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The nodes that have changed.
#[derive(Default)]
pub(crate) struct Changed {
    since: Mutex<Since>,
    news: Notify,
}

#[derive(Default)]
enum Since {
    /// Nobody wants to know.
    #[default]
    Ignored,
    /// These.
    Named(BTreeSet<String>),
    /// Nobody knows which.
    Any,
}

impl Changed {
    fn since(&self) -> MutexGuard<'_, Since> {
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A node has changed.
    pub(crate) fn note(&self, name: &str) {
        if let Since::Named(names) = &mut *self.since()
            && !names.contains(name)
        {
            names.insert(name.to_owned());
            self.news.notify_one();
        }
    }

    /// Nodes have changed, nobody knows which.
    pub(crate) fn note_any(&self) {
        let mut since = self.since();
        if let Since::Named(_) = &*since {
            *since = Since::Any;
            self.news.notify_one();
        }
    }

    /// Those that have changed since the last call; none if nobody knows which. From now on they are noted.
    pub(crate) fn take(&self) -> Option<BTreeSet<String>> {
        match std::mem::replace(&mut *self.since(), Since::Named(BTreeSet::new())) {
            Since::Named(names) => Some(names),
            Since::Any | Since::Ignored => None,
        }
    }

    /// Nothing is noted any more.
    pub(crate) fn ignore(&self) {
        *self.since() = Since::Ignored;
    }

    /// Waits until something is noted.
    pub(crate) async fn comes(&self) {
        self.news.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_is_noted_from_the_first_look_on_until_it_is_ignored() {
        let changed = Changed::default();
        changed.note("a");
        assert_eq!(changed.take(), None, "it wasn't noted");
        changed.note("b");
        changed.note("b");
        changed.note("c");
        assert_eq!(changed.take(), Some(["b", "c"].map(str::to_owned).into()));
        changed.note_any();
        changed.note("d");
        assert_eq!(changed.take(), None);
        assert_eq!(changed.take(), Some(BTreeSet::new()));
        changed.ignore();
        assert_eq!(changed.take(), None);
    }
}
