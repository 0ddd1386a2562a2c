//! Text from scripts and nodes is hostile: all of it is escaped before it is shown.

use provost_steplog::terminal;

/// `text` with its lines kept, each escaped.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(terminal::escape_cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_escaped() {
        assert_eq!(lines("a\r\nb\u{7}\tc").collect::<Vec<_>>(), ["a", "b\\u{7} c"]);
    }
}
