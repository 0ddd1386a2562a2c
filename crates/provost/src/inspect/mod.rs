//! What is on this node's disk, for an admin who looks at the node itself.

mod analyze;
mod check;
mod follow;
mod gather;
mod log;
mod rights;
mod services;
mod status;
mod unfinished;

pub(crate) use analyze::analyze;
pub(crate) use check::check;
pub(crate) use gather::gather;
pub(crate) use log::log;
pub(crate) use status::{Wait, status};

use provost_record::{Journal, Record, Run, Service, Stage};

use provost_node::failure::Failure;
use provost_node::settings::Paths;
use provost_node::state::lock::RunLock;

/// The most bytes of a script's log that is looked at line by line; it takes a few seconds.
const MOST_LOG: u64 = 4 << 30;

/// The runs of all services, oldest first, each with the name of its node.
fn runs(paths: &Paths) -> Result<Vec<(Run, String)>, Failure> {
    let mut records: Vec<Record> = Vec::new();
    for service in Service::ALL {
        let entries = Journal::read(&paths.journal(service), 0)?;
        records.extend(entries.into_iter().map(|e| e.record));
    }
    let runs = in_order(&records, RunLock::last_run(&paths.state).as_deref());
    let node = |run: &Run| {
        let record = records.iter().rfind(|r| r.run == run.run);
        record.map_or(String::new(), |r| r.node.clone())
    };
    Ok(runs.into_iter().map(|run| (node(&run), run)).map(|(node, run)| (run, node)).collect())
}

/// The runs of these records, oldest first; those of a service are in their journal's order. `last` is
/// the id of the run that began last, where that is known. The clock decides only what neither does:
/// it may have been wrong. Within a second the ids do, which are UUIDv7.
fn in_order<'a>(records: impl IntoIterator<Item = &'a Record>, last: Option<&str>) -> Vec<Run> {
    let runs = provost_record::runs(records).into_iter();
    let mut runs: Vec<_> =
        runs.map(|run| ((run.started.or(run.ended), run.run.clone()), run)).collect();
    for at in (1..runs.len()).rev() {
        let (before, after) = runs.split_at_mut(at);
        let (before, after) = (&mut before[at - 1], &after[0]);
        if before.1.service == after.1.service && before.0 > after.0 {
            before.0.clone_from(&after.0);
        }
    }
    let last = runs.iter().position(|(_, run)| last == Some(run.run.as_str()));
    // After a power cut the id may be that of a run before.
    let is_last =
        |at: &usize| runs.get(at + 1).is_none_or(|(_, next)| next.service != runs[*at].1.service);
    let last = last.filter(is_last).map(|at| runs.remove(at));
    runs.sort_by(|(a, _), (b, _)| a.cmp(b));
    runs.into_iter().chain(last).map(|(_, run)| run).collect()
}

/// The logs of a run's stages that are there, each with its stage's place.
fn log_of(paths: &Paths, run: &Run, index: usize, stage: &Stage) -> Option<std::path::PathBuf> {
    let name = format!("{}.log", Stage::log_name(index, &stage.stage, stage.attempt));
    let path = paths.scripts(&run.run).join(name);
    // A script that runs as root can make a pipe of it, of which nobody would see the end.
    (index > 0 && path.is_file()).then_some(path)
}
