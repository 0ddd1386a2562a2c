//! Messages to the install monitor, as STATE/monitor.json has them.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use provost_node::settings::discover::Machine;
use provost_record::{Service, now};
use provost_steplog::terminal::escape;
use serde::{Deserialize, Serialize};

/// After this message the node boots from its disk.
pub(crate) const NEXT: &str = "next";

/// A message to the install monitor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatusMessage {
    /// Its words.
    #[serde(rename = "told")]
    pub words: String,
    /// Whether it was delivered.
    #[serde(rename = "result")]
    pub delivery: Delivery,
    /// How often it was tried.
    pub tries: u32,
    /// When the delivery was known.
    pub at: Timestamp,
    /// Why the last try failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What to do about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Whether a message was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// Not yet.
    Waiting,
    /// The monitor has read it. It doesn't say whether it did anything.
    Read,
    /// A newer one came before it was delivered.
    Superseded,
}

impl StatusMessage {
    pub(super) fn new(words: &str) -> Self {
        Self {
            words: words.to_owned(),
            delivery: Delivery::Waiting,
            tries: 0,
            at: now(),
            error: None,
            hint: None,
        }
    }

    pub(super) fn is_read(&self) -> bool {
        self.delivery == Delivery::Read
    }

    /// Whether it isn't delivered yet.
    pub fn is_waiting(&self) -> bool {
        self.delivery == Delivery::Waiting
    }
}

/// The messages in the folder `state`. There are none where they can't be read.
pub fn status_messages(state: &Path) -> Vec<StatusMessage> {
    read(&file(state))
}

pub(super) fn read(file: &Path) -> Vec<StatusMessage> {
    provost_fs::atomic::read(file)
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default()
}

pub(super) fn file(state: &Path) -> PathBuf {
    state.join("monitor.json")
}

/// A line for each message, and why one isn't delivered. Empty where there are none.
pub fn describe(messages: &[StatusMessage]) -> String {
    let mut text = String::new();
    for message in messages {
        let result = match message.delivery {
            Delivery::Read => format!("read by the install monitor at {}", message.at),
            Delivery::Superseded => "not sent: replaced by a newer one".to_owned(),
            Delivery::Waiting => format!("not sent yet, tries: {}", message.tries),
        };
        text += &format!("  {:<24} {result}\n", escape(&message.words));
        let why = [("error", &message.error), ("hint", &message.hint)];
        for (name, value) in why.into_iter().filter(|_| message.is_waiting()) {
            text +=
                &value.as_ref().map_or(String::new(), |v| format!("    {name:<8} {}\n", escape(v)));
        }
    }
    if text.is_empty() { text } else { format!("\nsent to xCAT:\n{text}") }
}

/// What is sent when a run of `service` starts; `is_installed` is whether a kickstart made this root.
pub(super) fn at_start(service: Service, is_installed: bool) -> &'static [&'static str] {
    match service {
        Service::Kickstart => &["installstatus installing"],
        Service::Boot if is_installed => &["installstatus postbooting"],
        Service::Boot => &["installstatus netbooting"],
        // updatenode itself notes how it ended.
        Service::Run | Service::Other(_) => &[],
    }
}

/// What is sent when one ends. A node that failed must not install itself again, which might never
/// end.
pub(super) fn at_end(service: Service, has_succeeded: bool) -> &'static [&'static str] {
    match (service, has_succeeded) {
        (Service::Kickstart, true) => &[NEXT],
        (Service::Kickstart, false) => &[NEXT, "installstatus failed"],
        (Service::Boot, true) => &["installstatus booted"],
        (Service::Boot, false) => &["installstatus failed"],
        (Service::Run | Service::Other(_), _) => &[],
    }
}

/// Whether the kernel's command line says that no status is wanted. `next` is no status: a node that
/// doesn't send it installs itself again.
pub(crate) fn is_disabled() -> bool {
    Machine::here().kernel_line().has("nonodestatus")
}
