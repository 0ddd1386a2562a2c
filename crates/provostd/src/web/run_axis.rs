//! The runs of a node on one axis of time.

use jiff::{SignedDuration, Timestamp};
use provost_record::{Outcome, Run};
use provost_steplog::wording;

use super::percent::Percent;

/// How wide a run is at least, in thousandths of the axis: it is to be seen.
const NARROWEST: u64 = 6;
/// The shortest axis.
const SHORTEST: SignedDuration = SignedDuration::from_mins(10);
/// How many marks of time it has.
const TICKS: u64 = 3;

/// The axis.
pub(super) struct RunAxis {
    /// The oldest first.
    pub(super) runs: Vec<Bar>,
    pub(super) ticks: Vec<Tick>,
    /// What it shows, in words.
    pub(super) label: String,
}

/// A run.
pub(super) struct Bar {
    pub(super) x: Percent,
    pub(super) width: Percent,
    pub(super) tone: &'static str,
    pub(super) href: String,
    pub(super) title: String,
}

/// A time.
pub(super) struct Tick {
    pub(super) x: Percent,
    /// How the text stands beside it, in the words of SVG.
    pub(super) anchor: &'static str,
    pub(super) text: String,
}

impl RunAxis {
    /// Of runs that have a beginning, until `now`; none where there are none.
    pub(super) fn new(runs: &[Run], now: Timestamp) -> Option<Self> {
        let began: Vec<(&Run, Timestamp)> =
            runs.iter().filter_map(|run| Some((run, run.started?))).collect();
        let first = began.iter().map(|(_, at)| *at).min()?;
        // The node's clock may be ahead of ours.
        let last = began.iter().map(|(run, at)| end(run, *at)).max()?.max(now);
        let first = first.min(last.checked_sub(SHORTEST).unwrap_or(first));
        let whole = millis(first, last).max(1);
        let part = |ms: u64| ms.saturating_mul(1000) / whole;
        let mut bars: Vec<Bar> = began
            .iter()
            .map(|(run, at)| {
                let took = millis(*at, end(run, *at));
                let width = part(took).max(NARROWEST);
                let (result, tone) = match run.result {
                    Some(Outcome::Success) => ("succeeded", "good"),
                    Some(Outcome::Failure) => ("failed", "bad"),
                    _ => ("has no end", "busy"),
                };
                let after =
                    run.duration_ms.map(|ms| format!(" after {}", wording::milliseconds(ms)));
                let after = after.unwrap_or_default();
                Bar {
                    x: Percent(part(millis(first, *at)).min(1000 - NARROWEST)),
                    width: Percent(width),
                    tone,
                    href: format!("#run-{}-{}", run.run, run.service),
                    title: format!("{} of {at} {result}{after}", run.service),
                }
            })
            .collect();
        bars.reverse();
        let is_long = last.duration_since(first) > SignedDuration::from_hours(20);
        let tick = |index: u64| {
            let ms = whole * index / (TICKS - 1);
            let at = first.checked_add(SignedDuration::from_millis(ms.cast_signed()));
            let at = at.unwrap_or(last);
            let anchor = match index {
                0 => "start",
                _ if index == TICKS - 1 => "end",
                _ => "middle",
            };
            let format = if is_long { "%Y-%m-%d %H:%M" } else { "%H:%M:%S" };
            Tick {
                x: Percent(1000 * index / (TICKS - 1)),
                anchor,
                text: at.strftime(format).to_string(),
            }
        };
        let label = format!("{} from {first} to {last}", wording::count(bars.len(), "run"));
        Some(Self { runs: bars, ticks: (0..TICKS).map(tick).collect(), label })
    }
}

fn end(run: &Run, began: Timestamp) -> Timestamp {
    let took = SignedDuration::from_millis(run.duration_ms.unwrap_or_default().cast_signed());
    began.checked_add(took).unwrap_or(began)
}

fn millis(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.duration_since(from).as_millis()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, at: &str, took: u64, result: Option<Outcome>) -> Run {
        let started = Some(at.parse().unwrap());
        let (run, service) = (name.to_owned(), "boot".to_owned());
        Run { run, service, started, duration_ms: Some(took), result, ..Run::default() }
    }

    #[test]
    fn runs_stand_where_they_began() {
        let runs = [
            run("b", "2026-11-20T18:00:00Z", 60_000, Some(Outcome::Failure)),
            run("a", "2026-11-20T17:00:00Z", 1, Some(Outcome::Success)),
        ];
        let now = "2026-11-20T19:00:00Z".parse().unwrap();
        let axis = RunAxis::new(&runs, now).unwrap();
        let bars: Vec<_> = axis.runs.iter().map(|bar| (bar.x.0, bar.width.0, bar.tone)).collect();
        assert_eq!(bars, [(0, 6, "good"), (500, 8, "bad")]);
        let ticks: Vec<&str> = axis.ticks.iter().map(|tick| tick.text.as_str()).collect();
        assert_eq!(ticks, ["17:00:00", "18:00:00", "19:00:00"]);
        assert_eq!(axis.runs[1].href, "#run-b-boot");
        assert!(RunAxis::new(&[], now).is_none());
        // A clock that is a year ahead breaks nothing.
        let ahead = [run("c", "2027-11-20T18:00:00Z", 60_000, None)];
        assert_eq!(RunAxis::new(&ahead, now).unwrap().runs[0].tone, "busy");
    }
}
