use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek};
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};

use provost_record::Cause;
use provost_store::Detail;
use serde::Deserialize;

/// Prints the run that failed, where there is a record of it: the exit statuses of `provost` for a
/// script that failed, for what can't be fetched, a node that is held, and a run that was ended.
pub(super) const ON_THE_NODE: &str =
    "case $status in [1345]) provost status --format json </dev/null ;; esac";

/// What the nodes' last lines of shell print, in files without a name.
#[derive(Default)]
pub(super) struct Reports(Mutex<HashMap<String, File>>);

impl Reports {
    /// Where the report of `node` goes. A report that can't be kept is one that there isn't.
    pub(super) fn open(&self, node: &str) -> Stdio {
        let Ok(file) = tempfile::tempfile() else { return Stdio::null() };
        let Ok(copy) = file.try_clone() else { return Stdio::null() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(node.to_owned(), file);
        Stdio::from(copy)
    }

    pub(super) fn take(&self, node: &str) -> String {
        let file = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(node);
        let mut text = String::new();
        if let Some(mut file) = file {
            // One that can't be read is one that there isn't.
            let _ = file.rewind().and_then(|()| file.read_to_string(&mut text));
        }
        text
    }
}

/// What `provost status --format json` prints, as far as it is needed here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    stages: Vec<Stage>,
    cause: Option<Cause>,
    error_message: Option<String>,
    hint: Option<String>,
}

#[derive(Deserialize)]
struct Stage {
    result: Option<provost_record::Outcome>,
    /// The path of its log, if it ran.
    log: Option<String>,
    #[serde(flatten)]
    detail: Detail,
}

/// Why the run of a report failed: its first stage that did, or what kept all of them from it.
pub(super) fn detail(report: &str) -> Option<Detail> {
    let Report { stages, cause, error_message, hint } = serde_json::from_str(report).ok()?;
    let failed = |stage: &Stage| stage.result == Some(provost_record::Outcome::Failure);
    let run = Detail { cause, error_message, hint, ..Detail::default() };
    let stage = stages.into_iter().find(failed).map(|stage| stage.detail);
    stage.or_else(|| cause.map(|_| run))
}

/// The scripts that ran.
pub(super) fn ran(report: &str) -> Vec<String> {
    let Ok(report) = serde_json::from_str::<Report>(report) else { return Vec::new() };
    let ran = report.stages.into_iter().filter(|stage| stage.log.is_some());
    ran.filter_map(|stage| stage.detail.stage).collect()
}
