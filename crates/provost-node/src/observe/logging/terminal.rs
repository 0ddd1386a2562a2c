//! stderr: messages as lines, and on a terminal one line that is written over and over.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};

use provost_steplog::terminal::{escape, escape_cell};

use super::layer::Sink;
use super::message::{Message, Severity};
use super::message_batch::release;
use super::queue::MessageQueue;

/// Back to the begin of the line, with nothing on it.
const CLEAR: &str = "\r\x1b[K";

/// What takes the console's messages in place of stderr, in order with what else the caller shows there.
pub type ConsoleSink = Arc<dyn Fn(&str) + Send + Sync>;

/// The console. A serial line, a pipe or a terminal may stop taking what is written: nobody waits
/// for it.
pub struct Terminal {
    /// None where there is no room for its thread.
    stderr: Option<MessageQueue>,
    sink: Option<ConsoleSink>,
    /// Whether stderr is a terminal.
    is_terminal: bool,
    verbose: bool,
    progress: Mutex<Progress>,
}

/// How far the running script is, as it was shown last.
#[derive(Default)]
struct Progress {
    /// Whether the terminal's last line shows it.
    is_shown: bool,
    /// The line, where there is no terminal.
    line: String,
}

impl Terminal {
    pub(super) fn new(verbose: bool, sink: Option<ConsoleSink>) -> Self {
        let to_stderr = || {
            MessageQueue::new(|messages| {
                let mut stderr = std::io::stderr();
                messages.iter().for_each(|text| drop(stderr.write_all(&text)));
            })
        };
        let stderr = if sink.is_some() { None } else { to_stderr() };
        let is_terminal = std::io::stderr().is_terminal();
        Self { stderr, sink, is_terminal, verbose, progress: Mutex::default() }
    }

    /// Whether [`Self::progress`] is shown at all.
    pub fn is_live(&self) -> bool {
        self.is_terminal || self.verbose
    }

    /// Shows how far a script is: its name, the time it has taken, and the last line that it
    /// printed, in which secrets are hidden already. On a terminal the next of these takes its
    /// place; elsewhere each new line is shown once.
    pub fn progress(&self, name: &str, took: &str, last: &str) {
        release();
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_terminal {
            let size = rustix::termios::tcgetwinsize(std::io::stderr());
            let width = width(size.map_or(0, |size| size.ws_col)) - 1;
            let text = escape_cell(&format!("{name}  {took}  {last}"));
            let text: String = text.chars().take(width).collect();
            self.show(&format!("{CLEAR}{text}"));
            progress.is_shown = true;
            return;
        }
        let text = escape(&format!("{name}: {last}"));
        if text != progress.line && !last.is_empty() {
            self.show(&prefixed(&[&text]));
            progress.line = text;
        }
    }

    fn show(&self, text: &str) {
        if let Some(sink) = &self.sink {
            return sink(text);
        }
        let Some(stderr) = &self.stderr else {
            // The kernel refused the thread, so nothing runs: the reason is worth the wait.
            let _ = std::io::stderr().write_all(text.as_bytes());
            return;
        };
        let note = |n| format!("dropped {n} messages here: the console is stuck; see provost.log");
        stderr.send(text.as_bytes().to_vec(), |n| prefixed(&[note(n)]).into_bytes());
    }

    pub(super) fn finish(&self) {
        if let Some(stderr) = &self.stderr {
            stderr.finish();
        }
    }
}

impl Sink for Terminal {
    const LEAST: Severity = Severity::Debug;

    fn write(&self, message: &Message) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let clear = if std::mem::take(&mut progress.is_shown) { CLEAR } else { "" };
        self.show(&format!("{clear}{}", prefixed(&message.lines)));
    }
}

/// How many columns a terminal has that says `columns`. A serial console says 0: it doesn't know.
fn width(columns: u16) -> usize {
    if columns == 0 { 80 } else { usize::from(columns).max(20) }
}

/// `lines` as they stand on a console.
pub(crate) fn prefixed(lines: &[impl AsRef<str>]) -> String {
    lines.iter().map(|line| format!("provost: {}\n", line.as_ref())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_does_not_know_its_width_has_80_columns() {
        assert_eq!([0, 3, 132].map(width), [80, 20, 132]);
    }
}
