//! The folders of the scripts' logs, one for each run. The oldest are removed, or the disk would
//! fill up in time.

use std::collections::HashSet;

use provost_record::{Journal, Service};

use crate::settings::Paths;

/// How many of the newest are kept; next to them, those that are still to be uploaded and that of
/// each service's last run.
const KEPT: usize = 20;

/// Removes the logs that nobody needs any more; those of the runs `waiting` are still to be
/// uploaded. What can't be removed now is left to the next run.
pub fn remove_old(paths: &Paths, waiting: impl Iterator<Item = String>) {
    let entries = std::fs::read_dir(paths.all_scripts()).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    // Other folders there are not ours.
    let mut runs: Vec<String> = names.filter(|name| uuid::Uuid::try_parse(name).is_ok()).collect();
    if runs.len() <= KEPT {
        return;
    }
    // UUIDv7: in order of the time at which they began.
    runs.sort();
    let mut needed: HashSet<String> = waiting.collect();
    needed.extend(Service::ALL.into_iter().filter_map(|service| last_run(paths, service)));
    for run in runs.iter().rev().skip(KEPT).filter(|run| !needed.contains(*run)) {
        let _ = std::fs::remove_dir_all(paths.scripts(run));
    }
}

fn last_run(paths: &Paths, service: Service) -> Option<String> {
    Some(Journal::last_run_in(&paths.journal(service)).ok()?.pop()?.run)
}
