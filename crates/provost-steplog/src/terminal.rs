//! Text from scripts and nodes is hostile: nothing of it may steer a terminal.

use std::fmt::Write;

/// `text` with all that could steer a terminal written out, line breaks included; a tab stays.
pub fn escape(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut safe, c| {
        match c {
            '\t' => safe.push(c),
            c if steers(c) => safe.extend(c.escape_default()),
            c => safe.push(c),
        }
        safe
    })
}

/// As [`escape`], with a blank for each tab: for a column, or a line that is cut to a width.
pub fn escape_cell(text: &str) -> String {
    escape(text).replace('\t', " ")
}

/// A JSON document with all that could steer a terminal written as JSON escapes. Line breaks stay:
/// inside a string there is none. It is the same document.
pub fn escape_json(json: &str) -> String {
    json.chars().fold(String::with_capacity(json.len()), |mut safe, c| {
        if steers(c) && c != '\n' {
            // Writing to a String can't fail, and all of these have four digits.
            let _ = write!(safe, "\\u{:04x}", c as u32);
        } else {
            safe.push(c);
        }
        safe
    })
}

/// Whether `c` is a control character, or turns the direction of writing around and so shows
/// another text than there is (Unicode annex 9, UAX #9).
pub(crate) fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        let hostile = "a\tb\x1b[31mred\r\n\u{9b}1m\u{202e}ü";
        assert_eq!(escape(hostile), "a\tb\\u{1b}[31mred\\r\\n\\u{9b}1m\\u{202e}ü");
        assert_eq!(escape_cell("a\tb\n"), "a b\\n");
    }

    #[test]
    fn a_json_document_stays_the_same() {
        let text = escape_json("{\n\"a\": \"\u{9b}2J\u{202e}\"}");
        assert_eq!(text, "{\n\"a\": \"\\u009b2J\\u202e\"}");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["a"], "\u{9b}2J\u{202e}");
    }
}
