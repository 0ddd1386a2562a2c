//! Data goes to stdout, everything else to stderr. Both may be closed at any time.

use std::io::{self, ErrorKind, IsTerminal, Write};

use provost_record::terminal::escape_cell;

use crate::failure::Failure;
use crate::text;

/// The narrowest table, in columns: with less, a table has no room for its last column.
const NARROWEST: u16 = 60;

/// Prints data.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    written(out.write_all(bytes).and_then(|()| out.flush()))
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

/// Prints an error and its hint.
pub(crate) fn error(failure: &Failure) {
    let mut error = text::lines(&failure.error);
    note(&format!("provostctl: {}", error.next().unwrap_or_default()));
    error.for_each(|line| note(&line));
    if !failure.hint.is_empty() {
        note(&format!("  hint: {}", escape_cell(&failure.hint)));
    }
}

/// How wide a table on stdout may be, in columns; none where it isn't a terminal.
pub(crate) fn width() -> Option<u16> {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let columns = rustix::termios::tcgetwinsize(stdout).map_or(0, |size| size.ws_col);
    // A serial console has 0: its width is unknown.
    (columns > 0).then(|| columns.max(NARROWEST))
}
