//! Data goes to stdout, all else to stderr. Whoever reads may go away at any time.

use std::io::{self, ErrorKind, IsTerminal, Write};

use crate::failure::Failure;
use crate::text;

/// How wide a table may be where no terminal says.
const WIDTH: usize = 100;
/// A table that is narrower says nothing.
const NARROWEST: usize = 60;

/// Prints data.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        // `| head` has seen enough.
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(e) => Err(Failure::new(format!("writing the output: {e}"), "see where stdout goes")),
        Ok(()) => Ok(()),
    }
}

/// Says how things stand.
pub(crate) fn say(message: &str) {
    // Nobody may be there to read it.
    let _ = writeln!(io::stderr(), "{message}");
}

/// Says what went wrong and what to do.
pub(crate) fn complain(failure: &Failure) {
    let mut error = text::lines(&failure.error);
    say(&format!("provostctl: {}", error.next().unwrap_or_default()));
    error.for_each(|line| say(&line));
    if !failure.hint.is_empty() {
        say(&format!("  hint: {}", text::line(&failure.hint)));
    }
}

/// Whether a person looks at stdout.
pub(crate) fn to_terminal() -> bool {
    io::stdout().is_terminal()
}

/// How wide a line may be.
pub(crate) fn width() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    let columns = size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
    columns.unwrap_or(WIDTH).max(NARROWEST)
}

/// Colours, where a person looks and wants them (<https://no-color.org>).
#[derive(Clone, Copy)]
pub(crate) struct Paint(bool);

impl Paint {
    pub(crate) fn new() -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self(to_terminal() && !unwanted)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.sgr("1;31", text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.sgr("32", text)
    }

    pub(crate) fn busy(self, text: &str) -> String {
        self.sgr("33", text)
    }

    pub(crate) fn faint(self, text: &str) -> String {
        self.sgr("2", text)
    }

    pub(crate) fn strong(self, text: &str) -> String {
        self.sgr("1", text)
    }

    fn sgr(self, code: &str, text: &str) -> String {
        match self.0 && !text.is_empty() {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}
