//! Where what is said on the way goes besides LOG/provost.log. None of these can fail or hold up
//! a run: what can't be said there is in the journal of records all the same.

pub mod journald;
pub mod notices;
pub mod outlet;
pub mod settings;
pub mod syslog;

pub use notices::{put_up, say_failure, take_down};
pub use outlet::Outlet;
pub use settings::{MessageSettings, PORT as SYSLOG_PORT, Server as SyslogServer};
pub use syslog::Syslog;

use journald::Journald;

/// What the messages of a run are called in the system's logs.
const TAG: &str = "provost";

/// Whom a message is from.
#[derive(Default)]
pub struct About {
    pub node: String,
    pub service: String,
    pub run: String,
    /// The script that is running, if one is.
    pub stage: Option<String>,
}

/// How grave a message is, in the numbers of syslog(3).
#[derive(Clone, Copy)]
pub enum Severity {
    Error = 3,
    Warning = 4,
    Info = 6,
}

impl Severity {
    /// Of one text that is said, whichever lines it has.
    fn of(text: &str) -> Self {
        if text.lines().any(|line| line.starts_with("error: ")) {
            Self::Error
        } else if text.contains("FAILED") {
            Self::Warning
        } else {
            Self::Info
        }
    }
}

/// The system's log here and the one of the management node.
pub struct Messages {
    pub about: About,
    syslog: Option<Syslog>,
    journald: Option<Journald>,
}

impl Messages {
    pub fn new(settings: MessageSettings, node: String) -> Self {
        Self {
            about: About { node, ..About::default() },
            syslog: settings.syslog.and_then(|server| Syslog::new(server, TAG)),
            journald: settings.journal.and_then(|socket| Journald::new(&socket)),
        }
    }

    /// Passes on what was said; `text` steers no terminal.
    pub fn tell(&mut self, text: &str) {
        let severity = Severity::of(text);
        for line in text.lines() {
            if let Some(syslog) = &mut self.syslog {
                syslog.tell(severity, &self.about, line);
            }
            if let Some(journald) = &self.journald {
                journald.tell(severity, &self.about, line);
            }
        }
    }
}
