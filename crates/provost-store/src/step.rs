//! How the steps of all nodes ended last, each script by itself.

use std::collections::BTreeMap;

use provost_record::{Cause, Outcome, Phase, Record};

use crate::Answer;

/// The longest that a step is said to have taken, in milliseconds: a hundred years. A node may report any number, and
/// sums of more would overflow in a database.
const LONGEST: u64 = 100 * 365 * 86_400_000;
/// How many nodes a report names in each of its lists.
pub const MOST_STEPS: usize = 50;

/// How a script ended last on one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The node.
    pub node: String,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// Why it failed; none if it succeeded.
    pub cause: Option<Cause>,
    /// Since which generation of the bundle it has ended so, well or not; 0 where that isn't known.
    pub since: u64,
}

/// What a script took on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepTime {
    /// The node.
    pub node: String,
    /// The script.
    pub script: String,
    /// How long it took last, in milliseconds.
    pub ms: u64,
    /// What it took before, when it ended well; none where it hasn't.
    pub usual: Option<u64>,
    /// Whether it ended well last.
    pub succeeded: bool,
}

impl StepTime {
    /// What it usually takes, the last time included. The stores have the same sum.
    pub fn next_usual(&self) -> Option<u64> {
        match self.succeeded {
            true => Some((3 * self.usual.unwrap_or(self.ms) + self.ms) / 4),
            false => self.usual,
        }
    }
}

/// What scripts take.
pub trait StepTimes {
    /// What each script takes on half of the nodes on which it ended well last, in milliseconds; of scripts with at
    /// least `least` such nodes.
    fn usual_times(&self, least: u64) -> Answer<'_, BTreeMap<String, u64>>;

    /// The steps that ended well last, and took at least `ms` milliseconds.
    fn long_steps(&self, ms: u64) -> Answer<'_, Vec<StepTime>>;

    /// Those of `steps`, a node and a script each, that have ended.
    fn step_times(&self, steps: Vec<(String, String)>) -> Answer<'_, Vec<StepTime>>;
}

/// A script that nodes have run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptSummary {
    /// Its name; `fetch` for what precedes all scripts.
    pub name: String,
    /// On how many nodes it has ended.
    pub nodes: u64,
    /// On how many of these it failed last.
    pub failed: u64,
}

/// How a script ended last on all nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptReport {
    /// On how many nodes it has ended.
    pub nodes: u64,
    /// On how many of these it failed last.
    pub failed: u64,
    /// The time within which it ended on half of the nodes, in milliseconds …
    pub p50: u64,
    /// … and on 95 of 100.
    pub p95: u64,
    /// The longest time.
    pub max: u64,
    /// The nodes on which it took longest, the slowest first.
    pub slowest: Vec<Step>,
    /// The nodes on which it failed, by name.
    pub failures: Vec<Step>,
    /// The first generation with which it failed on a node where it fails now.
    pub failing_since: Option<u64>,
    /// How long it took on how many nodes.
    pub histogram: Histogram,
}

/// How many times of a script have which length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Where the first bar begins, in milliseconds: the shortest time.
    pub from: u64,
    /// The width of a bar, in milliseconds.
    pub step: u64,
    /// How many times are in each bar.
    pub counts: Vec<u64>,
    /// How many are longer: a few of these would push all others into one bar.
    pub longer: u64,
}

/// How many bars a histogram has at most.
const MOST_BARS: u64 = 24;
/// How many times as long as 95 of 100 a time may be that the bars still reach to.
const FAR: u64 = 3;

impl Histogram {
    /// Of `times`, the shortest first, of which 95 of 100 end within `p95`.
    fn of(times: &[u64], p95: u64) -> Self {
        let (Some(from), Some(max)) = (times.first().copied(), times.last().copied()) else {
            return Self::default();
        };
        let to = if max > p95.saturating_mul(FAR) { p95 + p95 / 2 } else { max };
        let step = (to.saturating_sub(from) / MOST_BARS + 1).max(1);
        let mut histogram = Self { from, step, ..Self::default() };
        for time in times {
            if *time > to {
                histogram.longer += 1;
                continue;
            }
            let bar = ((time - from) / step) as usize;
            histogram.counts.resize(histogram.counts.len().max(bar + 1), 0);
            histogram.counts[bar] += 1;
        }
        histogram
    }
}

/// Makes a [`ScriptReport`] of steps, in any order.
#[derive(Default)]
pub(crate) struct Reporting {
    report: ScriptReport,
    times: Vec<u64>,
}

impl Reporting {
    pub(crate) fn add(&mut self, step: Step) {
        let report = &mut self.report;
        report.nodes += 1;
        self.times.push(step.ms);
        if step.cause.is_some() {
            report.failed += 1;
            let known = Some(step.since).filter(|since| *since > 0);
            report.failing_since = [report.failing_since, known].into_iter().flatten().min();
            keep(&mut report.failures, &step, |a, b| a.node.cmp(&b.node));
        }
        keep(&mut report.slowest, &step, |a, b| b.ms.cmp(&a.ms).then_with(|| a.node.cmp(&b.node)));
    }

