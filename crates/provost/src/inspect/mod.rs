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

/// The most bytes of a script's log that is looked at line by line; it takes a few seconds.
const MOST_LOG: u64 = 4 << 30;

/// The runs of all services, oldest first, each with the name of its node.
fn runs(paths: &Paths) -> Result<Vec<(Run, String)>, Failure> {
    let mut records: Vec<Record> = Vec::new();
    for service in Service::ALL {
        let entries = Journal::read(&paths.journal(service), 0)?;
        records.extend(entries.into_iter().map(|e| e.record));
    }
    let runs = runs_by_time(&records);
    let node = |run: &Run| {
        let record = records.iter().rfind(|r| r.run == run.run);
        record.map_or(String::new(), |r| r.node.clone())
    };
    Ok(runs.into_iter().map(|run| (node(&run), run)).map(|(node, run)| (run, node)).collect())
}

/// The runs of these records, oldest first. Within a second their ids decide, which are UUIDv7.
fn runs_by_time<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<Run> {
    let mut runs = provost_record::runs(records);
    runs.sort_by(|a, b| (a.started.or(a.ended), &a.run).cmp(&(b.started.or(b.ended), &b.run)));
    runs
}

/// The logs of a run's stages that are there, each with its stage's place.
fn log_of(paths: &Paths, run: &Run, index: usize, stage: &Stage) -> Option<std::path::PathBuf> {
    let name = format!("{}.log", Stage::log_name(index, &stage.stage, stage.attempt));
    let path = paths.scripts(&run.run).join(name);
    // A script that runs as root can make a pipe of it, of which nobody would see the end.
    (index > 0 && path.is_file()).then_some(path)
}
