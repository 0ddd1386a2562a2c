//! What runs did and how nodes stood over time: added to the store's points by one timer, read for who looks, and kept
//! for a moment, so that a look costs as much however many look.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use provost_steplog::wording::error_chain;
use provost_store::{
    HistoryScale, HistorySeries, NodesByStatus, RunCounts, Store, StoreError, StormResult,
};
use serde::Deserialize;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

use super::recent::Recent;
use crate::listener::Stop;
use crate::published::SiteNodes;

/// The pause between two looks for what is to be added to the points.
const PAUSE: Duration = Duration::from_secs(10);
/// How often nodes are counted where nothing came in: some may be defined, or removed.
const QUIET: SignedDuration = SignedDuration::from_mins(10);

/// How far back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Range {
    Hour,
    #[default]
    Day,
    Week,
    Year,
}

impl Range {
    pub(crate) const ALL: [Self; 4] = [Self::Hour, Self::Day, Self::Week, Self::Year];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
            Self::Year => "year",
        }
    }

    /// The time of a column, in seconds, and how many columns there are.
    pub(crate) fn columns(self) -> (i64, i64) {
        match self {
            Self::Hour => (60, 60),
            Self::Day => (600, 144),
            Self::Week => (3600, 168),
            Self::Year => (86_400, 365),
        }
    }

    fn scale(self) -> HistoryScale {
        match self {
            Self::Hour | Self::Day => HistoryScale::Minute,
            Self::Week | Self::Year => HistoryScale::Hour,
        }
    }

    /// For how long what was read is shown again.
    fn pace(self) -> Duration {
        Duration::from_secs(match self {
            Self::Hour | Self::Day => 3,
            Self::Week => 20,
            Self::Year => 60,
        })
    }
}

/// Some time of the history, in columns.
#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) range: Range,
    /// The oldest first; the last one isn't over.
    pub(crate) columns: Vec<Column>,
    pub(crate) storms: Vec<StormResult>,
}

/// What happened within a column.
#[derive(Debug)]
pub(crate) struct Column {
    /// When it begins.
    pub(crate) at: Timestamp,
    pub(crate) runs: RunCounts,
    /// At its end; nothing where that isn't known.
    pub(crate) nodes: NodesByStatus,
}

/// What was read last, and when.
type Kept = Mutex<Option<(Instant, Arc<Columns>)>>;

/// The history.
pub(crate) struct History {
    store: Arc<dyn Store>,
    site: SiteNodes,
    recent: Arc<Recent>,
    kept: [Kept; 4],
}

impl History {
    pub(crate) fn new(site: SiteNodes, recent: Arc<Recent>) -> Self {
        Self { store: site.store.clone(), site, recent, kept: Default::default() }
    }

    /// Adds what runs did to the points, and counts nodes, until the daemon ends. Many daemons may do so at once.
    pub(crate) async fn keep(self: Arc<Self>, mut stop: Stop) {
        let keeping = async {
            let mut counted = Timestamp::MIN;
            loop {
                if let Err(error) = self.add(&mut counted, Timestamp::now()).await {
                    let (hint, why) = (error.hint(), error_chain(&error));
                    tracing::error!(hint, "keeping the history: {why}");
                }
                sleep(PAUSE).await;
            }
        };
        tokio::select! {
            () = keeping => {}
            () = stop.wait() => {}
        }
    }

    async fn add(&self, counted: &mut Timestamp, now: Timestamp) -> Result<(), StoreError> {
        self.store.fold_history(now).await?;
        let noted = self.store.nodes_noted().await?;
        // By this daemon, or by another one.
        let last = noted.as_ref().map_or(*counted, |(at, _)| (*at).max(*counted));
        // What came in before this daemon started is no event here.
        if *counted > Timestamp::MIN && !self.is_due(last, now) {
            return Ok(());
        }
        let nodes = self.site.statuses().await?;
        *counted = now;
        let hour = |at| HistoryScale::Hour.begin(at);
        // Where a point has no number, it is the one before. Hours are kept for longer, and each has one.
        match noted {
            Some((at, same)) if same == nodes && hour(at) == hour(now) => Ok(()),
            _ => self.store.note_nodes(nodes, now).await,
        }
    }

