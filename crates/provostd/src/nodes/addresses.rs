//! From where each node reported last, since this daemon began.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

/// The addresses, by node. Only nodes that have proved who they are have one.
#[derive(Default)]
pub(crate) struct Addresses(Mutex<HashMap<String, IpAddr>>);

impl Addresses {
    /// A node has sent a request.
    pub(crate) fn note(&self, node: &str, address: IpAddr) {
        let mut addresses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match addresses.get_mut(node) {
            Some(known) => *known = address,
            None => drop(addresses.insert(node.to_owned(), address)),
        }
    }

    /// The last one of a node.
    pub(crate) fn of(&self, node: &str) -> Option<IpAddr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(node).copied()
    }
}
