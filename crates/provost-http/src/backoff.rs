//! How long to wait before the next attempt.

use std::time::Duration;

/// Waits that double with each attempt, up to a limit, with jitter: nodes that boot together must
/// not retry together.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// The longest wait after the first attempt.
    pub first: Duration,
    /// No wait is longer than this.
    pub most: Duration,
    /// How much of a wait is random.
    pub jitter: Jitter,
}

/// How much of a wait is random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// All of it: from nothing to the whole wait.
    Full,
    /// Half of it: what is overloaded gets at least half of the wait as rest.
    Half,
}

impl Backoff {
    /// The wait after `failed` attempts; the first one counts as 1.
    pub fn wait(self, failed: u32) -> Duration {
        let doublings = failed.saturating_sub(1).min(31);
        let longest = self.first.saturating_mul(1 << doublings).min(self.most);
        match self.jitter {
            Jitter::Full => longest.mul_f64(fastrand::f64()),
            Jitter::Half => longest / 2 + (longest / 2).mul_f64(fastrand::f64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_their_limit() {
        let (first, most) = (Duration::from_millis(200), Duration::from_secs(5));
        for (jitter, part) in [(Jitter::Full, 0.0), (Jitter::Half, 0.5)] {
            let backoff = Backoff { first, most, jitter };
            for (failed, longest) in [(1, 0.2), (2, 0.4), (5, 3.2), (6, 5.0), (u32::MAX, 5.0)] {
                for _ in 0..100 {
                    let wait = backoff.wait(failed).as_secs_f64();
                    assert!((longest * part..=longest).contains(&wait), "{failed}: {wait}");
                }
            }
        }
    }
}
