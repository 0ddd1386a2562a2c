//! The node's own messages: events of `tracing`, one layer for each place they go to.
//!
//! An event's level is its severity, and the spans `run` and `step` around it say whom it is from.
//! Nothing here fails or holds up a run: a message that is lost is in the journal of records all
//! the same.

mod file;
mod filter;
mod journald;
mod layer;
mod message;
mod message_batch;
mod queue;
mod span;
mod syslog;
mod terminal;

use std::sync::Arc;

use tracing_subscriber::Registry;
use tracing_subscriber::layer::SubscriberExt;

use self::file::LogFile;
use self::journald::Journald;
use self::layer::MessageLayer;
use self::message::TAG;
pub use self::message::hide;
pub use self::message::{Context, Severity};
pub use self::message_batch::release;
pub(crate) use self::message_batch::together;
use self::span::Spans;
pub use self::syslog::Syslog;
pub(super) use self::terminal::prefixed;
pub use self::terminal::{ConsoleSink, Terminal};
use crate::settings::Input;

/// How a command shows its messages.
#[derive(Clone, Default)]
pub struct Options {
    /// Whether the running script's last line is shown where stderr is no terminal, too.
    pub verbose: bool,
    /// What takes the console's messages, if it isn't stderr.
    pub console: Option<ConsoleSink>,
}

/// Keeps messages going. When it is dropped, those on their way have about a second each to arrive.
#[must_use = "messages that are on their way when the process ends are lost"]
pub struct LoggingGuard {
    terminal: Arc<Terminal>,
    file: Option<file::LogFlush>,
    syslog: Option<Arc<Syslog>>,
}

/// Sends the events of this process to stderr, `LOG/provost.log`, and where `input` says. Each
/// command calls it once.
///
/// It starts threads: what must happen while the process has only one must happen before.
pub fn install(input: &Input, options: Options) -> LoggingGuard {
    // Mistakes in them are reported with the other settings.
    let settings = input.messages().unwrap_or_default();
    let (filter, mistake) = filter::from_environment();
    let node = input.node();
    let terminal = Arc::new(Terminal::new(options.verbose, options.console));
    let (file, file_guard) = LogFile::start(&input.paths().log).unzip();
    let syslog = settings.syslog.and_then(|server| Syslog::new(server, TAG)).map(Arc::new);
    let journald = settings.journal.and_then(|socket| Journald::new(&socket));
    let subscriber = Registry::default()
        .with(filter)
        .with(Spans)
        .with(MessageLayer::new(Arc::clone(&terminal), &node))
        .with(file.map(|file| MessageLayer::new(Arc::new(file), &node)))
        .with(syslog.clone().map(|syslog| MessageLayer::new(syslog, &node)))
        .with(journald.map(|journald| MessageLayer::new(Arc::new(journald), &node)));
    // Only tests install a second one in the same process.
    let _ = tracing::subscriber::set_global_default(subscriber);
    if let Some(mistake) = mistake {
        tracing::warn!("warning: {mistake}");
    }
    LoggingGuard { terminal, file: file_guard, syslog }
}

impl LoggingGuard {
    /// The console, for what isn't a message: how far the running script is.
    pub fn terminal(&self) -> Arc<Terminal> {
        Arc::clone(&self.terminal)
    }
}

impl Drop for LoggingGuard {
    fn drop(&mut self) {
        message_batch::release();
        self.terminal.finish();
        drop(self.file.take());
        if let Some(syslog) = &self.syslog {
            syslog.finish();
        }
    }
}
