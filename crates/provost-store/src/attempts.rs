use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// How many attempts are known by the id of their run. The current run is one of the newest, so
/// more aren't needed to leave it out of the count.
const KNOWN: usize = 16;

/// A run that began longer than this before a release, as it seems, has a clock that is wrong, as
/// machines without a battery have. It counts: the guard must hold such a node, too.
const RIGHT_CLOCK: SignedDuration = SignedDuration::from_hours(30 * 24);

/// What the guard decides by: how often a node has tried without success.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Runs of kickstart and boot that failed after the last that did, or after an
    /// admin released the node. One that is running counts: a power cut leaves it so.
    pub attempts: u32,
    /// When an admin released the node, by the server's clock; none after a run that succeeded.
    pub released: Option<Timestamp>,
    /// Why the last attempt failed, in a few words; not escaped.
    pub last_failure: Option<String>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    released: Option<Timestamp>,
}

impl Attempts {
    /// A run began at `began`, by the node's clock. One from before the release doesn't count,
    /// however late it is reported: a node may have more of them in its spool.
    pub(crate) fn begin(&mut self, run: &str, began: Timestamp) {
        let is_forgotten = |released: Timestamp| {
            let before = released.duration_since(began);
            before.is_positive() && before < RIGHT_CLOCK
        };
        if self.released.is_some_and(is_forgotten) {
            return;
        }
        self.count = self.count.saturating_add(1);
        self.newest.push_back(run.to_owned());
        if self.newest.len() > KNOWN {
            self.newest.pop_front();
        }
    }

    /// A run has succeeded: only those that began after it count.
    pub(crate) fn end_well(&mut self, run: &str) {
        if let Some(at) = self.newest.iter().position(|known| known == run) {
            self.newest.drain(..=at);
            self.count = self.newest.len() as u32;
            self.released = None;
        }
    }

    /// A run was no attempt: the guard held it, or it went on to its end, though steps failed.
    pub(crate) fn discount(&mut self, run: &str) {
        if let Some(at) = self.newest.iter().position(|known| known == run) {
            self.newest.remove(at);
            self.count -= 1;
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Forgets all attempts. Returns how many there were.
    pub(crate) fn release(&mut self, at: Timestamp) -> u32 {
        self.newest.clear();
        self.released = Some(at);
        std::mem::take(&mut self.count)
    }

    /// The node's attempts, without the run `current`; `last_failure` is why the last one failed.
    pub(crate) fn standing(&self, current: Option<&str>, last_failure: Option<String>) -> Standing {
        let is_known = current.is_some_and(|run| self.newest.iter().any(|known| known == run));
        let attempts = self.count - u32::from(is_known);
        let last_failure = last_failure.filter(|_| attempts > 0);
        Standing { attempts, released: self.released, last_failure }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_does_not_grow_with_what_is_counted() {
        let mut attempts = Attempts::default();
        (0..1000).for_each(|n| attempts.begin(&n.to_string(), Timestamp::UNIX_EPOCH));
        assert_eq!(attempts.newest.len(), KNOWN);
        assert_eq!(attempts.standing(None, None).attempts, 1000);
        assert_eq!(attempts.standing(Some("999"), None).attempts, 999);
        assert_eq!(attempts.standing(Some("new"), None).attempts, 1000);
        attempts.discount("998");
        attempts.discount("998");
        assert_eq!(attempts.standing(None, None).attempts, 999);
        attempts.begin("1000", Timestamp::UNIX_EPOCH);
        attempts.end_well("997");
        assert_eq!(attempts.standing(None, None).attempts, 2);
    }

    #[test]
    fn a_run_from_before_the_release_never_counts_in_whatever_order_it_is_reported() {
        let at = |seconds: i64| Timestamp::from_second(1_800_000_000 + seconds).unwrap();
        let mut attempts = Attempts::default();
        attempts.begin("reported", at(0));
        assert_eq!(attempts.release(at(100)), 1);
        for run in ["spooled 3", "after", "spooled 1", "spooled 2", "reported"] {
            attempts.begin(run, at(if run == "after" { 101 } else { 99 }));
        }
        assert_eq!(attempts.standing(Some("after"), None).attempts, 0);
        assert_eq!(attempts.standing(None, None).attempts, 1);
        // Its clock began in 1970.
        attempts.begin("wrong clock", Timestamp::UNIX_EPOCH);
        assert_eq!(attempts.standing(None, None).attempts, 2);
    }
}
