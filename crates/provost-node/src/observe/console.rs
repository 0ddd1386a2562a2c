//! The console of a command, and stdout.

use std::io::{ErrorKind, Write};
use std::sync::Arc;

use provost_exec::Secrets;
use provost_record::ExitCode;
pub use provost_record::terminal::escape as harmless;

use super::logging::{self, Context, LoggingGuard, Options, Terminal, prefixed};
use crate::failure::Failure;
use crate::settings::Input;

/// Messages for those who don't send events by themselves yet.
pub struct Console {
    terminal: Arc<Terminal>,
    context: Context,
    /// The messages that wait, and of which stage they are.
    later: Vec<(Option<String>, String)>,
    _guard: LoggingGuard,
}

impl Console {
    /// Messages go to stderr, to LOG/provost.log, and where else `input` says.
    pub fn new(input: &Input, verbose: bool) -> Self {
        let guard = logging::install(input, Options { verbose });
        let terminal = guard.terminal();
        Self { terminal, context: Context::default(), later: Vec::new(), _guard: guard }
    }

    /// Whom the messages are from.
    pub fn about(&mut self) -> &mut Context {
        &mut self.context
    }

    /// Hides `secrets` from now on.
    pub fn hide(&mut self, secrets: Secrets) {
        logging::hide(secrets);
    }

    /// Sends `text` when there is time for it: at the latest before the next message.
    pub fn say_later(&mut self, text: String) {
        self.later.push((self.context.stage.clone(), text));
    }

    /// Sends the messages that wait.
    pub fn catch_up(&mut self) {
        for (stage, text) in std::mem::take(&mut self.later) {
            let now = std::mem::replace(&mut self.context.stage, stage);
            self.send(&text);
            self.context.stage = now;
        }
    }

    /// Sends `text`, which may have several lines.
    pub fn say(&mut self, text: &str) {
        self.catch_up();
        self.send(text);
    }

    fn send(&self, text: &str) {
        let Context { node, service, run, stage } = &self.context;
        let stage = stage.as_deref();
        if text.lines().any(|line| line.starts_with("error: ")) {
            tracing::error!(target: "provost", node, service, run, stage, "{text}");
        } else if text.contains("FAILED") {
            tracing::warn!(target: "provost", node, service, run, stage, "{text}");
        } else {
            tracing::info!(target: "provost", node, service, run, stage, "{text}");
        }
    }

    /// Whether it is shown how far a script is.
    pub fn is_live(&self) -> bool {
        self.terminal.is_live()
    }

    /// Shows how far a script is: its name, the time it has taken, and the last line it printed.
    pub fn live(&mut self, name: &str, took: &str, last: &str) {
        self.catch_up();
        self.terminal.progress(name, took, last);
    }
}

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
        Err(e) => Err(Failure::config(format!("writing the output: {e}"), "see where stdout goes")),
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