    /// Whether nodes are to be counted again: once a minute, if something came in.
    fn is_due(&self, last: Timestamp, now: Timestamp) -> bool {
        let minute = |at| HistoryScale::Minute.begin(at);
        // A clock that was set back is no reason to wait.
        minute(last) > minute(now)
            || now.duration_since(last) >= QUIET
            || minute(last) < minute(now) && self.recent.came_since(last)
    }

    /// The history of that time until now.
    pub(crate) async fn look(&self, range: Range) -> Result<Arc<Columns>, StoreError> {
        // All who look at once wait for one read.
        let mut kept = self.kept[range as usize].lock().await;
        if let Some((at, columns)) = &*kept
            && at.elapsed() < range.pace()
        {
            return Ok(Arc::clone(columns));
        }
        let begin = begin(range, Timestamp::now());
        let series = self.store.history(range.scale(), begin).await?;
        let columns = Arc::new(Columns::of(range, begin, series));
        *kept = Some((Instant::now(), Arc::clone(&columns)));
        Ok(columns)
    }
}

/// When the first column begins.
fn begin(range: Range, now: Timestamp) -> Timestamp {
    let (seconds, count) = range.columns();
    let last = now.as_second().div_euclid(seconds) * seconds;
    Timestamp::from_second(last - (count - 1) * seconds).unwrap_or(Timestamp::MIN)
}

impl Columns {
    fn of(range: Range, begin: Timestamp, series: HistorySeries) -> Self {
        let (seconds, count) = range.columns();
        let first = begin.as_second();
        let mut nodes = series.nodes_before.unwrap_or_default();
        let mut points = series.points.into_iter().peekable();
        let column = |n: i64| {
            let (from, to) = (first + n * seconds, first + (n + 1) * seconds);
            let mut runs = RunCounts::default();
            while let Some(point) = points.next_if(|point| point.at.as_second() < to) {
                runs.add(&point.runs);
                if let Some(now) = point.nodes {
                    nodes = now;
                }
            }
            let at = Timestamp::from_second(from).unwrap_or(begin);
            Column { at, runs, nodes: nodes.clone() }
        };
        let columns = (0..count).map(column).collect();
        Self { range, columns, storms: series.storms }
    }

    /// When the last one ends.
    pub(crate) fn end(&self) -> i64 {
        let last = self.columns.last().map_or(0, |last| last.at.as_second());
        last + self.range.columns().0
    }

    /// What happened in all.
    pub(crate) fn total(&self) -> RunCounts {
        let mut total = RunCounts::default();
        self.columns.iter().for_each(|column| total.add(&column.runs));
        total
    }
}

#[cfg(test)]
mod tests {
    use provost_store::{HistoryPoint, Status};

    use super::*;

    #[test]
    fn points_are_added_up_to_columns_and_nodes_stay_as_they_were() {
        let now = Timestamp::from_second(1_800_000_123).unwrap();
        let begin = begin(Range::Day, now);
        assert_eq!(begin.as_second(), 1_800_000_000 - 143 * 600);
        let nodes = |booted| NodesByStatus::from([(Status::Booted, booted)]);
        let point = |second, began, nodes| HistoryPoint {
            at: Timestamp::from_second(begin.as_second() + second).unwrap(),
            runs: RunCounts { began, ..RunCounts::default() },
            nodes,
        };
        let points = vec![
            point(0, 1, None),
            point(540, 2, Some(nodes(5))),
            point(600, 4, None),
            point(143 * 600 + 60, 8, Some(nodes(6))),
        ];
        let series =
            HistorySeries { points, nodes_before: Some(nodes(3)), ..HistorySeries::default() };
        let columns = Columns::of(Range::Day, begin, series);
        let shown = |n: usize| (columns.columns[n].runs.began, columns.columns[n].nodes.clone());
        assert_eq!(columns.columns.len(), 144);
        assert_eq!(shown(0), (3, nodes(5)));
        assert_eq!(shown(1), (4, nodes(5)));
        assert_eq!(shown(142), (0, nodes(5)));
        assert_eq!(shown(143), (8, nodes(6)));
        assert_eq!((columns.total().began, columns.end()), (15, 1_800_000_600));
    }
}
