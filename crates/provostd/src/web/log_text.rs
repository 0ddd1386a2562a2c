//! The text of a step's log, as `provost log` shows it, in lines with a class of style each.

use std::io::Cursor;

use provost_steplog::Paint;
use provost_steplog::view::{Part, Reader, View};

/// How much of a line is shown, in characters.
const MOST_LINE: usize = 2_000;

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LogLine {
    /// The class of style: of a command, of what is said about it, or none.
    pub(super) tone: &'static str,
    pub(super) text: String,
}

/// The log's lines: of many, `first` from the start and `last` from the end.
pub(super) fn lines(log: Vec<u8>, part: Part, first: usize, last: usize) -> Vec<LogLine> {
    // Output stands behind `|` only where the commands are shown as well.
    let is_plain = part == Part::Output;
    let reader = Reader { is_terminal: true, paint: Paint::always(false), width: None };
    let view = View { part, failed: false, json: false, reader };
    let mut text = Vec::new();
    // Both are in memory, where nothing fails.
    let _ = match part {
        Part::Commands => view.show(Cursor::new(log), &mut text),
        Part::All | Part::Output => view.follow(Cursor::new(log), &mut text),
    };
    let text = String::from_utf8_lossy(&text);
    let count = text.lines().count();
    let left_out = count.saturating_sub(first + last);
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        match left_out {
            1.. if index == first => {
                let text = format!("… {left_out} lines are left out here");
                lines.push(LogLine { tone: "busy", text });
            }
            1.. if index > first && index < first + left_out => {}
            _ => lines
                .push(LogLine { tone: if is_plain { "" } else { tone(line) }, text: cut(line) }),
        }
    }
    lines
}

fn tone(line: &str) -> &'static str {
    match line.trim_start().as_bytes() {
        [b'|', ..] => "",
        [b'#', ..] if line.contains("FAILED") => "bad",
        [b'#', ..] => "faint",
        [b'$', ..] if line.contains("  # FAILED: ") => "command bad",
        [b'$', ..] => "command",
        _ => "",
    }
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(MOST_LINE) {
        None => line.to_owned(),
        Some((at, _)) => {
            let more = line[at..].chars().count();
            format!("{}… {more} more characters", &line[..at])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_bounded_and_its_lines_are_told_apart() {
        let mut log = String::new();
        for rest in ["exec F 2 1 false", "exit F 2 1 3ms", "stdout F $ # FAILED: \u{1b}[2J\u{1b}"] {
            log.push_str(&format!("2026-11-20T17:00:00.000Z {rest}\n"));
        }
        let line = |tone, text: &str| LogLine { tone, text: text.to_owned() };
        let expected = [
            line("command bad", "$ false  # FAILED: exit status 1, 3 ms"),
            line("", "| $ # FAILED: \\u{1b}"),
        ];
        assert_eq!(lines(log.clone().into_bytes(), Part::All, 10, 10), expected);
        let long = format!("2026-11-20T17:00:00.000Z stdout F {}\n", "x".repeat(1_000_000));
        let many = long.repeat(3) + &log.repeat(100);
        let shown = lines(many.into_bytes(), Part::Output, 1, 2);
        let texts: Vec<usize> = shown.iter().map(|line| line.text.chars().count()).collect();
        assert_eq!((texts.len(), shown[1].tone), (4, "busy"), "{texts:?}");
        assert!(shown[0].text.ends_with(" more characters"));
    }
}
