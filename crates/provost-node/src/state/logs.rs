//! The folders of scripts' logs, one a run. The oldest go, or the disk would fill up in time.

use std::collections::HashSet;

use provost_record::{Journal, Service};

use crate::observe::report::waiting_runs;
use crate::settings::Paths;

/// How many are kept, the newest; and beside them those that are still to be uploaded, and that of
/// each service's last run.
const KEPT: usize = 20;

/// Removes the logs that nobody needs any more. What can't be removed now is left to the next run.
pub fn remove_old(paths: &Paths) {
    let entries = std::fs::read_dir(paths.all_scripts()).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    // Whatever else somebody has put there isn't ours.
    let mut runs: Vec<String> = names.filter(|name| uuid::Uuid::try_parse(name).is_ok()).collect();
    if runs.len() <= KEPT {
        return;
    }
    // UUIDv7: in order of the time at which they began.
    runs.sort();
    let mut needed: HashSet<String> = waiting_runs(paths).collect();
    needed.extend(Service::ALL.into_iter().filter_map(|service| last_run(paths, service)));
    for run in runs.iter().rev().skip(KEPT).filter(|run| !needed.contains(*run)) {
        let _ = std::fs::remove_dir_all(paths.scripts(run));
    }
}

fn last_run(paths: &Paths, service: Service) -> Option<String> {
    Some(Journal::last_run_in(&paths.journal(service)).ok()?.pop()?.run)
}
