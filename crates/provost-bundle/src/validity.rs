//! Until when something signed may be used, so that a node without a memory doesn't run for ever what
//! somebody has kept.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::signature::Signature;
use crate::{Digest, PublicKey, document};

/// How far a clock may be behind before it counts as wrong.
const SKEW: SignedDuration = SignedDuration::from_hours(24);

/// How long publications that follow each other quickly may take.
const MOMENT: SignedDuration = SignedDuration::from_mins(1);

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

    /// The same, but made after the `last` one if that was a moment ago: nodes tell by the time which
    /// of two manifests of one generation is the newer one.
    pub fn after(self, last: Option<Self>) -> Self {
        let ahead = last.map_or(SignedDuration::MIN, |last| self.made.duration_until(last.made));
        if ahead < SignedDuration::ZERO || ahead > MOMENT {
            return self;
        }
        let later = |time: Timestamp| {
            time.saturating_add(ahead + SignedDuration::from_secs(1)).unwrap_or(time)
        };
        Self { made: later(self.made), expires: later(self.expires) }
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

/// The statement.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refresh {
    format: u32,
    /// The text of the manifest that it is about.
    manifest_sha256: Digest,
    made: Timestamp,
    expires: Timestamp,
}

impl Refresh {
    /// Its name among the published files.
    pub const PATH: &str = provost_api::published::REFRESH;
    /// The longest, in bytes.
    pub const MAX_BYTES: u64 = 4096;
    /// The format that this version writes, and the only one it reads.
    const FORMAT: u32 = 1;

    /// The bundle with this manifest may be used so long.
    pub fn new(manifest: &[u8], Validity { made, expires }: Validity) -> Self {
        Self { format: Self::FORMAT, manifest_sha256: Digest::of(manifest), made, expires }
    }

    /// Its text, to be signed.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// For how long the bundle with this `manifest` may be used, by a statement that `key` has
    /// signed; or why that isn't known.
    pub fn verify(
        text: &[u8],
        signature: &str,
        manifest: &[u8],
        key: &str,
    ) -> Result<Validity, String> {
        let key = PublicKey::from_line(key).map_err(|e| e.to_string())?;
        let signature = Signature::decode(signature);
        if !signature.is_some_and(|signature| key.verifies(text, &signature)) {
            return Err(format!("it isn't signed by key {}", key.id()));
        }
        let refresh: Self =
            document::read(text, Self::MAX_BYTES, Self::FORMAT).map_err(|flaw| flaw.what)?;
        match refresh.manifest_sha256 == Digest::of(manifest) {
            true => Ok(Validity { made: refresh.made, expires: refresh.expires }),
            false => Err("it is about another bundle".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_in_the_same_second_is_made_after_it() {
        let at = |second: i64| Timestamp::from_second(1_800_000_000 + second).unwrap();
        let of = |made| Validity { made, expires: made + SignedDuration::from_hours(1) };
        assert_eq!(of(at(0)).after(None), of(at(0)));
        assert_eq!(of(at(0)).after(Some(of(at(-1)))), of(at(0)));
        assert_eq!(of(at(0)).after(Some(of(at(0)))), of(at(1)));
        assert_eq!(of(at(0)).after(Some(of(at(5)))), of(at(6)));
        // The clock was wrong then.
        assert_eq!(of(at(0)).after(Some(of(at(100_000)))), of(at(0)));
    }

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
