use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

const MIB: u64 = 1024 * 1024;
const MIB_UNIT: &str = "MiB";
/// Seconds of an hour.
const HOUR: i64 = 3600;

/// How much is stored.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quotas {
    /// Of the records of each node.
    pub records: RecordQuota,
    /// Of the logs of each node.
    pub logs: Quota,
    /// How much of the disk is kept for what makes room or takes rights away, in bytes. A database server has none.
    pub reserve: u64,
}

/// How many of one node's records are stored.
#[derive(Clone, Copy, Debug)]
pub struct RecordQuota {
    /// Their bytes.
    pub bytes: Quota,
    /// Records within an hour.
    pub per_hour: u64,
    /// Runs that begin within an hour.
    pub runs_per_hour: u64,
}

impl Default for RecordQuota {
    fn default() -> Self {
        Self { bytes: Quota::default(), per_hour: u64::MAX, runs_per_hour: u64::MAX }
    }
}

/// What a log counts at least, in bytes: a file needs more than its content.
pub(crate) const SMALLEST_LOG: u64 = 64 * 1024;

/// What the logs of a node take, with the one that is to be stored, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogUsage {
    /// Those of this hour.
    pub(crate) in_hour: u64,
    /// All.
    pub(crate) all: u64,
    /// For how many seconds the oldest one of this hour is of this hour.
    pub(crate) left: u64,
}

/// A log that goes where others need its room.
pub(crate) struct Removable<K> {
    /// What it is found by.
    pub(crate) key: K,
    /// Its size, at least [`SMALLEST_LOG`].
    pub(crate) bytes: u64,
    /// Whether it is of this hour.
    pub(crate) in_hour: bool,
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

/// What of a node's records is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Usage {
    /// The hour that the others are about, in hours of Unix time.
    hour: i64,
    /// Bytes within it, …
    in_hour: u64,
    /// … and all.
    all: u64,
    records_in_hour: u64,
    runs_in_hour: u64,
}

/// What a batch adds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BatchSize {
    pub(crate) bytes: u64,
    pub(crate) records: u64,
    /// Those that begin with it.
    pub(crate) runs: u64,
}

/// Why nothing more is stored of a node.
#[derive(Debug, thiserror::Error)]
#[error("it is over its quota of {most} {unit} {}", if *hourly { "in an hour" } else { "in all" })]
pub(crate) struct OverQuota {
    most: u64,
    unit: &'static str,
    hourly: bool,
    /// When it may try again.
    pub(crate) retry_after: Duration,
}

impl OverQuota {
    /// The key under `[quota]` of a quota of `what`, which are logs or records.
    pub(crate) fn key(&self, what: &str) -> String {
        match (self.unit, self.hourly) {
            (MIB_UNIT, true) => format!("{what}_mib_per_hour"),
            (MIB_UNIT, false) => format!("{what}_mib"),
            (unit, _) => format!("{unit}_per_hour"),
        }
    }
}

impl Usage {
    /// Adds a batch at the server's time `at`, if the quota allows it.
    pub(crate) fn add(
        &mut self,
        batch: BatchSize,
        quota: RecordQuota,
        at: Timestamp,
    ) -> Result<(), OverQuota> {
        let hour = at.as_second().div_euclid(HOUR);
        let left = (HOUR - at.as_second().rem_euclid(HOUR)).unsigned_abs();
        let before =
            if hour == self.hour { *self } else { Self { all: self.all, ..Self::default() } };
        let new = Self {
            hour,
            in_hour: before.in_hour + batch.bytes,
            all: before.all + batch.bytes,
            records_in_hour: before.records_in_hour + batch.records,
            runs_in_hour: before.runs_in_hour + batch.runs,
        };
        quota.bytes.check(new.in_hour, new.all, left)?;
        for (unit, number, most) in [
            ("records", new.records_in_hour, quota.per_hour),
            ("runs", new.runs_in_hour, quota.runs_per_hour),
        ] {
            if number > most {
                let retry_after = Duration::from_secs(left);
                return Err(OverQuota { most, unit, hourly: true, retry_after });
            }
        }
        *self = new;
        Ok(())
    }

