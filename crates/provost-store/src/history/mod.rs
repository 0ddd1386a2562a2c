//! How runs and nodes went over time: a point a minute for a day, and one an hour for a year. What a batch of records
//! adds is stored with it, so that none is missed or counted twice, whatever is killed when; later it is added to
//! the points.

mod durations;

use std::collections::BTreeMap;

#[cfg(any(feature = "sqlite", feature = "postgres"))]
use jiff::SignedDuration;
use jiff::Timestamp;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
use provost_record::{Record, Service};

pub use self::durations::Durations;
use crate::{Answer, Status, Storm};
#[cfg(any(feature = "sqlite", feature = "postgres"))]
use crate::{ServiceChange, ServiceChangeKind};

/// How far apart points are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HistoryScale {
    /// A minute: points are kept for a day.
    Minute,
    /// An hour: points are kept for a year.
    Hour,
}

impl HistoryScale {
    /// Both.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) const ALL: [Self; 2] = [Self::Minute, Self::Hour];

    /// The time from one point to the next, in seconds.
    pub fn seconds(self) -> i64 {
        match self {
            Self::Minute => 60,
            Self::Hour => 3600,
        }
    }

    /// For how long points are kept. What began a day or a year ago is there as a whole.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn age(self) -> SignedDuration {
        match self {
            Self::Minute => SignedDuration::from_hours(25),
            Self::Hour => SignedDuration::from_hours(24 * 367),
        }
    }

    /// When the point begins that `at` belongs to.
    pub fn begin(self, at: Timestamp) -> Timestamp {
        let seconds = at.as_second();
        let begin = seconds - seconds.rem_euclid(self.seconds());
        Timestamp::from_second(begin).unwrap_or(Timestamp::MIN)
    }
}

/// What runs did within some time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// How many began, …
    pub began: u64,
    /// … ended well …
    pub succeeded: u64,
    /// … and failed.
    pub failed: u64,
    /// How long the boots took that ended well.
    pub boots: Durations,
}

impl RunCounts {
    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.began == 0 && self.succeeded == 0 && self.failed == 0
    }

    /// Adds what happened at another time.
    pub fn add(&mut self, other: &Self) {
        self.began += other.began;
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.boots.add(&other.boots);
    }

    /// Adds what a record says that is newly stored. Only the first of its run begins it: a run goes on after a reboot.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn note(&mut self, record: &Record, is_first: bool) {
        self.began += u64::from(is_first);
        match ServiceChange::of(record).map(|change| change.kind) {
            Some(ServiceChangeKind::Succeeded) => {
                self.succeeded += 1;
                let is_boot = record.service == Service::Boot.as_str();
                record
                    .duration_ms
                    .filter(|_| is_boot)
                    .into_iter()
                    .for_each(|ms| self.boots.note(ms));
            }
            Some(ServiceChangeKind::Failed) => self.failed += 1,
            Some(ServiceChangeKind::Began) | None => {}
        }
    }
}

/// The same by minutes, each by when it begins.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
#[derive(Debug, Default)]
pub(crate) struct RunsByMinute(pub(crate) BTreeMap<Timestamp, RunCounts>);

#[cfg(any(feature = "sqlite", feature = "postgres"))]
impl RunsByMinute {
    /// Adds what happened at the server's time `at`.
    pub(crate) fn add(&mut self, at: Timestamp, counts: &RunCounts) {
        if !counts.is_empty() {
            self.0.entry(HistoryScale::Minute.begin(at)).or_default().add(counts);
        }
    }
}

/// How many nodes have each status.
pub type NodesByStatus = BTreeMap<Status, u64>;

/// A minute or an hour in which something happened.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryPoint {
    /// When it begins, by the server's clock.
    pub at: Timestamp,
    /// What runs did.
    pub runs: RunCounts,
    /// How many nodes had each status at its end; none: as many as before.
    pub nodes: Option<NodesByStatus>,
}

/// A storm that is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StormResult {
    /// What became of it.
    pub storm: Storm,
    /// When its last node was done.
    pub ended: Timestamp,
}

/// A part of the history.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistorySeries {
    /// The points in which something happened, the oldest first.
    pub points: Vec<HistoryPoint>,
    /// How many nodes had each status before the first of them, if that is known.
    pub nodes_before: Option<NodesByStatus>,
    /// The storms that ended since, the oldest first.
    pub storms: Vec<StormResult>,
}

/// The history of all nodes. It costs as much after a year as after a day.
pub trait HistoryStore {
    /// Adds what runs did since the last call to the points, and forgets old ones. Many daemons may call it at once.
    fn fold_history(&self, at: Timestamp) -> Answer<'_, ()>;

    /// Notes how many nodes have each status now.
    fn note_nodes(&self, nodes: NodesByStatus, at: Timestamp) -> Answer<'_, ()>;

    /// When that was last noted, and what.
    fn nodes_noted(&self) -> Answer<'_, Option<(Timestamp, NodesByStatus)>>;

    /// The points from the one on that `since` belongs to, also of what no call has added yet.
    fn history(&self, scale: HistoryScale, since: Timestamp) -> Answer<'_, HistorySeries>;
}
