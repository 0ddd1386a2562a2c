use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

const MIB: u64 = 1024 * 1024;
/// Seconds of an hour.
const HOUR: i64 = 3600;

/// How much is stored.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quotas {
    /// Of the records of each node.
    pub records: Quota,
    /// Of the logs of each node.
    pub logs: Quota,
    /// How much of the disk is kept for what makes room or takes rights away, in bytes. A database server has none.
    pub reserve: u64,
}

/// How much of one node is stored, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Quota {
    /// Within an hour.
    pub per_hour: u64,
    /// In all.
    pub all: u64,
}

impl Default for Quota {
    fn default() -> Self {
        Self { per_hour: 64 * MIB, all: 1024 * MIB }
    }
}

/// What a node has stored, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Usage {
    /// The hour that `in_hour` is about, in hours of Unix time.
    hour: i64,
    pub(crate) in_hour: u64,
    pub(crate) all: u64,
}

/// Why nothing more is stored of a node.
#[derive(Debug, thiserror::Error)]
#[error("it is over its quota of {} MiB {}", most / MIB, if *hourly { "in an hour" } else { "in all" })]
pub(crate) struct OverQuota {
    most: u64,
    hourly: bool,
    /// When it may try again.
    pub(crate) retry_after: Duration,
}

impl Usage {
    /// Adds `bytes` at the server's time `at`, if the quota allows it.
    pub(crate) fn add(&mut self, bytes: u64, quota: Quota, at: Timestamp) -> Result<(), OverQuota> {
        let hour = at.as_second().div_euclid(HOUR);
        let in_hour = bytes + if hour == self.hour { self.in_hour } else { 0 };
        let all = self.all + bytes;
        quota.check(in_hour, all, (HOUR - at.as_second().rem_euclid(HOUR)).unsigned_abs())?;
        *self = Self { hour, in_hour, all };
        Ok(())
    }

    /// `bytes` of what it has stored were removed.
    pub(crate) fn free(&mut self, bytes: u64) {
        self.all = self.all.saturating_sub(bytes);
    }
}

impl Quota {
    /// Checks what a node would have; `left` is for how many seconds this hour still counts.
    pub(crate) fn check(&self, in_hour: u64, all: u64, left: u64) -> Result<(), OverQuota> {
        let over = |most, hourly, seconds| OverQuota {
            most,
            hourly,
            retry_after: Duration::from_secs(seconds),
        };
        if all > self.all {
            return Err(over(self.all, false, HOUR.unsigned_abs()));
        }
        if in_hour > self.per_hour {
            return Err(over(self.per_hour, true, left.max(1)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_later_there_is_room_again_until_all_of_it_is_used() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let quota = Quota { per_hour: 10, all: 25 };
        let mut usage = Usage::default();
        usage.add(10, quota, at(HOUR)).unwrap();
        let error = usage.add(1, quota, at(HOUR + 3000)).unwrap_err();
        assert_eq!((error.hourly, error.retry_after.as_secs()), (true, 600));
        usage.add(10, quota, at(2 * HOUR)).unwrap();
        assert!(!usage.add(6, quota, at(3 * HOUR)).unwrap_err().hourly);
        usage.add(5, quota, at(3 * HOUR)).unwrap();
    }
}
