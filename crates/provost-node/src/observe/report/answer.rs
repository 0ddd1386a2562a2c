//! Answers to reports, and the run that they are for.

use serde::Deserialize;
use tokio::sync::watch;

/// A management node's answer to a report.
#[derive(Deserialize)]
pub(super) struct Answer {
    /// The last record of the report that is on its disk.
    pub(super) acked: u64,
    #[serde(default)]
    directive: Option<String>,
    #[serde(default)]
    reason: Option<String>,
}

/// The run that goes on while its records are reported.
pub(super) struct CurrentRun {
    pub(super) id: String,
    /// Why the management node wants nothing more to run, while it does.
    pub(super) hold: watch::Sender<Option<String>>,
}

impl Answer {
    /// Reads the answer to a report whose last record is `last`. An answer that acknowledges what
    /// was never sent is none.
    pub(super) fn read(text: &[u8], last: u64) -> Option<Self> {
        serde_json::from_slice(text).ok().filter(|answer: &Self| answer.acked <= last)
    }
}

impl CurrentRun {
    /// Passes on whether the run may go on.
    pub(super) fn handle(&self, answer: Answer) {
        let held = answer.directive.as_deref() == Some("hold");
        let unknown = || "the management node holds this node without a reason".to_owned();
        let hold = held.then(|| answer.reason.unwrap_or_else(unknown));
        self.hold.send_if_modified(|now| std::mem::replace(now, hold.clone()) != hold);
    }
}
