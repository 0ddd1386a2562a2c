//! Until when something signed may be used, so that a node without a memory doesn't run for ever what
//! somebody has kept.

use jiff::{SignedDuration, Timestamp};

/// How far a clock may be behind before it counts as wrong.
const SKEW: SignedDuration = SignedDuration::from_hours(24);

/// When something was signed, and until when it may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// When it was signed.
    pub made: Timestamp,
    /// From then on it is refused.
    pub expires: Timestamp,
}

impl Validity {
    /// For how long something published may be used, unless the admin says otherwise.
    pub const DEFAULT: SignedDuration = SignedDuration::from_hours(30 * 24);

    /// Made now, for so long.
    pub fn from_now(time: SignedDuration) -> Self {
        let now = Timestamp::now();
        let made = Timestamp::from_second(now.as_second()).unwrap_or(now);
        Self { made, expires: made.saturating_add(time).unwrap_or(Timestamp::MAX) }
    }

    /// Whether more than half of its time is over.
    pub fn is_old(&self, now: Timestamp) -> bool {
        self.made.duration_until(now) * 2 > self.made.duration_until(self.expires)
    }

    /// Whether it has expired by the node's clock. A clock that shows a time before it was made is
    /// wrong: the server's counts then, where it gives one.
    pub fn has_expired(&self, own: Timestamp, server: Option<Timestamp>) -> bool {
        let is_wrong = own.duration_until(self.made) > SKEW;
        let now = if is_wrong { server.unwrap_or(own) } else { own };
        now >= self.expires
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_clock_gives_way_to_the_servers() {
        let at = |day: i64| Timestamp::from_second(1_800_000_000 + day * 86_400).unwrap();
        let validity = Validity { made: at(0), expires: at(30) };
        for (own, server, expired) in [
            (at(0), None, false),
            (at(29), None, false),
            (at(30), None, true),
            (at(30), Some(at(1)), true),
            (at(1), Some(at(31)), false),
            (at(-10_000), None, false),
            (at(-10_000), Some(at(31)), true),
            (at(-10_000), Some(at(3)), false),
        ] {
            assert_eq!(validity.has_expired(own, server), expired, "{own} {server:?}");
        }
        assert!(!validity.is_old(at(15)) && validity.is_old(at(16)) && !validity.is_old(at(-1)));
    }
}
