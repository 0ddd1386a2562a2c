//! How often what reports bring is written. Each transaction writes pages that it fills in part and syncs
//! the disk, so that a few large ones cost less than many small ones.

use std::time::{Duration, Instant};

/// The time from the end of a transaction to the begin of the next one, at least, for each daemon that writes to the
/// same store, …
const PAUSE: Duration = Duration::from_millis(20);
/// … up to so many of them, or else the nodes would wait too long, …
const MOST_DAEMONS: u32 = 4;
/// … unless so many jobs wait.
pub(crate) const ENOUGH: usize = 32;

/// When the last transaction ended.
#[derive(Default)]
pub(crate) struct BatchDelay(Option<Instant>);

impl BatchDelay {
    /// For how long to gather more than `waiting` jobs before the next transaction, as one of so many `daemons`. A
    /// job that comes after a pause doesn't wait.
    pub(crate) fn pause(&self, waiting: usize, daemons: u32) -> Option<Duration> {
        let since = self.0?.elapsed();
        let pause = PAUSE * daemons.min(MOST_DAEMONS);
        (waiting < ENOUGH).then(|| pause.checked_sub(since)).flatten()
    }

    /// A transaction has ended.
    pub(crate) fn wrote(&mut self) {
        self.0 = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_grows_with_the_daemons_and_ends_for_a_crowd() {
        // A transaction of the future, since which no time passes while the test runs.
        let pace = BatchDelay(Some(Instant::now() + Duration::from_secs(3600)));
        assert_eq!(pace.pause(1, 1), Some(PAUSE));
        assert_eq!(pace.pause(1, 2), Some(PAUSE * 2));
        assert_eq!(pace.pause(1, 1000), Some(PAUSE * MOST_DAEMONS));
        assert_eq!(pace.pause(ENOUGH, 2), None);
        assert_eq!(BatchDelay::default().pause(1, 2), None, "the first job waits for nothing");
    }
}
