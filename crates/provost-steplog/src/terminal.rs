//! Text from scripts and nodes is hostile: nothing of it may steer a terminal.

use std::borrow::Cow;
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

/// A line as a terminal would show it in the end: without escape sequences, such as those of colours
/// (ECMA-48), and of a line that was written over again and again, as by a progress meter, what was
/// written last. What is no whole sequence stays.
pub fn plain(line: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(line);
    if line.contains(['\x1b', '\u{9b}']) {
        let (mut kept, mut rest) = (String::with_capacity(line.len()), line);
        while let Some(at) = rest.find(['\x1b', '\u{9b}']) {
            kept += &rest[..at];
            rest = &rest[at..];
            // One that is none is kept.
            let length = sequence(rest);
            let next = length.or_else(|| rest.chars().next().map(char::len_utf8)).unwrap_or(1);
            if length.is_none() {
                kept += &rest[..next];
            }
            rest = &rest[next..];
        }
        text = Cow::Owned(kept + rest);
    }
    if text.contains('\r') {
        // What erases the rest of the line is none.
        let last = text.rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or_default();
        text = Cow::Owned(last.to_owned());
    }
    text
}

/// The length of the escape sequence that `text` begins with, in bytes.
fn sequence(text: &str) -> Option<usize> {
    let ends = |rest: &str| rest.find(|c| matches!(c, '@'..='~')).map(|at| at + 1);
    let is_inner = |c: char| matches!(c, ' '..='?');
    let control = text.strip_prefix("\x1b[").or_else(|| text.strip_prefix('\u{9b}'));
    if let Some(rest) = control {
        let inner = rest.len() - rest.trim_start_matches(is_inner).len();
        return (ends(&rest[inner..]) == Some(1)).then_some(text.len() - rest.len() + inner + 1);
    }
    if let Some(rest) = text.strip_prefix("\x1b]") {
        // A title, or a link's address: up to BEL, or ESC and a backslash.
        let end = rest.find(['\x07', '\x1b'])?;
        let end = end + if rest[end..].starts_with('\x07') { 1 } else { 2 };
        return rest.get(..end).filter(|all| all.ends_with(['\x07', '\\'])).map(|_| 2 + end);
    }
    let rest = text.strip_prefix('\x1b')?;
    let inner = rest.len() - rest.trim_start_matches(|c| matches!(c, ' '..='/')).len();
    let is_final = |c: char| matches!(c, '0'..='~');
    rest[inner..].starts_with(is_final).then_some(2 + inner)
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

/// Whether `c` is a control character, breaks the line, can't be seen, or turns the direction of writing around,
/// and so shows another text than there is (Unicode's categories Cc, Zl, Zp and, of those up to U+FFFF, Cf).
pub(crate) fn steers(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        let hostile = "a\tb\x1b[31mred\r\n\u{9b}1m\u{202e}ü";
        assert_eq!(escape(hostile), "a\tb\\u{1b}[31mred\\r\\n\\u{9b}1m\\u{202e}ü");
        assert_eq!(escape_cell("a\tb\n"), "a b\\n");
        for unseen in
            ['\u{ad}', '\u{61c}', '\u{200b}', '\u{2028}', '\u{2029}', '\u{2060}', '\u{feff}']
        {
            assert_eq!(escape(&unseen.to_string()), unseen.escape_unicode().to_string());
        }
    }

    #[test]
    fn a_line_is_plain_without_colours_and_what_was_written_over() {
        for (line, expected) in [
            ("none\tof these", "none\tof these"),
            ("\x1b[1;31mred\x1b[0m and \u{9b}32mgreen\x1b[K", "red and green"),
            ("\x1b]0;title\x07a \x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "a link"),
            ("\x1b(Bset back\x1b7", "set back"),
            ("1 %\r50 %\r100 %", "100 %"),
            ("1 %\r100 %\r      \r", "100 %"),
            ("\x1b[2Kdone\r", "done"),
            ("cut o\x1b[3", "cut o\x1b[3"),
            ("\x1b]0;no end", "\x1b]0;no end"),
            ("\x1b", "\x1b"),
            ("\x1b[ü", "\x1b[ü"),
        ] {
            assert_eq!(plain(line), expected, "{line:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_line_may_be_made_plain(line in "[\x1b\u{9b}\x07\r\\[\\]; 0-9a-z\\\\ü]{0,12}") {
            proptest::prop_assert!(plain(&line).len() <= line.len());
        }
    }

    #[test]
    fn a_json_document_stays_the_same() {
        let text = escape_json("{\n\"a\": \"\u{9b}2J\u{202e}\"}");
        assert_eq!(text, "{\n\"a\": \"\\u009b2J\\u202e\"}");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["a"], "\u{9b}2J\u{202e}");
    }
}
