//! A node's runs, as its stored records and uploaded logs describe them.

use std::collections::BTreeSet;

use provost_record::{Run, Stage, runs};
use provost_store::{StoredRun, UploadedLog};

/// The runs that have the id of `stored`: of each service one. A stage whose log was uploaded has that
/// log's name.
pub(crate) fn runs_of(stored: &StoredRun, uploaded: &BTreeSet<UploadedLog>) -> Vec<Run> {
    let mut runs = runs(stored.reports.iter().map(|report| &report.record));
    for run in &mut runs {
        for (index, stage) in run.stages.iter_mut().enumerate() {
            let name = Stage::log_name(index, &stage.stage, stage.attempt);
            let log = UploadedLog { run: run.run.clone(), name };
            stage.log = uploaded.contains(&log).then_some(log.name);
        }
    }
    runs
}
