//! Answers to reports, and the run that they are for.

use provost_api::Directive;
use provost_api::nodes::Acknowledgement;
use tokio::sync::watch;

/// The run that goes on while its records are reported.
pub(super) struct CurrentRun {
    pub(super) id: String,
    /// Why the management node wants nothing more to run, while it does.
    pub(super) hold: watch::Sender<Option<String>>,
}

/// Reads the answer to a report whose last record is `last`. An answer that acknowledges what
/// was never sent is none.
pub(super) fn read(text: &[u8], last: u64) -> Option<Acknowledgement> {
    serde_json::from_slice(text).ok().filter(|answer: &Acknowledgement| answer.acked <= last)
}

impl CurrentRun {
    /// Passes on whether the run may go on.
    pub(super) fn handle(&self, answer: Acknowledgement) {
        let held = answer.directive == Directive::Hold;
        let unknown = || "the management node holds this node without a reason".to_owned();
        let hold = held.then(|| answer.reason.unwrap_or_else(unknown));
        self.hold.send_if_modified(|now| std::mem::replace(now, hold.clone()) != hold);
    }
}
