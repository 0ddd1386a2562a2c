//! Nodes that nobody has let in yet, told to those who want to know.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use provost_store::{Detail, Node, Notice, NoticeKind};
use tokio::sync::mpsc;

/// How many keys that wait for an admin are remembered as told.
const MOST_KEYS: usize = 10_000;

/// Where it is told that a node is pending.
pub(crate) struct PendingNodes {
    sender: Option<mpsc::Sender<Notice>>,
    /// The nodes whose keys wait for an admin, as they were told: they ask again and again.
    keys: Mutex<HashSet<(String, String)>>,
}

impl PendingNodes {
    /// Without a sender, nobody wants to know.
    pub(crate) fn new(sender: Option<mpsc::Sender<Notice>>) -> Self {
        Self { sender, keys: Mutex::default() }
    }

    /// Tells of a node whose key waits for an admin, once.
    pub(crate) fn tell_key(&self, node: &str, key: &str) {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if keys.len() >= MOST_KEYS {
            keys.clear();
        }
        if keys.insert((node.to_owned(), key.to_owned())) {
            let hint = format!("if it is that node's: provostctl approve {node}");
            self.send(node, format!("its key {key} waits for an admin"), hint);
        }
    }

    /// Tells of a node and what to do about it, unless too many wait to be told.
    pub(crate) fn tell(&self, node: &str, why: String, hint: &str) {
        self.send(node, why, format!("if it is a node of yours: {hint}"));
    }

    fn send(&self, node: &str, why: String, hint: String) {
        let Some(sender) = &self.sender else { return };
        let detail = Detail { error_message: Some(why), hint: Some(hint), ..Detail::default() };
        let node = Node { name: node.to_owned(), detail, ..Node::default() };
        let _ = sender.try_send(Notice::of(NoticeKind::Pending, node, Timestamp::now()));
    }
}
