//! What is spooled of each node, in memory: how much, and whether it is being forwarded.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

/// The most that is spooled of one node, in bytes: what provostd takes of a node within an hour.
const MOST: u64 = 64 * 1024 * 1024;

/// One node's.
#[derive(Default)]
pub(super) struct Queue {
    /// Who holds it sends this node's reports, and nobody else does meanwhile.
    pub(super) order: tokio::sync::Mutex<()>,
    bytes: AtomicU64,
    is_worked_on: AtomicBool,
    urgent: Notify,
}

#[derive(Default)]
pub(super) struct Queues(Mutex<HashMap<String, Arc<Queue>>>);

impl Queues {
    /// The queue of `node`.
    pub(super) fn of(&self, node: &str) -> Arc<Queue> {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that nobody has and that are empty are made anew when they are needed.
        if queues.len() % 1024 == 1023 {
            queues.retain(|_, queue| Arc::strong_count(queue) > 1 || queue.has_any());
        }
        Arc::clone(queues.entry(node.to_owned()).or_default())
    }
}

impl Queue {
    /// Makes room for a report that is about to be spooled, if there is some.
    pub(super) fn reserve(&self, bytes: u64) -> bool {
        let more = |now: u64| Some(now + bytes).filter(|sum| *sum <= MOST);
        self.bytes.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).is_ok()
    }

    fn has_any(&self) -> bool {
        self.bytes.load(Ordering::SeqCst) > 0
    }

    /// A report is spooled. Returns whether nobody forwards yet: the caller has to see to it.
    pub(super) fn begins(&self) -> bool {
        !self.is_worked_on.swap(true, Ordering::SeqCst)
    }

    /// So many bytes were forwarded, or not spooled after all.
    pub(super) fn left(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::SeqCst);
    }

    /// Whether nothing is left to forward: then nobody does, until more comes.
    pub(super) fn is_over(&self) -> bool {
        self.is_worked_on.store(false, Ordering::SeqCst);
        // More may have come before that.
        !self.has_any() || self.is_worked_on.swap(true, Ordering::SeqCst)
    }

    /// What is there doesn't wait for more.
    pub(super) fn hurry(&self) {
        self.urgent.notify_one();
    }

    pub(super) async fn hurried(&self) {
        self.urgent.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_forwards_and_what_comes_at_its_end_is_not_left() {
        let queue = Queue::default();
        assert!(queue.reserve(20) && queue.begins() && !queue.begins());
        assert!(!queue.is_over(), "something is left");
        queue.left(20);
        assert!(queue.is_over());
        assert!(queue.begins(), "the next one forwards");
        assert!(queue.reserve(MOST) && !queue.reserve(1));
    }
}
