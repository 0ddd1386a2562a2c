//! How much is stored, and for how long.

use std::num::NonZeroU32;

use jiff::{SignedDuration, Span};
use provost_store::{Quota, Quotas, RecordQuota, Retention};
use serde::Deserialize;

/// How much is stored of each node, and how much of the disk is reserved; in MiB.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct QuotaConfig {
    /// Of its records within an hour.
    pub records_mib_per_hour: u32,
    /// Of its records in all.
    pub records_mib: u32,
    /// Its records within an hour, a number.
    pub records_per_hour: u32,
    /// Its runs within an hour, a number.
    pub runs_per_hour: u32,
    /// Of its logs within an hour.
    pub logs_mib_per_hour: u32,
    /// Of its logs in all.
    pub logs_mib: u32,
    /// With SQLite: what is kept of the disk for `prune`, `remove`, `revoke` and `admin remove`.
    pub reserve_mib: u32,
}

impl Default for QuotaConfig {
    fn default() -> Self {
        Self {
            records_mib_per_hour: 64,
            records_mib: 1024,
            records_per_hour: 200_000,
            runs_per_hour: 120,
            logs_mib_per_hour: 64,
            logs_mib: 1024,
            reserve_mib: 64,
        }
    }
}

impl QuotaConfig {
    /// In bytes, as the store has them.
    pub(crate) fn quotas(&self) -> Quotas {
        let quota = |per_hour: u32, all: u32| Quota {
            per_hour: u64::from(per_hour) << 20,
            all: u64::from(all) << 20,
        };
        Quotas {
            records: RecordQuota {
                bytes: quota(self.records_mib_per_hour, self.records_mib),
                per_hour: self.records_per_hour.into(),
                runs_per_hour: self.runs_per_hour.into(),
            },
            logs: quota(self.logs_mib_per_hour, self.logs_mib),
            reserve: u64::from(self.reserve_mib) << 20,
        }
    }
}

/// How much of the nodes' history is kept.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct RetentionConfig {
    /// How many runs of each node.
    pub runs: NonZeroU32,
    /// For how long a run that isn't its node's newest.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub age: Age,
    /// For how long a log.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub logs: Age,
    /// For how long a program of nodes since it was asked for last.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub programs: Age,
}

impl Default for RetentionConfig {
    fn default() -> Self {
        let days = |days: i64| Age(SignedDuration::from_hours(24 * days));
        let runs = NonZeroU32::MIN.saturating_add(19);
        Self { runs, age: days(90), logs: days(30), programs: days(365) }
    }
}

impl RetentionConfig {
    pub(crate) fn retention(&self) -> Retention {
        Retention { runs: self.runs.get(), age: self.age.0, logs: self.logs.0 }
    }
}

/// For how long something is kept: `"90d"`. Days have 24 hours, and years 365 days.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Age(pub(super) SignedDuration);

impl Age {
    pub(crate) fn duration(self) -> SignedDuration {
        self.0
    }
}

impl TryFrom<String> for Age {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let span = text
            .parse::<Span>()
            .and_then(|span| {
                let days = i64::from(span.get_days()) + 365 * i64::from(span.get_years());
                span.years(0).try_days(days)
            })
            .and_then(|span| span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()));
        match span {
            Ok(age) if age.is_positive() => Ok(Self(age)),
            _ => Err(format!("{text:?} isn't a time such as \"90d\" or \"12h\"")),
        }
    }
}
