//! Text from scripts and nodes is hostile: nothing of it may steer a terminal.

use std::fmt::Write;
use std::time::Duration;

use jiff::Timestamp;
use provost_record::Cause;

/// Whether `c` can steer a terminal or turn the order of what is read around.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `text` on one line, with all that could steer a terminal written out.
pub(crate) fn line(text: &str) -> String {
    if !text.contains(steers) {
        return text.to_owned();
    }
    text.chars().fold(String::new(), |mut safe, c| {
        match c {
            '\t' => safe.push(' '),
            c if steers(c) => safe.extend(c.escape_default()),
            c => safe.push(c),
        }
        safe
    })
}

/// `text` with its lines kept.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(line)
}

/// A JSON text; what steers is inside strings there, where an escape says the same.
pub(crate) fn json(text: &str) -> String {
    text.chars().fold(String::new(), |mut safe, c| {
        if steers(c) && c != '\n' {
            // Writing to a String can't fail, and all of these have four digits.
            let _ = write!(safe, "\\u{:04x}", c as u32);
        } else {
            safe.push(c);
        }
        safe
    })
}

/// `text`, cut to `width` characters.
pub(crate) fn cut(text: String, width: usize) -> String {
    match text.char_indices().nth(width) {
        None => text,
        Some(_) => text.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// How a step ended: `exit code 7`, `SIGKILL`, `timeout`.
pub(crate) fn ending(cause: Option<Cause>, code: Option<i32>, signal: Option<&str>) -> String {
    match (cause, code, signal) {
        (Some(Cause::Exit) | None, Some(code), _) => format!("exit code {code}"),
        (Some(Cause::Signal) | None, _, Some(signal)) => line(signal),
        (Some(cause), ..) => cause.to_string(),
        (None, None, None) => String::new(),
    }
}

/// How long ago `at` was, in its largest unit.
pub(crate) fn ago(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second() - at.as_second();
    match seconds {
        // The node's clock is ahead.
        ..0 => "0s".into(),
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// A duration in milliseconds, for people.
pub(crate) fn took(ms: u64) -> String {
    let time = Duration::from_millis(ms);
    match time.as_secs() {
        0 => format!("{ms}ms"),
        1..60 => format!("{:.1}s", time.as_secs_f64()),
        s @ 60..3600 => format!("{}m {:02}s", s / 60, s % 60),
        s => format!("{}h {:02}m", s / 3600, s % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(line("a\u{1b}[2J\tb\n\u{9b}1m\u{202e}ü"), "a\\u{1b}[2J b\\n\\u{9b}1m\\u{202e}ü");
        assert_eq!(lines("a\r\nb\u{7}").collect::<Vec<_>>(), ["a", "b\\u{7}"]);
        let text = json("{\"a\": \"\u{9b}2J\"}");
        assert_eq!(text, r#"{"a": "\u009b2J"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["a"], "\u{9b}2J");
    }

    #[test]
    fn long_text_is_cut_by_characters() {
        assert_eq!(cut("äöü".into(), 3), "äöü");
        assert_eq!(cut("äöüß".into(), 3), "äö…");
    }

    #[test]
    fn times_are_short() {
        let at = |s| Timestamp::from_second(s).unwrap();
        let texts = [0, 59, 60, 7199, 90_000].map(|s| ago(at(0), at(s)));
        assert_eq!(texts, ["0s", "59s", "1m", "1h", "1d"]);
        assert_eq!(ago(at(9), at(0)), "0s");
        assert_eq!([38, 7130, 61_000, 3_660_000].map(took), ["38ms", "7.1s", "1m 01s", "1h 01m"]);
    }
}
