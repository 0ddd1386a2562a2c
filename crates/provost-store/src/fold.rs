//! What follows from a batch of records, whatever keeps them. A store reads what is known before, and writes what
//! comes of it.

use jiff::Timestamp;

use crate::history::RunCounts;
use crate::quota::{BatchSize, OverQuota, RecordQuota};
use crate::step::StepOutcomes;
use crate::{Ingested, NodeState, Report};

/// A batch of a node's records, as it comes.
pub(crate) struct Incoming<'r> {
    pub(crate) node: &'r str,
    pub(crate) reports: &'r [Report],
    /// By the server's clock.
    pub(crate) at: Timestamp,
}

/// Which run a record is of, where it is to be stored.
pub(crate) struct Fresh<R> {
    pub(crate) run: R,
    /// Whether no record of the run was known before.
    pub(crate) is_first: bool,
}

/// What follows from a batch.
pub(crate) struct Folded<'r, R> {
    pub(crate) ingested: Ingested,
    /// What is to be stored, in the order in which it came, each with its run.
    pub(crate) fresh: Vec<(R, &'r Report)>,
    /// What runs did, for the history.
    pub(crate) runs: RunCounts,
}

impl<'r> Incoming<'r> {
    /// Applies the batch to what is known of its node, and to how steps ended. `fresh` says which records are to be
    /// stored: of these whose run isn't pruned those that aren't stored yet. Nothing follows from a batch that is over
    /// its node's quota.
    pub(crate) fn fold<R: Copy>(
        &self,
        state: &mut NodeState,
        ends: &mut StepOutcomes<'r, R>,
        quota: RecordQuota,
        mut fresh: impl FnMut(&'r Report) -> Option<Fresh<R>>,
    ) -> Result<Folded<'r, R>, OverQuota> {
        let mut folded =
            Folded { ingested: Ingested::default(), fresh: Vec::new(), runs: RunCounts::default() };
        let mut size = BatchSize::default();
        for report in self.reports {
            let record = &report.record;
            match fresh(report) {
                Some(Fresh { run, is_first }) => {
                    let kind = state.apply(record, is_first);
                    let notice = kind.map(|kind| state.notice(kind, &record.run, self.at));
                    folded.ingested.notices.extend(notice);
                    // The newest bundle that the node has reported until this record: a run may go on with another one after
                    // a reboot.
                    ends.add(self.node, record, state.seen().bundle, run);
                    folded.runs.note(record, is_first);
                    size.bytes += report.json.get().len() as u64;
                    size.records += 1;
                    size.runs += u64::from(is_first);
                    folded.fresh.push((run, report));
                    folded.ingested.fresh += 1;
                }
                None => folded.ingested.repeats += 1,
            }
            state.note_report(&record.run, report.sent.as_ref(), self.at);
        }
        state.records.add(size, quota, self.at)?;
        let current = self.reports.last().map(|report| report.record.run.as_str());
        folded.ingested.standing = state.standing(current);
        folded.ingested.due = state.due();
        Ok(folded)
    }
}
