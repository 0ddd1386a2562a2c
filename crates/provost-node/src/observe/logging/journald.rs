//! The systemd journal, by its own protocol (systemd.io/JOURNAL_NATIVE_PROTOCOL).

use std::fmt::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use super::layer::Sink;
use super::message::{Context, Message, Severity, TAG};

/// The journal's socket.
pub(super) struct Journald {
    socket: UnixDatagram,
}

impl Journald {
    /// None where there is no journal, or where stderr is its already.
    pub(super) fn new(path: &Path) -> Option<Self> {
        if stderr_is_journal() {
            return None;
        }
        let socket = UnixDatagram::unbound().ok()?;
        socket.set_nonblocking(true).ok()?;
        socket.connect(path).ok()?;
        Some(Self { socket })
    }

    fn send(&self, severity: Severity, context: &Context, line: &str) {
        let mut entry = String::new();
        let mut field = |name: &str, value: &str| {
            if !value.is_empty() && !value.contains('\n') {
                // Writing to a String can't fail.
                let _ = writeln!(entry, "{name}={value}");
            }
        };
        field("MESSAGE", line);
        field("PRIORITY", &(severity as u8).to_string());
        field("SYSLOG_IDENTIFIER", TAG);
        field("PROVOST_NODE", &context.node);
        field("PROVOST_SERVICE", &context.service);
        field("PROVOST_RUN", &context.run);
        field("PROVOST_STAGE", context.stage.as_deref().unwrap_or_default());
        // A journal that is full or gone loses it.
        let _ = self.socket.send(entry.as_bytes());
    }
}

impl Sink for Journald {
    const LEAST: Severity = Severity::Info;

    fn write(&self, message: &Message) {
        for line in &message.lines {
            self.send(message.severity, &message.context, line);
        }
    }
}

/// Whether systemd connected our stderr with the journal: then each line is there already
/// (systemd.exec(5), JOURNAL_STREAM).
fn stderr_is_journal() -> bool {
    let Ok(named) = std::env::var("JOURNAL_STREAM") else { return false };
    let Ok(stat) = rustix::fs::fstat(std::io::stderr().as_fd()) else { return false };
    named == format!("{}:{}", stat.st_dev, stat.st_ino)
}
