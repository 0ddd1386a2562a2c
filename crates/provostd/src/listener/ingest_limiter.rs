//! When reports may come again: one after the other, instead of all at once.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

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

/// How many logs of successful steps are stored at once: each costs the disk as much as a batch of records, and none is
/// urgent.
const SUCCESS_LOGS: usize = 4;
/// How long one waits for its turn, so that the nodes of a rack upload theirs at once, and no node waits for its answer
/// until it gives up.
const SUCCESS_LOG_WAIT: Duration = Duration::from_secs(2);
/// The time between the turns of two nodes whose logs weren't taken: that is the rate at which they can be stored.
const SUCCESS_LOG_TURN: Duration = Duration::from_millis(20);
/// The latest that one is to retry.
const LATEST_SUCCESS_LOG: Duration = Duration::from_secs(600);

/// The places of reports that are being stored.
pub(crate) struct IngestLimiter {
    free: Semaphore,
    turns: Mutex<RetrySlots>,
    success_logs: Semaphore,
    success_log_turns: Mutex<RetrySlots>,
    /// The next reports of those that were served.
    next_reports: Mutex<RetrySlots>,
}

impl Default for IngestLimiter {
    fn default() -> Self {
        let latest = [LATEST, LATEST_SUCCESS_LOG, LATEST_REPORT];
        let [turns, success_log_turns, next_reports] =
            latest.map(|latest| Mutex::new(RetrySlots::new(latest)));
        let [free, success_logs] = [REPORTS, SUCCESS_LOGS].map(Semaphore::new);
        Self { free, turns, success_logs, success_log_turns, next_reports }
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

    /// A place for the log of a successful step until it is stored; when to retry where none is free in time, or
    /// while more than five hundred nodes report: these come first.
    pub(crate) async fn take_for_success_log(&self) -> Result<SemaphorePermit<'_>, Refusal> {
        let ahead = self.next_reports.lock().unwrap_or_else(PoisonError::into_inner).ahead();
        let place = async {
            if ahead >= SOONEST {
                return None;
            }
            timeout(SUCCESS_LOG_WAIT, self.success_logs.acquire()).await.ok()?.ok()
        };
        place.await.ok_or_else(|| {
            let error = "logs of successful steps wait while other nodes report";
            let hint = "nothing is lost: the node sends it again";
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error, hint)
                .after(next(&self.success_log_turns, SUCCESS_LOG_TURN))
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

    #[tokio::test(start_paused = true)]
    async fn logs_of_successful_steps_wait_their_turn_and_come_later_while_many_report() {
        let places = IngestLimiter::default();
        let mut taken = Vec::new();
        for _ in 0..SUCCESS_LOGS {
            taken.push(places.take_for_success_log().await.unwrap());
        }
        let begun = tokio::time::Instant::now();
        let refusal = places.take_for_success_log().await.unwrap_err();
        assert_eq!(
            (refusal.status, begun.elapsed()),
            (StatusCode::SERVICE_UNAVAILABLE, SUCCESS_LOG_WAIT)
        );
        taken.pop();
        drop(places.take_for_success_log().await.unwrap());
        assert!((0..1000).filter_map(|_| places.next_report(1)).count() > 0);
        let begun = tokio::time::Instant::now();
        let refusal = places.take_for_success_log().await.unwrap_err();
        assert!(refusal.retry_after.is_some() && begun.elapsed().is_zero());
        assert!(places.take().is_ok(), "a failed step's log doesn't wait");
        tokio::time::advance(LATEST_REPORT).await;
        assert!(places.take_for_success_log().await.is_ok());
    }
}
