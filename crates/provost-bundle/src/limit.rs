use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::SignedDuration;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The longest limit: a year. A longer one is a typing error, and would overflow clocks.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// A time limit: more than zero, never infinite. Written with its unit, such as `20m` or `1h 30m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Limit(Duration);

/// A text that isn't a limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` isn't a time limit: {why}")]
pub struct LimitError {
    text: String,
    why: &'static str,
}

impl LimitError {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        "write a number with its unit, such as \"30s\", \"20m\" or \"1h 30m\"".to_owned()
    }
}

impl Limit {
    /// A limit of `seconds`, for defaults; 0 counts as 1.
    pub const fn seconds(seconds: u32) -> Self {
        Self(Duration::from_secs(if seconds == 0 { 1 } else { seconds as u64 }))
    }

    /// The limit as a duration.
    pub const fn duration(self) -> Duration {
        self.0
    }
}

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let refuse = |why| LimitError { text: text.to_owned(), why };
        let trimmed = text.trim();
        if ["none", "never", "infinite", "infinity", "unlimited"].contains(&trimmed) {
            return Err(refuse("every limit has to be finite"));
        }
        if trimmed.parse::<f64>().is_ok() {
            return Err(refuse("the unit is missing"));
        }
        let signed: SignedDuration =
            trimmed.parse().map_err(|_| refuse("it isn't a number with a unit"))?;
        let duration = Duration::try_from(signed).map_err(|_| refuse("it is negative"))?;
        match duration {
            Duration::ZERO => Err(refuse("it is zero")),
            d if d > LONGEST => Err(refuse("it is longer than a year")),
            d => Ok(Self(d)),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A year at most, so it fits.
        let signed = SignedDuration::try_from(self.0).unwrap_or(SignedDuration::MAX);
        write!(f, "{signed:#}")
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl de::Visitor<'_> for Text {
            type Value = Limit;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time limit with its unit, such as \"20m\"")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Limit, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Text)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Limit {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Limit".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A time with its unit, such as \"20m\" or \"1h 30m\"; never infinite.",
            "type": "string",
            "examples": ["90s", "20m", "1h 30m"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_has_a_unit_and_an_end() {
        for (text, seconds, shown) in [
            ("20m", 1200, "20m"),
            ("1h 30m", 5400, "1h 30m"),
            (" 5s ", 5, "5s"),
            ("90s", 90, "1m 30s"),
        ] {
            let limit: Limit = text.parse().unwrap();
            assert_eq!(limit.duration().as_secs(), seconds);
            assert_eq!(limit.to_string(), shown);
            assert_eq!(limit.to_string().parse(), Ok(limit));
        }
        for (text, why) in [
            ("none", "finite"),
            ("30", "unit is missing"),
            ("0", "unit is missing"),
            ("0s", "zero"),
            ("-5m", "negative"),
            ("999999h", "longer than a year"),
            ("", "a number with a unit"),
            ("99999999999999999999999s", "a number with a unit"),
            ("5 apples", "a number with a unit"),
        ] {
            let error = text.parse::<Limit>().unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
        }
    }
}
