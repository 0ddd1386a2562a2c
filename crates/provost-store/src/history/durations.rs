//! Times of any number of runs in little room: how many were about as long as each other.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// How much longer the times of a bucket are than those of the one below it. A time is at most 2.5 % from that of its
/// bucket (a DDSketch).
const GROWTH: f64 = 1.05;

/// How many times are in each bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durations(BTreeMap<u16, u64>);

impl Durations {
    /// Adds a time, in milliseconds.
    pub fn note(&mut self, ms: u64) {
        // 2^64 ms are bucket 910.
        let bucket = (ms.max(1) as f64).log(GROWTH).ceil() as u16;
        *self.0.entry(bucket).or_default() += 1;
    }

    /// Adds all of `other`.
    pub fn add(&mut self, other: &Self) {
        for (bucket, count) in &other.0 {
            *self.0.entry(*bucket).or_default() += count;
        }
    }

    /// The time within which so many of 100 ended, in milliseconds; none if there are none.
    pub fn percentile(&self, percent: u64) -> Option<u64> {
        let all: u64 = self.0.values().sum();
        // The nearest rank.
        let mut rank = (all * percent).div_ceil(100).max(1);
        for (bucket, count) in &self.0 {
            if rank <= *count {
                let most = GROWTH.powi(i32::from(*bucket));
                return Some((most * 2.0 / (1.0 + GROWTH)).round() as u64);
            }
            rank -= count;
        }
        None
    }
}

impl Display for Durations {
    /// `120:3 141:1`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (n, (bucket, count)) in self.0.iter().enumerate() {
            let blank = if n > 0 { " " } else { "" };
            write!(f, "{blank}{bucket}:{count}")?;
        }
        Ok(())
    }
}

impl FromStr for Durations {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bucket = |part: &str| {
            let (bucket, count) = part.split_once(':')?;
            Some((bucket.parse().ok()?, count.parse().ok()?))
        };
        let read = |part: &str| bucket(part).ok_or_else(|| format!("{part:?} isn't a bucket"));
        text.split(' ')
            .filter(|part| !part.is_empty())
            .map(read)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_within_three_percent_of_the_time_that_a_run_had() {
        let mut durations = Durations::default();
        assert_eq!(durations.percentile(50), None);
        (1..=1000).for_each(|n| durations.note(n * 100));
        for (percent, exact) in [(50, 50_000.0), (95, 95_000.0), (100, 100_000.0)] {
            let found = durations.percentile(percent).unwrap() as f64;
            assert!((found / exact - 1.0).abs() < 0.03, "{percent}: {found}");
        }
        assert_eq!(durations.to_string().parse(), Ok(durations.clone()));
        let mut twice = durations.clone();
        twice.add(&durations);
        assert_eq!(twice.percentile(95), durations.percentile(95));
        let mut odd = Durations::default();
        [0, 1, u64::MAX].into_iter().for_each(|ms| odd.note(ms));
        assert_eq!(odd.percentile(1), Some(1));
        assert_eq!("".parse(), Ok(Durations::default()));
        assert!("7".parse::<Durations>().is_err());
    }
}