    /// `bytes` of what it has stored were removed.
    pub(crate) fn free(&mut self, bytes: u64) {
        self.all = self.all.saturating_sub(bytes);
    }
}

impl Quota {
    /// Which of the node's logs of successful steps have to go so that what it would have is allowed: the `oldest`
    /// ones, which are asked for only where some have to.
    pub(crate) fn make_room<K>(
        &self,
        mut usage: LogUsage,
        oldest: impl IntoIterator<Item = Removable<K>>,
    ) -> Result<Vec<K>, OverQuota> {
        let check = |usage: &LogUsage| self.check(usage.in_hour, usage.all, usage.left);
        let (mut gone, mut oldest) = (Vec::new(), oldest.into_iter());
        let Err(over) = check(&usage) else { return Ok(gone) };
        while check(&usage).is_err() {
            let Some(Removable { key, bytes, in_hour }) = oldest.next() else { return Err(over) };
            if in_hour {
                usage.in_hour = usage.in_hour.saturating_sub(bytes);
            } else if usage.all <= self.all {
                // It would make no room in this hour.
                continue;
            }
            usage.all = usage.all.saturating_sub(bytes);
            gone.push(key);
        }
        Ok(gone)
    }

    /// Checks what a node would have; `left` is for how many seconds this hour still counts.
    pub(crate) fn check(&self, in_hour: u64, all: u64, left: u64) -> Result<(), OverQuota> {
        let over = |most, hourly, seconds| OverQuota {
            most: most / MIB,
            unit: MIB_UNIT,
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
    fn the_oldest_logs_that_may_go_make_room_and_none_goes_where_that_is_not_enough() {
        let quota = Quota { per_hour: 10, all: 20 };
        let room = |in_hour, all, removable: &[(char, u64, bool)]| {
            let removable = removable.iter();
            let removable =
                removable.map(|&(key, bytes, in_hour)| Removable { key, bytes, in_hour });
            quota.make_room(LogUsage { in_hour, all, left: 60 }, removable).ok()
        };
        let three = [('a', 4, false), ('b', 2, true), ('c', 2, true)];
        assert_eq!(room(10, 20, &three), Some(vec![]));
        assert_eq!(room(10, 21, &three), Some(vec!['a']));
        assert_eq!(room(10, 25, &three), Some(vec!['a', 'b']));
        assert_eq!(room(12, 16, &three), Some(vec!['b']), "an older one is no room in this hour");
        assert_eq!(room(10, 29, &three), None);
        assert_eq!(room(15, 15, &three), None);
    }

    #[test]
    fn an_hour_later_there_is_room_again_until_all_of_it_is_used() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let bytes = Quota { per_hour: 10, all: 25 };
        let quota = RecordQuota { bytes, per_hour: 6, runs_per_hour: 2 };
        let mut usage = Usage::default();
        let mut add = |bytes, records, runs, second| {
            let over = usage.add(BatchSize { bytes, records, runs }, quota, at(second)).err();
            over.map(|over| (over.key("records"), over.retry_after.as_secs()))
        };
        assert_eq!(add(10, 3, 1, HOUR), None);
        let hourly = |key: &str, seconds| Some((format!("{key}_per_hour"), seconds));
        assert_eq!(add(1, 1, 0, HOUR + 3000), hourly("records_mib", 600));
        assert_eq!(add(0, 4, 0, HOUR + 3000), hourly("records", 600));
        assert_eq!(add(0, 3, 2, HOUR + 3000), hourly("runs", 600));
        assert_eq!(add(0, 3, 1, HOUR + 3000), None);
        assert_eq!(add(10, 6, 2, 2 * HOUR), None);
        assert_eq!(add(6, 1, 1, 3 * HOUR), Some(("records_mib".to_owned(), 3600)));
        assert_eq!(add(5, 1, 1, 3 * HOUR), None);
    }
}
