//! The console of a command, and stdout.

use std::io::{ErrorKind, Write};

use provost_record::ExitCode;
pub use provost_steplog::terminal::escape as harmless;

use super::logging::prefixed;
use crate::failure::Failure;

/// Prints `text` on stderr, and nowhere else. A closed stderr is no reason to end.
pub fn complain(text: &str) {
    let lines: Vec<String> = text.lines().map(harmless).collect();
    let _ = std::io::stderr().write_all(prefixed(&lines).as_bytes());
}

/// Prints `text` on stdout.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    printed(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

/// The outcome of writing to stdout. A reader that went away is no error.
pub fn printed(result: std::io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(e) => Err(Failure::local("writing the output", "check where stdout goes").caused_by(e)),
        Ok(()) => Ok(()),
    }
}

/// The exit code for `result`; a failure is printed on stderr.
pub fn exit(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::Done,
        Err(failure) => {
            complain(&format!("error: {failure}"));
            failure.exit_code()
        }
    }
}
