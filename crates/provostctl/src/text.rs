//! Text from scripts and nodes is hostile: all of it is escaped before it is shown.

use jiff::Timestamp;
use provost_record::{terminal, wording};

/// `text` with its lines kept, each escaped.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(terminal::escape_cell)
}

/// How long ago `at` was, in its largest unit. A clock that is ahead counts as now.
pub(crate) fn ago(at: Timestamp, now: Timestamp) -> String {
    wording::age(now.duration_since(at).try_into().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_escaped() {
        assert_eq!(lines("a\r\nb\u{7}\tc").collect::<Vec<_>>(), ["a", "b\\u{7} c"]);
    }

    #[test]
    fn a_time_in_the_future_is_now() {
        let at = |second| Timestamp::from_second(second).unwrap();
        assert_eq!(ago(at(0), at(7199)), "1 h");
        assert_eq!(ago(at(9), at(0)), "0 s");
    }
}
