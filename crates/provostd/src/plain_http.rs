//! The nodes whose tokens came by plain HTTP last, where anybody on the network can read them.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use provost_store::Node;

use crate::connections::Connection;

/// In memory: only those who have a valid token are here, and each says it again with its next report.
#[derive(Default)]
pub(crate) struct PlainHttp(Mutex<HashSet<String>>);

impl PlainHttp {
    /// The node has sent its token by this connection.
    pub(crate) fn note(&self, node: &str, by: &Connection) {
        let mut nodes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if by.is_private() {
            nodes.remove(node);
        } else if !nodes.contains(node) {
            nodes.insert(node.to_owned());
        }
    }

    /// Marks those of `nodes`.
    pub(crate) fn show(&self, nodes: &mut [Node]) {
        let plain = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        nodes.iter_mut().for_each(|node| node.plain_http = plain.contains(&node.name));
    }
}
