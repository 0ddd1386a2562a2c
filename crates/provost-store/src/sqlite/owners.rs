use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

/// Whose token it is, of those that were asked for: each request has one, and most are known.
#[derive(Default)]
pub(super) struct Owners(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// Each with the time until which the token counts, if it is to end.
    owners: HashMap<[u8; 32], (String, Option<Timestamp>)>,
    /// How often all were forgotten.
    changes: u64,
}

impl Owners {
    /// The owner of the token with this digest at the time `at`; else how things stand before it is
    /// read from the file.
    pub(super) fn get(&self, sha256: &[u8; 32], at: Timestamp) -> Result<String, u64> {
        let known = self.known();
        match known.owners.get(sha256) {
            Some((owner, until)) if until.is_none_or(|until| at < until) => Ok(owner.clone()),
            _ => Err(known.changes),
        }
    }

    /// Keeps what was read, unless tokens have changed since.
    pub(super) fn keep(
        &self,
        sha256: [u8; 32],
        owner: &str,
        until: Option<Timestamp>,
        read_at: u64,
    ) {
        let mut known = self.known();
        if known.changes == read_at {
            known.owners.insert(sha256, (owner.to_owned(), until));
        }
    }

    /// Forgets all: tokens have changed.
    pub(super) fn forget(&self) {
        let mut known = self.known();
        known.owners.clear();
        known.changes += 1;
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
