//! Messages to the install monitor, as STATE/monitor.json has them.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use provost_record::now;
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
