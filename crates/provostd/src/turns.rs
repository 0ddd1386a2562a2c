//! When reports may come again: one after the other, instead of all at once.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

use crate::refusal::Refusal;

/// The time between the turns of two reports that found no place: so many a second can be stored.
const TURN: Duration = Duration::from_millis(1);
/// The soonest that one may come again, and the latest: a queue that is longer begins anew.
const SOONEST: Duration = Duration::from_secs(1);
const LATEST: Duration = Duration::from_secs(60);
/// The time between two reports of nodes that are served, of which many run: so many take a third of two processors.
const NEXT_TURN: Duration = Duration::from_millis(2);
/// How many reports are stored at once. A report waits no longer for its turn than the time in which the store writes
/// so many: a tenth of a second or two, also while thousands of nodes boot.
const REPORTS: usize = 256;

/// The latest that a node which was served may report again, unless it fails: far less than the time
/// after which it counts as lost.
const LATEST_REPORT: Duration = Duration::from_secs(15);

/// Turns, one after the other.
struct Turns {
    next: Mutex<Instant>,
    /// The time between two.
    apart: Duration,
    /// No turn is later than so long from now.
    latest: Duration,
}

/// The places of reports that are being stored.
pub(crate) struct ReportPlaces {
    free: Semaphore,
    turns: Turns,
    /// The next reports of those that were served.
    next_reports: Turns,
}

impl Turns {
    fn new(apart: Duration, latest: Duration) -> Self {
        Self { next: Mutex::new(Instant::now()), apart, latest }
    }

    /// Takes the next turn. Returns after which time it is.
    fn next(&self) -> Duration {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if *next < now || *next > now + self.latest - SOONEST {
            *next = now;
        }
        *next += self.apart;
        SOONEST + (*next - now)
    }
}

impl Default for ReportPlaces {
    fn default() -> Self {
        let turns = Turns::new(TURN, LATEST);
        let next_reports = Turns::new(NEXT_TURN, LATEST_REPORT);
        Self { free: Semaphore::new(REPORTS), turns, next_reports }
    }
}

impl ReportPlaces {
    /// A place for a report until it is stored; where none is free, when to come again.
    pub(crate) fn take(&self) -> Result<SemaphorePermit<'_>, Refusal> {
        self.free.try_acquire().map_err(|_| {
            let error = format!("{REPORTS} reports are being stored");
            let hint = "nothing is lost: the node sends it again";
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error, hint).after(self.turns.next())
        })
    }

    /// After which time a node whose run goes on may report again: a second, which it waits by itself,
    /// unless more than five hundred nodes report. Then its reports are fewer, and each has more records:
    /// that is how five hundred nodes and seven thousand cost the same a second.
    pub(crate) fn next_report(&self) -> Option<Duration> {
        let wait = self.next_reports.next();
        (wait.as_secs() > SOONEST.as_secs()).then_some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn turns_follow_each_other_and_are_free_again_when_their_time_has_come() {
        let turns = Turns::new(TURN, LATEST);
        let waits: Vec<u64> = (0..5000).map(|_| turns.next().as_secs()).collect();
        assert_eq!((waits[0], waits[2500], waits[4999]), (1, 3, 6));
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(turns.next().as_secs(), 1);
        let longest = (0..200_000).map(|_| turns.next()).max().unwrap();
        assert!(longest <= LATEST + TURN, "{longest:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn those_who_are_served_come_again_after_a_second_unless_thousands_do() {
        let places = ReportPlaces::default();
        let waits: Vec<_> = (0..5000).map(|_| places.next_report()).collect();
        assert_eq!((waits[0], waits[450]), (None, None));
        let seconds = |n: usize| waits[n].map(|wait| wait.as_secs());
        assert_eq!((seconds(750), seconds(4999)), (Some(2), Some(11)));
        let longest = (0..50_000).filter_map(|_| places.next_report()).max().unwrap();
        assert!(longest <= LATEST_REPORT + NEXT_TURN, "{longest:?}");
    }

    #[test]
    fn a_report_without_a_place_is_told_when_to_come_again() {
        let places = ReportPlaces::default();
        let mut taken: Vec<_> = (0..REPORTS).map(|_| places.take().unwrap()).collect();
        let refusal = places.take().unwrap_err();
        assert_eq!(refusal.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(refusal.retry_after.is_some());
        taken.pop();
        assert!(places.take().is_ok());
    }
}
