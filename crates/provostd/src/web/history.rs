//! The history, drawn: charts without a script, and their values as a table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;

use askama::Template;
use jiff::Timestamp;
use provost_steplog::wording;
use provost_store::{NodesByStatus, Status, StormResult};

use super::numbers::{counted, grouped};
use super::page::render;
use super::tone::tone;
use crate::fleet::history::{Column, Columns, History, Range};
use crate::fleet::snapshot::Snapshot;
use crate::listener::refusal::Refusal;

/// The height of a drawing, in units of its own.
const HEIGHT: u64 = 1000;
/// The least height of what is there at all: about a pixel.
const LEAST: u64 = 15;
/// In how many parts the axis of time is labelled.
const PARTS: usize = 4;
/// Statuses from the bottom up: few nodes that failed are seen beside many others.
const TONES: [&str; 4] = ["bad", "busy", "good", "faint"];

#[derive(Template)]
#[template(path = "history.html")]
struct Content {
    /// Each range: its name, its address, and whether it is shown.
    ranges: Vec<(&'static str, String, bool)>,
    range: &'static str,
    began: String,
    succeeded: String,
    failed: String,
    /// How many columns there are: the width of a drawing.
    width: usize,
    height: u64,
    /// The labels of the axis of time.
    times: Vec<String>,
    runs: Option<Chart>,
    nodes: Option<Chart>,
    /// How nodes are now, in words.
    nodes_now: Vec<String>,
    boots: Option<Chart>,
    /// The times of half of all boots and of 95 of 100.
    boots_in_all: (String, String),
    /// Each storm: when it ended, and its result.
    storms: Vec<(String, String)>,
    statuses: Vec<Status>,
    rows: Vec<Row>,
}

/// A drawing.
struct Chart {
    /// The labels of its axis, from above.
    labels: Vec<String>,
    /// Each with its class of style.
    paths: Vec<(&'static str, String)>,
}

/// A column's values; 0 is empty.
struct Row {
    at: String,
    time: String,
    values: Vec<String>,
}

/// The section of the overview.
pub(super) async fn section(
    history: &History,
    range: Range,
    snapshot: &Snapshot,
) -> Result<String, Refusal> {
    let columns = history.look(range).await?;
    // The last column was counted up to a minute ago; the words say how nodes stand as the rest of the page does.
    let mut nodes = BTreeMap::new();
    for member in &snapshot.members {
        *nodes.entry(member.node.status).or_default() += 1;
    }
    render(&Content { nodes_now: in_words(&nodes), ..Content::of(&columns) })
}

impl Content {
    fn of(columns: &Columns) -> Self {
        let (all, total) = (&columns.columns, columns.total());
        let statuses: BTreeSet<Status> =
            all.iter().flat_map(|column| column.nodes.keys().copied()).collect();
        let statuses: Vec<Status> = statuses.into_iter().collect();
        let percent = |percent| total.boots.percentile(percent).map(wording::milliseconds);
        let range = |range: Range| {
            let href = format!("/?range={}", range.name());
            (range.name(), href, range == columns.range)
        };
        let has_runs = total.began + total.succeeded + total.failed > 0;
        Self {
            ranges: Range::ALL.map(range).into(),
            range: columns.range.name(),
            began: counted(total.began as usize, "run"),
            succeeded: grouped(total.succeeded as usize),
            failed: grouped(total.failed as usize),
            width: all.len(),
            height: HEIGHT,
            times: times(columns),
            runs: has_runs.then(|| runs(columns)),
            nodes: nodes(all),
            nodes_now: all.last().map(|now| in_words(&now.nodes)).unwrap_or_default(),
            boots: boots(all),
            boots_in_all: (percent(50).unwrap_or_default(), percent(95).unwrap_or_default()),
            storms: columns.storms.iter().rev().map(storm).collect(),
            rows: all.iter().map(|column| Row::of(column, columns.range, &statuses)).collect(),
            statuses,
        }
    }
}

/// `512 booted in 6 min 10 s, 3 failed`.
fn storm(result: &StormResult) -> (String, String) {
    let StormResult { storm, ended } = result;
    let took = ended.duration_since(storm.began).try_into().unwrap_or_default();
    let mut text = format!("{} booted in {}", storm.succeeded, wording::duration(took));
    for (count, word) in [(storm.failed, "failed"), (storm.lost, "lost")] {
        if count > 0 {
            // Writing to a String can't fail, here and below.
            let _ = write!(text, ", {count} {word}");
        }
    }
    (time(*ended, "%Y-%m-%d %H:%M"), text)
}

fn time(at: Timestamp, format: &str) -> String {
    at.strftime(format).to_string()
}

/// How a range names its columns.
fn format(range: Range) -> &'static str {
    match range {
        Range::Hour | Range::Day => "%H:%M",
        Range::Week => "%a %H:%M",
        Range::Year => "%Y-%m-%d",
    }
}

fn times(columns: &Columns) -> Vec<String> {
    let format = match columns.range {
        Range::Week => "%a %d",
        Range::Year => "%b %Y",
        short => format(short),
    };
    let (all, count) = (&columns.columns, columns.columns.len());
    let label = |part: usize| all.get(part * count / PARTS).map(|column| time(column.at, format));
    (0..PARTS).filter_map(label).chain(["now".to_owned()]).collect()
}

/// `4 failed`, `8 booted`: in the order of the overview.
fn in_words(nodes: &NodesByStatus) -> Vec<String> {
    let has_failed = |(status, _): &(&Status, &u64)| **status == Status::Failed;
    let (failed, others): (Vec<_>, Vec<_>) = nodes.iter().partition(has_failed);
    let words = |(status, count): (&Status, &u64)| format!("{} {status}", grouped(*count as usize));
    failed.into_iter().chain(others).map(words).collect()
}

/// The end of an axis for values up to `most`: a round number whose half is one too, where it is not 1.
fn round_up(most: u64) -> u64 {
    let mut unit = 1_u64;
    loop {
        if let Some(end) = [1, 2, 4, 6, 8].into_iter().map(|n| n * unit).find(|end| *end >= most) {
            return end;
        }
        unit = unit.saturating_mul(10);
    }
}

fn labels(end: u64) -> Vec<String> {
    match end {
        0 | 1 => vec![end.to_string(), "0".to_owned()],
        _ => vec![grouped(end as usize), grouped(end as usize / 2), "0".to_owned()],
    }
}

fn y(value: u64, end: u64) -> u64 {
    HEIGHT - value.min(end) * HEIGHT / end.max(1)
}

/// Bars that stand on `bases`, next to each other.
fn bars(values: impl Iterator<Item = (u64, u64)>, end: u64) -> String {
    let spans = values.map(|(base, value)| {
        let bottom = y(base, end);
        let top = y(base + value, end);
        (bottom, if value > 0 { top.min(bottom.saturating_sub(LEAST)) } else { bottom })
    });
    let (mut path, mut last) = (String::new(), None::<(usize, u64, u64)>);
    let draw = |path: &mut String, (from, bottom, top): (usize, u64, u64), to: usize| {
        if top < bottom {
            let _ = write!(path, "M{from} {bottom}V{top}H{to}V{bottom}Z");
        }
    };
    let mut count = 0;
    for (n, (bottom, top)) in spans.enumerate() {
        count = n + 1;
        match last {
            // What stays the same is one bar.
            Some((_, same, end)) if (same, end) == (bottom, top) => {}
            before => {
                before.into_iter().for_each(|bar| draw(&mut path, bar, n));
                last = Some((n, bottom, top));
            }
        }
    }
    last.into_iter().for_each(|bar| draw(&mut path, bar, count));
    path
}

/// Runs that ended, well or not, as bars; those that began as a line; storms as a background.
fn runs(columns: &Columns) -> Chart {
    let all = &columns.columns;
    let most = all.iter().map(|column| {
        let runs = &column.runs;
        runs.began.max(runs.succeeded + runs.failed)
    });
    let end = round_up(most.max().unwrap_or_default());
    let failed = bars(all.iter().map(|column| (0, column.runs.failed)), end);
    let succeeded = bars(all.iter().map(|c| (c.runs.failed, c.runs.succeeded)), end);
    let mut began = String::new();
    for (n, column) in all.iter().enumerate().filter(|(_, column)| column.runs.began > 0) {
        let _ = write!(began, "M{n} {}h1", y(column.runs.began, end));
    }
    let (seconds, count) = columns.range.columns();
    let first = columns.end() - seconds * count;
    let mut storms = String::new();
    for StormResult { storm, ended } in &columns.storms {
        let at = |second: i64| (second - first).clamp(0, seconds * count) / seconds;
        let (from, to) = (at(storm.began.as_second()), at(ended.as_second()) + 1);
        let _ = write!(storms, "M{from} 0H{to}V{HEIGHT}H{from}Z");
    }
    let paths = [("storm", storms), ("bad", failed), ("good", succeeded), ("busy line", began)];
    Chart { labels: labels(end), paths: paths.into() }
}

/// How many nodes have which status.
fn nodes(all: &[Column]) -> Option<Chart> {
    let total = |column: &Column| column.nodes.values().sum::<u64>();
    let most = all.iter().map(total).max().filter(|most| *most > 0)?;
    let end = round_up(most);
    let of_tone = |column: &Column, wanted: &str| -> u64 {
        let nodes = column.nodes.iter().filter(|(status, _)| tone(**status) == wanted);
        nodes.map(|(_, count)| count).sum()
    };
    let path = |n: usize| {
        let value = |column: &Column| {
            let below = TONES[..n].iter().map(|below| of_tone(column, below)).sum();
            (below, of_tone(column, TONES[n]))
        };
        (TONES[n], bars(all.iter().map(value), end))
    };
    Some(Chart { labels: labels(end), paths: (0..TONES.len()).map(path).collect() })
}

/// How long boots took: half of them, and 95 of 100.
fn boots(all: &[Column]) -> Option<Chart> {
    let times = |percent| all.iter().map(move |column| column.runs.boots.percentile(percent));
    let most = times(95).flatten().max()?;
    let second = |ms: u64| ms.div_ceil(1000);
    // Of a minute or an hour as well, the half is a round number.
    let unit = match second(most) {
        ..=60 => 1,
        61..=3600 => 60,
        _ => 3600,
    };
    let end = round_up(second(most).div_ceil(unit)) * unit;
    let line = |percent| {
        let mut path = String::new();
        for (n, ms) in times(percent).enumerate().filter_map(|(n, ms)| Some((n, ms?))) {
            let _ = write!(path, "M{n} {}h1", y(ms, end * 1000));
        }
        path
    };
    let label = |seconds: u64| wording::age(Duration::from_secs(seconds));
    let labels = if end == 1 { vec![1, 0] } else { vec![end, end / 2, 0] };
    let paths = vec![("faint line", line(95)), ("good line", line(50))];
    Some(Chart { labels: labels.into_iter().map(label).collect(), paths })
}

impl Row {
    fn of(column: &Column, range: Range, statuses: &[Status]) -> Self {
        let Column { at, runs, nodes } = column;
        let number = |n: u64| if n > 0 { n.to_string() } else { String::new() };
        let percent = |n| runs.boots.percentile(n).map(wording::milliseconds).unwrap_or_default();
        let mut values = [runs.began, runs.succeeded, runs.failed].map(number).to_vec();
        values.extend([percent(50), percent(95)]);
        let of_status = |status| number(nodes.get(status).copied().unwrap_or_default());
        values.extend(statuses.iter().map(of_status));
        Self { at: at.to_string(), time: time(*at, format(range)), values }
    }
}

#[cfg(test)]
mod tests {
    use provost_store::{RunCounts, Storm};

    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        for (most, end) in [(0, 1), (1, 1), (3, 4), (9, 10), (10, 10), (11, 20), (512, 600)] {
            assert_eq!(round_up(most), end, "{most}");
        }
        assert_eq!(labels(600), ["600", "300", "0"]);
        assert_eq!(labels(1), ["1", "0"]);
    }

