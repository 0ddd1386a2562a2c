//! When reports may come again: one after the other, instead of all at once.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::refusal::Refusal;
use super::retry_slots::{RetrySlots, SOONEST};

/// The time between the turns of two reports that found no place: so many a second can be stored.
const TURN: Duration = Duration::from_millis(1);
/// The latest that one may come again.
const LATEST: Duration = Duration::from_secs(60);
/// The time between two reports of nodes that are served, of which many run: so many take a third of two processors. All
/// daemons of a store together let them come so.
const NEXT_TURN: Duration = Duration::from_millis(2);
/// How many reports are stored at once. A report waits no longer for its turn than the time in which the store writes
/// so many: a tenth of a second or two, also while thousands of nodes boot.
const REPORTS: usize = 256;

/// The latest that a node which was served may report again, unless it fails: far less than the time
/// after which it counts as lost.
const LATEST_REPORT: Duration = Duration::from_secs(15);

/// The places of reports that are being stored.
pub(crate) struct IngestLimiter {
    free: Semaphore,
    turns: Mutex<RetrySlots>,
    /// The next reports of those that were served.
    next_reports: Mutex<RetrySlots>,
}

impl Default for IngestLimiter {
    fn default() -> Self {
        let [turns, next_reports] =
            [LATEST, LATEST_REPORT].map(|latest| Mutex::new(RetrySlots::new(latest)));
        Self { free: Semaphore::new(REPORTS), turns, next_reports }
    }
}

impl IngestLimiter {
    /// A place for a report until it is stored; where none is free, when to come again.
    pub(crate) fn take(&self) -> Result<SemaphorePermit<'_>, Refusal> {
        self.free.try_acquire().map_err(|_| {
            let error = format!("{REPORTS} reports are being stored");
            let hint = "nothing is lost: the node sends it again";
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error, hint)
                .after(next(&self.turns, TURN))
        })
    }

    /// After which time a node whose run goes on may report again to one of so many `daemons`: a second, which it
    /// waits by itself, unless more than five hundred nodes report. Then its reports are fewer, and each has more
    /// records: that is how five hundred nodes and seven thousand cost the same a second.
    pub(crate) fn next_report(&self, daemons: u32) -> Option<Duration> {
        let wait = next(&self.next_reports, NEXT_TURN * daemons);
        (wait.as_secs() > SOONEST.as_secs()).then_some(wait)
    }
}

fn next(turns: &Mutex<RetrySlots>, apart: Duration) -> Duration {
    turns.lock().unwrap_or_else(PoisonError::into_inner).next(apart)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn those_who_are_served_come_again_after_a_second_unless_thousands_do() {
        let places = IngestLimiter::default();
        let waits: Vec<_> = (0..5000).map(|_| places.next_report(1)).collect();
        assert_eq!((waits[0], waits[450]), (None, None));
        let seconds = |n: usize| waits[n].map(|wait| wait.as_secs());
        assert_eq!((seconds(750), seconds(4999)), (Some(2), Some(11)));
        let longest = (0..50_000).filter_map(|_| places.next_report(1)).max().unwrap();
        assert!(longest <= LATEST_REPORT + NEXT_TURN, "{longest:?}");
        let of_two = IngestLimiter::default();
        let last = (0..2500).filter_map(|_| of_two.next_report(2)).last();
        assert_eq!(last.map(|wait| wait.as_secs()), Some(11), "each has half of the nodes");
    }

    #[test]
    fn a_report_without_a_place_is_told_when_to_come_again() {
        let places = IngestLimiter::default();
        let mut taken: Vec<_> = (0..REPORTS).map(|_| places.take().unwrap()).collect();
        let refusal = places.take().unwrap_err();
        assert_eq!(refusal.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(refusal.retry_after.is_some());
        taken.pop();
        assert!(places.take().is_ok());
    }
}
