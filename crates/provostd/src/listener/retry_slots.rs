//! When clients that can't be served at once may retry: one after the other.

use std::time::Duration;

use tokio::time::Instant;

/// The soonest that a client may come again.
pub(crate) const SOONEST: Duration = Duration::from_secs(1);

/// The times of these retries.
pub(crate) struct RetrySlots {
    next: Instant,
    /// No turn is later than so long from now: a line that is longer begins anew.
    latest: Duration,
}

impl RetrySlots {
    /// Nobody waits.
    pub(crate) fn new(latest: Duration) -> Self {
        Self { next: Instant::now(), latest }
    }

    /// How long from now the next turn is.
    pub(crate) fn ahead(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Takes the next turn, which comes so long after the one before it. Returns after which time it is.
    pub(crate) fn next(&mut self, apart: Duration) -> Duration {
        let now = Instant::now();
        if self.next < now || self.next > now + self.latest - SOONEST {
            self.next = now;
        }
        self.next += apart;
        SOONEST + (self.next - now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn turns_follow_each_other_and_are_free_again_when_their_time_has_come() {
        let (apart, latest) = (Duration::from_millis(1), Duration::from_secs(60));
        let mut turns = RetrySlots::new(latest);
        let waits: Vec<u64> = (0..5000).map(|_| turns.next(apart).as_secs()).collect();
        assert_eq!((waits[0], waits[2500], waits[4999]), (1, 3, 6));
        tokio::time::advance(latest).await;
        assert_eq!(turns.next(apart).as_secs(), 1);
        let longest = (0..200_000).map(|_| turns.next(apart)).max().unwrap();
        assert!(longest <= latest + apart, "{longest:?}");
    }
}
