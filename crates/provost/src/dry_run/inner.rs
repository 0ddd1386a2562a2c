//! What is different for the program in the sandbox.

use std::path::PathBuf;

use provost_node::observe::observer::{Observer, StepContext};
use provost_node::runner::{FOLDER, Management, ManagementKind, PUBLISHED};
use provost_node::settings::{Flag, Origin};
use provost_sandbox::Ready;

/// The kinds of management nodes, of which none is notified.
pub(crate) fn kinds() -> &'static [ManagementKind] {
    const QUIET: &[ManagementKind] = &[
        ManagementKind {
            name: PUBLISHED.name,
            connect: |input, connection| silent((PUBLISHED.connect)(input, connection)),
        },
        #[cfg(feature = "xcat")]
        ManagementKind {
            name: provost_xcat::XCAT.name,
            connect: |input, connection| silent((provost_xcat::XCAT.connect)(input, connection)),
        },
        FOLDER,
    ];
    QUIET
}

fn silent(management: Management) -> Management {
    Management { observers: Vec::new(), ..management }
}

/// Messages go to the outer program alone.
pub(crate) fn flags() -> Vec<Flag> {
    let off = |key: &'static str, value: toml::Value| (key, value, Origin::Flag("--dry-run"));
    vec![
        off("log.syslog", "off".into()),
        off("log.journal", "off".into()),
        off("log.notices", false.into()),
    ]
}

/// Has systemctl behave as in a chroot: there is no systemd to ask.
pub(crate) fn environment() -> Vec<(String, String)> {
    vec![("SYSTEMD_OFFLINE".to_owned(), "1".to_owned())]
}

/// Tells the outer program what nobody is to see.
pub(crate) fn observers() -> Vec<Box<dyn Observer>> {
    vec![Box::new(Notes(Ready::notes_inside()))]
}

struct Notes(PathBuf);

impl Observer for Notes {
    fn step_started(&mut self, step: StepContext<'_>) {
        let secrets = serde_json::to_vec(step.secrets).unwrap_or_default();
        // It fails where the room for changes is full; then the outer program shows no text.
        let _ = std::fs::write(&self.0, secrets);
    }
}