    #[test]
    fn equal_neighbours_are_one_bar_and_what_is_there_is_seen() {
        let values = [(0, 0), (0, 5), (0, 5), (5, 10)].into_iter();
        assert_eq!(bars(values, 20), "M1 1000V750H3V1000ZM3 750V250H4V750Z");
        assert_eq!(bars([(0, 1)].into_iter(), 1_000_000), "M0 1000V985H1V1000Z");
    }

    #[test]
    fn a_storm_has_its_result() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let storm = Storm { nodes: 515, succeeded: 512, failed: 3, lost: 0, began: at(0) };
        let (_, text) = super::storm(&StormResult { storm, ended: at(370) });
        assert_eq!(text, "512 booted in 6 min 10 s, 3 failed");
    }

    #[test]
    fn a_storm_is_marked_from_its_beginning_to_its_end() {
        let at = |minute: i64| Timestamp::from_second(minute * 60 + 5).unwrap();
        let column =
            |n| Column { at: at(n), runs: RunCounts::default(), nodes: Default::default() };
        let storm = |began, ended| StormResult {
            storm: Storm { began: at(began), ..Storm::default() },
            ended: at(ended),
        };
        // The second began before what is shown.
        let storms = vec![storm(110, 112), storm(90, 101)];
        let columns =
            Columns { range: Range::Hour, columns: (100..160).map(column).collect(), storms };
        let (tone, path) = &runs(&columns).paths[0];
        assert_eq!((*tone, &**path), ("storm", "M10 0H13V1000H10ZM0 0H2V1000H0Z"));
    }

    #[test]
    fn boots_are_drawn_where_some_ended() {
        let mut runs = RunCounts { succeeded: 1, ..RunCounts::default() };
        runs.boots.note(300_000);
        let column = |runs| Column { at: Timestamp::UNIX_EPOCH, runs, nodes: Default::default() };
        let all = [column(RunCounts::default()), column(runs)];
        let chart = boots(&all).unwrap();
        assert_eq!(chart.labels, ["6 min", "3 min", "0 s"]);
        assert!(chart.paths.iter().all(|(_, path)| path.starts_with("M1 1")), "{:?}", chart.paths);
        assert!(boots(&all[..1]).is_none() && nodes(&all).is_none());
    }
}
