//! Text from scripts and nodes is hostile: all of it is escaped before it is shown.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use provost_record::{terminal, wording};
use provost_store::RunningFor;

/// A node that has said nothing of a stage for so long may have no network: when it did is shown.
const OLD: SignedDuration = SignedDuration::from_secs(90);

/// `text` with its lines kept, each escaped.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(terminal::escape_cell)
}

/// How long ago `at` was, in its largest unit. A clock that is ahead counts as now.
pub(crate) fn ago(at: Timestamp, now: Timestamp) -> String {
    wording::age(now.duration_since(at).try_into().unwrap_or_default())
}

/// `for 4 min: the last line`, of a stage that runs; not escaped.
pub(crate) fn running_for(running: &RunningFor, now: Timestamp) -> String {
    let mut text = format!("for {}", wording::age(Duration::from_millis(running.elapsed_ms)));
    if now.duration_since(running.at) > OLD {
        text.push_str(&format!(", {} ago", ago(running.at, now)));
    }
    if let Some(line) = &running.line {
        text.push_str(&format!(": {line}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_escaped() {
        assert_eq!(lines("a\r\nb\u{7}\tc").collect::<Vec<_>>(), ["a", "b\\u{7} c"]);
    }

    #[test]
    fn a_stage_that_runs_shows_for_how_long_and_its_last_line() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let line = Some("copying".to_owned());
        let running = RunningFor { elapsed_ms: 250_000, line, at: at(0) };
        assert_eq!(running_for(&running, at(30)), "for 4 min: copying");
        assert_eq!(running_for(&running, at(180)), "for 4 min, 3 min ago: copying");
        let running = RunningFor { line: None, ..running };
        assert_eq!(running_for(&running, at(0)), "for 4 min");
    }

    #[test]
    fn a_time_in_the_future_is_now() {
        let at = |second| Timestamp::from_second(second).unwrap();
        assert_eq!(ago(at(0), at(7199)), "1 h");
        assert_eq!(ago(at(9), at(0)), "0 s");
    }
}
