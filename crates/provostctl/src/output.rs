//! Data goes to stdout, everything else to stderr. Both may be closed at any time.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;

use provost_steplog::terminal::escape_cell;

use crate::failure::Failure;
use crate::text;

/// The narrowest table, in columns: with less, a table has no room for its last column.
const NARROWEST: u16 = 60;

/// Prints data.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    written(out.write_all(bytes).and_then(|()| out.flush()))
}

/// Whether there is a terminal to ask at.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a question at the terminal. Everything but a clear yes is a no.
pub(crate) fn ask(question: &str) -> bool {
    // Fails where stderr is closed.
    let _ = write!(io::stderr(), "{question}");
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).is_ok()
        && ["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str())
}

/// The result of writing to stdout. A closed pipe is no error.
pub(crate) fn written(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        // `| head` has seen enough.
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(e) => Err(Failure::new(format!("writing the output: {e}"), "check where stdout goes")),
        Ok(()) => Ok(()),
    }
}

/// Prints a note for people.
pub(crate) fn note(message: &str) {
    // Fails where stderr is closed.
    let _ = writeln!(io::stderr(), "{message}");
}

/// Shows how far something is: on a terminal in one line, which the next call replaces.
pub(crate) fn progress(line: &str) {
    let mut err = io::stderr();
    if !err.is_terminal() {
        return note(line);
    }
    let columns = rustix::termios::tcgetwinsize(&err).map_or(0, |size| size.ws_col);
    let columns = if columns == 0 { usize::MAX } else { usize::from(columns) };
    let shown: String = line.chars().take(columns.saturating_sub(1)).collect();
    // Back to the first column, and clear the rest of the line (ECMA-48). Fails where stderr is closed.
    let _ = write!(err, "\r{shown}\x1b[K").and_then(|()| err.flush());
}

/// Ends the line of [`progress`], if `shown` isn't empty.
pub(crate) fn end_progress(shown: &str) {
    if !shown.is_empty() && io::stderr().is_terminal() {
        note("");
    }
}

/// Prints an error and its hint.
pub(crate) fn error(failure: &Failure) {
    let mut error = text::lines(&failure.error);
    note(&format!("provostctl: {}", error.next().unwrap_or_default()));
    error.for_each(|line| note(&line));
    if !failure.hint.is_empty() {
        note(&format!("  hint: {}", escape_cell(&failure.hint)));
    }
}

/// How many lines the terminal on stdout has, if that is known.
pub(crate) fn height() -> Option<u16> {
    let rows = rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| size.ws_row);
    (rows > 0).then_some(rows)
}

/// How wide a table on stdout may be, in columns; none where it isn't a terminal.
pub(crate) fn width() -> Option<u16> {
    let stdout = io::stdout();
    let columns = if stdout.is_terminal() { columns(stdout) } else { None };
    columns.map(|columns| columns.max(NARROWEST))
}

/// The width of a terminal, where it is known: a serial console has 0.
pub(crate) fn columns(terminal: impl AsFd) -> Option<u16> {
    let columns = rustix::termios::tcgetwinsize(terminal).map_or(0, |size| size.ws_col);
    (columns > 0).then_some(columns)
}
