//! Answers to reports, and the run that heeds them.

use serde::Deserialize;
use tokio::sync::watch;

/// What the management node answers to a report.
#[derive(Deserialize)]
pub(crate) struct Answer {
    /// The last record of the report that it has on its disk.
    pub(crate) acked: u64,
    #[serde(default)]
    directive: Option<String>,
    #[serde(default)]
    reason: Option<String>,
}

/// Where the reports of a run that is going on come from.
pub(crate) struct Present {
    pub(crate) run: String,
    /// Why the management node wants nothing more to run, while it does.
    pub(crate) hold: watch::Sender<Option<String>>,
}

impl Answer {
    /// Reads the answer to a report whose last record is `last`. Whoever claims to have what was
    /// never sent has nothing.
    pub(crate) fn read(text: &[u8], last: u64) -> Option<Self> {
        serde_json::from_slice(text).ok().filter(|answer: &Self| answer.acked <= last)
    }
}

impl Present {
    /// Lets the run know whether it is to go on.
    pub(crate) fn heed(&self, answer: Answer) {
        let held = answer.directive.as_deref() == Some("hold");
        let unknown = || "the management node holds this node and doesn't say why".to_owned();
        let hold = held.then(|| answer.reason.unwrap_or_else(unknown));
        self.hold.send_if_modified(|now| std::mem::replace(now, hold.clone()) != hold);
    }
}
