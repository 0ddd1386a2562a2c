use std::collections::VecDeque;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// How many attempts are known by the id of their run. The current run is one of the newest, so
/// more aren't needed to leave it out of the count.
const KNOWN: usize = 16;

/// What the guard decides by: how often a node has tried without success.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Runs of kickstart and boot that didn't end well after the last that did, or after an
    /// admin released the node. One that is running counts: a power cut leaves it so.
    pub attempts: u32,
    /// When an admin released the node, by the server's clock; none after a run that ended well.
    pub released: Option<Timestamp>,
}

/// A node that an admin has released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Released {
    /// Its name.
    pub node: String,
    /// How many attempts were forgotten.
    pub attempts: u32,
}

/// A node's attempts, in a size that doesn't grow with their number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Attempts {
    count: u32,
    /// Their runs, the newest last.
    newest: VecDeque<String>,
    released: Option<Timestamp>,
}

impl Attempts {
    /// A run begins.
    pub(crate) fn begin(&mut self, run: &str) {
        self.count = self.count.saturating_add(1);
        self.newest.push_back(run.to_owned());
        if self.newest.len() > KNOWN {
            self.newest.pop_front();
        }
    }

    /// A run has ended well: only those that began after it count.
    pub(crate) fn end_well(&mut self, run: &str) {
        if let Some(at) = self.newest.iter().position(|known| known == run) {
            self.newest.drain(..=at);
            self.count = self.newest.len() as u32;
            self.released = None;
        }
    }

    /// The guard held a run: it was no attempt.
    pub(crate) fn held(&mut self, run: &str) {
        if let Some(at) = self.newest.iter().position(|known| known == run) {
            self.newest.remove(at);
            self.count -= 1;
        }
    }

    /// Forgets all attempts. Returns how many there were.
    pub(crate) fn release(&mut self, at: Timestamp) -> u32 {
        self.newest.clear();
        self.released = Some(at);
        std::mem::take(&mut self.count)
    }

    /// The node's attempts, without the run `current`.
    pub(crate) fn standing(&self, current: Option<&str>) -> Standing {
        let is_known = current.is_some_and(|run| self.newest.iter().any(|known| known == run));
        Standing { attempts: self.count - u32::from(is_known), released: self.released }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_does_not_grow_with_what_is_counted() {
        let mut attempts = Attempts::default();
        (0..1000).for_each(|n| attempts.begin(&n.to_string()));
        assert_eq!(attempts.newest.len(), KNOWN);
        assert_eq!(attempts.standing(None).attempts, 1000);
        assert_eq!(attempts.standing(Some("999")).attempts, 999);
        assert_eq!(attempts.standing(Some("new")).attempts, 1000);
        attempts.held("998");
        attempts.held("998");
        assert_eq!(attempts.standing(None).attempts, 999);
        attempts.begin("1000");
        attempts.end_well("997");
        assert_eq!(attempts.standing(None).attempts, 2);
    }
}
