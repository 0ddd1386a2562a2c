//! The progress of a storm, drawn.

use std::fmt::Write;

use crate::fleet::recent::{SECONDS, Second};

/// The shortest time that is drawn, in seconds.
const SHORTEST: i64 = 60;
/// The drawing's size, in units of its own.
const WIDTH: i64 = 600;
const HEIGHT: u64 = 100;

/// How many runs have begun, succeeded and failed since a time, drawn as three lines.
pub(super) struct Chart {
    /// How long ago it begins, in seconds.
    pub(super) seconds: i64,
    pub(super) began: u64,
    pub(super) succeeded: u64,
    pub(super) failed: u64,
    /// Records within the last whole second.
    pub(super) records: u64,
    /// The lines, as paths of SVG; empty where nothing happened.
    pub(super) began_line: String,
    pub(super) succeeded_line: String,
    pub(super) failed_line: String,
}

impl Chart {
    /// Of `seconds`, at the second `now`.
    pub(super) fn new(seconds: &[Second], now: i64) -> Self {
        let is_drawn = |second: &&Second| second.at > now - SECONDS;
        let seconds: Vec<&Second> = seconds.iter().filter(is_drawn).collect();
        let first = seconds.first().map_or(now, |first| first.at);
        let length = (now - first + 1).max(SHORTEST);
        let sum = |number: fn(&Second) -> u64| seconds.iter().map(|s| number(s)).sum::<u64>();
        let totals = [sum(|s| s.began), sum(|s| s.succeeded), sum(|s| s.failed)];
        let most = totals.into_iter().max().unwrap_or_default().max(1);
        let line = |number: fn(&Second) -> u64| {
            if sum(number) == 0 {
                return String::new();
            }
            let y = |n: u64| HEIGHT - n * HEIGHT / most;
            let (mut path, mut total) = (format!("M0 {HEIGHT}"), 0);
            for second in seconds.iter().filter(|second| number(second) > 0) {
                let x = (second.at - (now - length)) * WIDTH / length;
                total += number(second);
                // Writing to a String can't fail.
                let _ = write!(path, "H{x}V{}", y(total));
            }
            path + &format!("H{WIDTH}")
        };
        let last = seconds.iter().find(|second| second.at == now - 1);
        let [began, succeeded, failed] = totals;
        Self {
            seconds: length,
            began,
            succeeded,
            failed,
            records: last.map_or(0, |last| last.records),
            began_line: line(|s| s.began),
            succeeded_line: line(|s| s.succeeded),
            failed_line: line(|s| s.failed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_rise_where_something_happened() {
        let second = |at, began, failed| Second { at, records: 9, began, succeeded: 0, failed };
        let chart = Chart::new(&[second(970, 3, 0), second(999, 1, 2)], 1000);
        assert_eq!((chart.seconds, chart.began, chart.failed, chart.records), (60, 4, 2, 9));
        assert_eq!(chart.began_line, "M0 100H300V25H590V0H600");
        assert_eq!(chart.failed_line, "M0 100H590V50H600");
        assert_eq!(chart.succeeded_line, "");
        let nothing = Chart::new(&[], 1000);
        assert_eq!((nothing.began, nothing.records), (0, 0));
    }
}