    pub(crate) fn report(mut self) -> ScriptReport {
        self.times.sort_unstable();
        // The nearest rank: a time that a node had.
        let rank = |percent: usize| {
            let at = (self.times.len() * percent).div_ceil(100).saturating_sub(1);
            self.times.get(at).copied().unwrap_or_default()
        };
        let (p50, p95, max) = (rank(50), rank(95), rank(100));
        let histogram = Histogram::of(&self.times, p95);
        ScriptReport { p50, p95, max, histogram, ..self.report }
    }
}

/// Keeps the first of all steps in this order.
fn keep(kept: &mut Vec<Step>, step: &Step, order: impl Fn(&Step, &Step) -> std::cmp::Ordering) {
    let at = kept.partition_point(|other| order(other, step).is_lt());
    if at < MOST_STEPS {
        kept.truncate(MOST_STEPS - 1);
        kept.insert(at, step.clone());
    }
}

/// What a record says of the last end of its step: the script, the time and the cause. None if it is
/// of none that has run.
pub(crate) fn ended(record: &Record) -> Option<(&str, u64, Option<Cause>)> {
    let script = record.stage.as_deref()?;
    if record.phase != Phase::StageEnd || record.skipped.is_some() {
        return None;
    }
    let cause = match record.result? {
        Outcome::Success => None,
        // How a step of a newer program ended isn't known; its record says it in its own words.
        Outcome::Other(_) => return None,
        Outcome::Failure => Some(record.cause.unwrap_or(Cause::Exit)),
    };
    Some((script, record.duration_ms?.min(LONGEST), cause))
}

/// How steps ended last: by node and script.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) struct StepOutcomes<'r, R>(pub(crate) BTreeMap<(&'r str, &'r str), StepOutcome<R>>);

/// How a step ended last.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) struct StepOutcome<R> {
    /// How long it took, in milliseconds.
    pub(crate) ms: i64,
    /// Why it failed, if it did.
    pub(crate) cause: Option<Cause>,
    /// The generation of the bundle with which it began to fail, or to succeed, as far as the batch says.
    pub(crate) since: i64,
    /// Whether it ended otherwise before, in the same batch: then what is stored of it is replaced.
    pub(crate) is_change: bool,
    /// The run: with it this is forgotten.
    pub(crate) run: R,
}

#[cfg(any(feature = "sqlite", feature = "postgres"))]
impl<R> Default for StepOutcomes<'_, R> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

#[cfg(any(feature = "sqlite", feature = "postgres"))]
impl<'r, R> StepOutcomes<'r, R> {
    /// Adds the end of a step, if `record` is of one. `bundle` is the generation that the node had then.
    pub(crate) fn add(&mut self, node: &'r str, record: &'r Record, bundle: u64, run: R) {
        let Some((script, ms, cause)) = ended(record) else { return };
        let bundle = bundle.min(i64::MAX as u64) as i64;
        let before = self.0.get(&(node, script));
        let (since, is_change) = match before {
            Some(before) if before.cause.is_some() == cause.is_some() => {
                (before.since, before.is_change)
            }
            Some(_) => (bundle, true),
            None => (bundle, false),
        };
        self.0.insert((node, script), StepOutcome { ms: ms as i64, cause, since, is_change, run });
    }
}

/// A cause by its word in a table.
pub(crate) fn cause_of(word: Option<&str>) -> Option<Cause> {
    word.map(Cause::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_ranks_and_the_worst_nodes() {
        let step = |n: u64| Step {
            node: format!("cn{n:03}"),
            ms: n * 10,
            cause: (n > 190).then_some(Cause::Exit),
            since: n,
        };
        let mut reporting = Reporting::default();
        (1..=200).rev().for_each(|n| reporting.add(step(n)));
        let report = reporting.report();
        assert_eq!((report.nodes, report.failed, report.failing_since), (200, 10, Some(191)));
        assert_eq!((report.p50, report.p95, report.max), (1000, 1900, 2000));
        assert_eq!((report.slowest.len(), &*report.slowest[0].node), (MOST_STEPS, "cn200"));
        assert_eq!((report.failures.len(), &*report.failures[0].node), (10, "cn191"));
        assert_eq!(Reporting::default().report(), ScriptReport::default());
    }

    #[test]
    fn a_histogram_has_each_time_once_and_isnt_squeezed_by_a_few() {
        let of = |times: &[u64], p95| Histogram::of(times, p95);
        let times: Vec<u64> = (100..=580).step_by(10).collect();
        let even = of(&times, 560);
        assert_eq!((even.from, even.step, even.longer), (100, 21, 0));
        assert_eq!((even.counts.len(), even.counts.iter().sum::<u64>()), (23, 49));
        let few = of(&[10, 11, 12, 13, 9_000], 13);
        assert_eq!(few, Histogram { from: 10, step: 1, counts: vec![1, 1, 1, 1], longer: 1 });
        let same = of(&[7, 7, 7], 7);
        assert_eq!(same, Histogram { from: 7, step: 1, counts: vec![3], longer: 0 });
        assert_eq!(of(&[], 0), Histogram::default());
        assert_eq!(of(&[0, 0, 5], 0).longer, 1, "{:?}", of(&[0, 0, 5], 0));
    }
}
