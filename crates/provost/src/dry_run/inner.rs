//! What is different for the program in the sandbox.

use std::path::PathBuf;

use provost_exec::Secrets;
use provost_node::fetch::rehearsal::Rehearsal;
use provost_node::observe::observer::{Observer, StepContext, StepEnd};
use provost_node::runner::{FOLDER, Management, ManagementKind, PUBLISHED};
use provost_node::settings::{Flag, Origin};
use provost_record::Outcome;
use provost_sandbox::Ready;
use serde_json::Value;

use super::databases::Rpm;

/// The kinds of management nodes, of which none is notified; for a rehearsal the folder that has it.
pub(crate) fn kinds(rehearsal: bool) -> &'static [ManagementKind] {
    const REHEARSAL: &[ManagementKind] = &[ManagementKind {
        name: PUBLISHED.name,
        connect: |_, connection| Management {
            source: Box::new(Rehearsal::new(connection.clone(), Ready::bundle_inside())),
            observers: Vec::new(),
        },
    }];
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
    if rehearsal { REHEARSAL } else { QUIET }
}

fn silent(management: Management) -> Management {
    Management { observers: Vec::new(), ..management }
}

/// Messages go to the outer program alone. One that is `offline` runs what the node fetched last.
pub(crate) fn flags(offline: bool) -> Vec<Flag> {
    let set = |key: &'static str, value: toml::Value| (key, value, Origin::Flag("--dry-run"));
    let mut all = vec![
        set("log.syslog", "off".into()),
        set("log.journal", "off".into()),
        set("log.notices", false.into()),
    ];
    if offline {
        all.push(set("fetch.offline", "last-good".into()));
        all.push(set("fetch.deadline", "1s".into()));
    }
    all
}

/// Has systemctl behave as in a chroot: there is no systemd to ask.
pub(crate) fn environment() -> Vec<(String, String)> {
    vec![("SYSTEMD_OFFLINE".to_owned(), "1".to_owned())]
}

/// Tells the outer program what nobody is to see, what failed, and which packages `root` has at the end.
pub(crate) fn observers(root: Option<PathBuf>) -> Vec<Box<dyn Observer>> {
    let rpm = Rpm::now(root.unwrap_or_else(|| "/".into()));
    let (file, said) = (Ready::notes_inside(), Said::default());
    vec![Box::new(Notes { file, said, rpm })]
}

/// What the program in the sandbox tells the outer one: secrets, and the record of the first step that
/// failed.
pub(super) type Said = (Secrets, Option<Value>);

struct Notes {
    file: PathBuf,
    said: Said,
    rpm: Rpm,
}

impl Notes {
    fn write(&self) {
        let said = serde_json::to_vec(&self.said).unwrap_or_default();
        // It fails where the room for changes is full; then the outer program shows no text.
        let _ = std::fs::write(&self.file, said);
    }
}

impl Observer for Notes {
    fn step_started(&mut self, step: StepContext<'_>) {
        self.said.0 = step.secrets.clone();
        self.write();
    }

    fn step_ended(&mut self, _step: StepContext<'_>, end: StepEnd<'_>) {
        self.rpm.note();
        let is_failure = end.retry.is_none() && end.record.result == Some(Outcome::Failure);
        if is_failure && self.said.1.is_none() {
            self.said.1 = serde_json::to_value(end.record).ok();
            self.write();
        }
    }
}
