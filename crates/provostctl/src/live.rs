use std::io::{self, IsTerminal, Write};

use provost_steplog::terminal::escape_cell;

use crate::output;

/// A line at the bottom of the terminal on stderr, which is written over as things go on. Where there
/// is no terminal, there is no such line.
pub(crate) struct LiveLine {
    is_terminal: bool,
}

impl LiveLine {
    pub(crate) fn new() -> Self {
        Self { is_terminal: io::stderr().is_terminal() }
    }

    /// Whether anybody sees it.
    pub(crate) fn is_shown(&self) -> bool {
        self.is_terminal
    }

    /// Writes `text` over what is there, cut to the terminal's width.
    pub(crate) fn show(&self, text: &str) {
        if self.is_terminal {
            // The last column stays empty: a character there may move the cursor to the next line.
            let most = usize::from(output::columns(io::stderr()).unwrap_or(80)).saturating_sub(1);
            let text: String = escape_cell(text).chars().take(most).collect();
            write(&format!("\r{text}\x1b[K"));
        }
    }
}

impl Drop for LiveLine {
    fn drop(&mut self) {
        if self.is_terminal {
            write("\r\x1b[K");
        }
    }
}

fn write(text: &str) {
    // Fails where stderr is closed.
    let _ = io::stderr().write_all(text.as_bytes());
}
