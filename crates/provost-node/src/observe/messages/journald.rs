//! The systemd journal, by its own protocol (systemd.io/JOURNAL_NATIVE_PROTOCOL).

use std::fmt::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use super::{About, Severity};

pub(crate) struct Journald {
    socket: UnixDatagram,
}

impl Journald {
    /// None where there is no journal, or where stderr is its already.
    pub(crate) fn new(path: &Path) -> Option<Self> {
        if stderr_is_journal() {
            return None;
        }
        let socket = UnixDatagram::unbound().ok()?;
        socket.set_nonblocking(true).ok()?;
        socket.connect(path).ok()?;
        Some(Self { socket })
    }

    /// `text` is one line.
    pub(crate) fn tell(&self, severity: Severity, about: &About, text: &str) {
        let mut message = String::new();
        let mut field = |name: &str, value: &str| {
            if !value.is_empty() && !value.contains('\n') {
                let _ = writeln!(message, "{name}={value}");
            }
        };
        field("MESSAGE", text);
        field("PRIORITY", &(severity as u8).to_string());
        field("SYSLOG_IDENTIFIER", "provost");
        field("PROVOST_NODE", &about.node);
        field("PROVOST_SERVICE", &about.service);
        field("PROVOST_RUN", &about.run);
        field("PROVOST_STAGE", about.stage.as_deref().unwrap_or_default());
        // One that is full or gone loses it.
        let _ = self.socket.send(message.as_bytes());
    }
}

/// Whether systemd connected our stderr with the journal: then each line is there already
/// (systemd.exec(5), JOURNAL_STREAM).
fn stderr_is_journal() -> bool {
    let Ok(named) = std::env::var("JOURNAL_STREAM") else { return false };
    let Ok(stat) = rustix::fs::fstat(std::io::stderr().as_fd()) else { return false };
    named == format!("{}:{}", stat.st_dev, stat.st_ino)
}
