use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use crate::Identity;

/// Whose token or key it is, of those that were asked for: each request has one, and most are known.
#[derive(Default)]
pub(super) struct Owners {
    /// The owner of a token, by its digest, and until when it counts, if it is to end.
    pub(super) tokens: Memory<(String, Option<Timestamp>)>,
    /// What a key is, by its digest.
    pub(super) keys: Memory<Identity>,
}

impl Owners {
    /// Forgets all: tokens or identities have changed.
    pub(super) fn forget(&self) {
        self.tokens.forget();
        self.keys.forget();
    }
}

/// What was read by a digest.
pub(super) struct Memory<T>(Mutex<Known<T>>);

struct Known<T> {
    values: HashMap<[u8; 32], T>,
    /// How often all were forgotten.
    changes: u64,
}

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self(Mutex::new(Known { values: HashMap::new(), changes: 0 }))
    }
}

impl<T: Clone> Memory<T> {
    /// What was read; else how things stand before it is read from the file.
    pub(super) fn get(&self, sha256: &[u8; 32]) -> Result<T, u64> {
        let known = self.known();
        known.values.get(sha256).cloned().ok_or(known.changes)
    }

    /// Keeps what was read, unless something has changed since.
    pub(super) fn keep(&self, sha256: [u8; 32], value: T, read_at: u64) {
        let mut known = self.known();
        if known.changes == read_at {
            known.values.insert(sha256, value);
        }
    }
}

impl<T> Memory<T> {
    fn forget(&self) {
        let mut known = self.known();
        known.values.clear();
        known.changes += 1;
    }

    fn known(&self) -> MutexGuard<'_, Known<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
