use jiff::Timestamp;
use tokio::sync::oneshot;

use crate::{Ingested, Report, StoreError};

/// A batch of a node's records, and the caller that waits for its answer.
pub(super) struct Batch {
    pub(super) node: String,
    pub(super) reports: Vec<Report>,
    pub(super) at: Timestamp,
    pub(super) answer: oneshot::Sender<Result<Ingested, StoreError>>,
}

impl Batch {
    /// The seqs of its records.
    pub(super) fn seqs(&self) -> impl Iterator<Item = u64> {
        self.reports.iter().map(|report| report.record.seq)
    }

    pub(super) fn bytes(&self) -> usize {
        self.reports.iter().map(|report| report.json.get().len()).sum()
    }

    /// Fails where the caller has gone away; what is stored stays.
    pub(super) fn answer(self, answer: Result<Ingested, StoreError>) {
        let _ = self.answer.send(answer);
    }
}
