use std::str::FromStr;

use jiff::SignedDuration;

/// A time of an hour at least, such as `12h` or `30d`.
#[derive(Clone, Copy)]
pub(crate) struct Period(pub(crate) SignedDuration);

const EXPECTED: &str = "it must be an hour at least, such as 12h or 30d";

impl FromStr for Period {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let days = || text.strip_suffix('d')?.parse::<u32>().ok();
        let time = match days() {
            Some(days) => SignedDuration::from_hours(i64::from(days) * 24),
            None => text.parse().map_err(|_: jiff::Error| EXPECTED)?,
        };
        match time >= SignedDuration::from_hours(1) {
            true => Ok(Self(time)),
            false => Err(EXPECTED.to_owned()),
        }
    }
}
