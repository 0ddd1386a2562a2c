use std::io::{self, BufWriter, IsTerminal, Write};

use crate::Paint;
use crate::terminal::{escape, plain};

/// Why a log wasn't shown to its end.
#[derive(Debug, thiserror::Error)]
pub enum ShowError {
    /// The log can't be read.
    #[error("reading the log")]
    Read(#[source] io::Error),
    /// What is shown can't be written.
    #[error("writing the output")]
    Write(#[source] io::Error),
}

/// Who reads what is shown.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// Whether it is a terminal, which nothing from a script may steer.
    pub is_terminal: bool,
    /// Its colours.
    pub paint: Paint,
    /// How many characters a line of a table may have; none where it may be of any length.
    pub width: Option<usize>,
}

impl Reader {
    /// The reader of standard output.
    pub fn of_stdout() -> Self {
        let stdout = io::stdout();
        let size = rustix::termios::tcgetwinsize(&stdout).ok();
        // A serial console says 0: it doesn't know.
        let width = size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
        Self { is_terminal: stdout.is_terminal(), paint: Paint::of_stdout(), width }
    }
}

/// What is written for a reader.
pub(super) struct Page<W: Write> {
    out: BufWriter<W>,
    pub(super) reader: Reader,
    /// Whether the reader sees each line as soon as it is in the log.
    is_live: bool,
}

impl<W: Write> Page<W> {
    pub(super) fn new(out: W, reader: Reader) -> Self {
        Self { out: BufWriter::new(out), reader, is_live: false }
    }

    pub(super) fn live(out: W, reader: Reader) -> Self {
        Self { is_live: true, ..Self::new(out, reader) }
    }

    /// What there is to see of a line of the log is written.
    pub(super) fn line_ends(&mut self) -> Result<(), ShowError> {
        if self.is_live { self.out.flush().map_err(ShowError::Write) } else { Ok(()) }
    }

    /// Writes our own words.
    pub(super) fn put(&mut self, text: &str) -> Result<(), ShowError> {
        self.out.write_all(text.as_bytes()).map_err(ShowError::Write)
    }

    /// Writes what a script has made: as it is, or plain and harmless for a terminal.
    pub(super) fn put_hostile(&mut self, text: &[u8]) -> Result<(), ShowError> {
        match self.reader.is_terminal {
            true => self.put(&escape(&plain(&String::from_utf8_lossy(text)))),
            false => self.out.write_all(text).map_err(ShowError::Write),
        }
    }

    /// The same, of text that is to be painted before it is written.
    pub(super) fn harmless(&self, text: &str) -> String {
        if self.reader.is_terminal { escape(text) } else { text.to_owned() }
    }

    pub(super) fn finish(mut self) -> Result<(), ShowError> {
        self.out.flush().map_err(ShowError::Write)
    }
}
