//! Data goes to stdout, all else to stderr. Whoever reads may go away at any time.

use std::io::{self, ErrorKind, Write};

pub(crate) use provost_record::Paint;

use crate::failure::Failure;
use crate::text;

/// How wide a table may be where no terminal says.
const WIDTH: usize = 100;
/// A table that is narrower says nothing.
const NARROWEST: usize = 60;

/// Prints data.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    written(out.write_all(bytes).and_then(|()| out.flush()))
}

/// What it means that stdout took something, or did not.
pub(crate) fn written(result: io::Result<()>) -> Result<(), Failure> {
    match result {
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

/// How wide a line may be.
pub(crate) fn width() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    let columns = size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
    columns.unwrap_or(WIDTH).max(NARROWEST)
}
