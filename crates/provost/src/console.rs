//! What is said on the way: one line each, on stderr and in LOG/provost.log.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// The console and the log file beside it. Nothing here can fail or hold up a run: what can't be
/// said is in the journal all the same.
pub(crate) struct Console {
    log: Option<File>,
}

impl Console {
    /// Speaks on stderr and adds to `log`.
    pub(crate) fn new(log: &Path) -> Self {
        let folder = log.parent().map_or(Ok(()), std::fs::create_dir_all);
        let file = folder.and_then(|()| OpenOptions::new().create(true).append(true).open(log));
        Self { log: file.ok() }
    }

    /// Says `text`, which may have several lines.
    pub(crate) fn say(&mut self, text: &str) {
        complain(text);
        if let Some(log) = &mut self.log {
            let now = provost_record::now();
            let lines: String = text.lines().map(|l| format!("{now} {}\n", harmless(l))).collect();
            let _ = log.write_all(lines.as_bytes());
        }
    }
}

/// Says `text` on stderr. A closed stderr is no reason to end.
pub(crate) fn complain(text: &str) {
    let mut stderr = std::io::stderr().lock();
    for line in text.lines() {
        let _ = writeln!(stderr, "provost: {}", harmless(line));
    }
}

/// Puts `text` on stdout, for whoever asked for data. A reader that went away is no error.
pub(crate) fn print(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// The text of a script's output without what would steer a terminal.
pub(crate) fn harmless(text: &str) -> String {
    let shown = |c: char| match c {
        '\t' => "\t".to_owned(),
        c if c.is_control() => c.escape_default().to_string(),
        // Marks that turn the direction of writing would show another text than there is.
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            c.escape_default().to_string()
        }
        c => c.to_string(),
    };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(harmless("a\tb\x1b[31mred\r\u{202e}"), "a\tb\\u{1b}[31mred\\r\\u{202e}");
    }
}
