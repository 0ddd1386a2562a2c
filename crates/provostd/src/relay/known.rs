//! The nodes that an upstream has known by their tokens: these may report while none can be reached.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::http::{HeaderMap, header};
use provost_record::wording::error_chain;
use sha2::{Digest, Sha256};

use super::spool::{KnownNode, Spool};

/// What a node is told if nothing else is known.
pub(super) const PROCEED: &str = r#"{"directive":"proceed"}"#;

/// The value of `Authorization`.
pub(super) fn token(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()
}

#[derive(Default)]
pub(super) struct Known(Mutex<HashMap<String, Entry>>);

struct Entry {
    node: KnownNode,
    /// An upstream has refused the token since.
    is_refused: bool,
}

impl Known {
    pub(super) fn of(nodes: Vec<(String, KnownNode)>) -> Self {
        let entry = |(name, node)| (name, Entry { node, is_refused: false });
        Self(Mutex::new(nodes.into_iter().map(entry).collect()))
    }

    fn nodes(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The directive of `node`, if this is its token.
    pub(super) fn directive(&self, node: &str, token: &str) -> Option<String> {
        let nodes = self.nodes();
        let entry = nodes.get(node).filter(|entry| !entry.is_refused)?;
        // Digests, so that the time of a comparison says nothing of the token.
        let is_same = Sha256::digest(&entry.node.token) == Sha256::digest(token);
        is_same.then(|| entry.node.directive.clone())
    }

    /// The token of `node` that was known last.
    pub(super) fn token(&self, node: &str) -> Option<String> {
        self.nodes().get(node).map(|entry| entry.node.token.clone())
    }

    /// An upstream has accepted the token, and said what the node has to do, if it said so. A node that
    /// the disk can't remember isn't known.
    pub(super) async fn accept(
        &self,
        spool: &Spool,
        node: &str,
        token: &str,
        directive: Option<String>,
    ) {
        let known = {
            let mut nodes = self.nodes();
            let before = nodes.get(node);
            let last = before.filter(|entry| entry.node.token == token);
            let last = last.map_or(PROCEED, |entry| &entry.node.directive);
            let directive = directive.unwrap_or_else(|| last.to_owned());
            let known = KnownNode { token: token.to_owned(), directive };
            let is_new = before.is_none_or(|entry| {
                entry.node.token != known.token || entry.node.directive != known.directive
            });
            nodes.insert(node.to_owned(), Entry { node: known.clone(), is_refused: false });
            is_new.then_some(known)
        };
        if let Some(known) = known
            && let Err(error) = spool.remember(node, known).await
        {
            tracing::error!(hint = error.hint(), "remembering {node}: {}", error_chain(&error));
            self.nodes().remove(node);
        }
    }

    /// What is kept of the node is out of date: without an upstream nothing is done for it.
    pub(super) fn doubt(&self, node: &str) {
        if let Some(entry) = self.nodes().get_mut(node) {
            entry.is_refused = true;
        }
    }

    /// An upstream has refused the token. It stays the one by which is sent what is spooled, until
    /// another one is known.
    pub(super) fn refuse(&self, node: &str, token: &str) {
        if let Some(entry) = self.nodes().get_mut(node)
            && entry.node.token == token
            && !std::mem::replace(&mut entry.is_refused, true)
        {
            let hint = "give the node its new token: what it has reported goes with that";
            tracing::warn!(hint, "the management node doesn't know the token of {node} any more");
        }
    }
}
