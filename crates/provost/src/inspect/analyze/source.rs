use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use provost_record::step_log::Summary;
use provost_record::{Journal, Record, Run, Stage};

use crate::inspect::{log_of, runs};
use provost_node::failure::Failure;
use provost_node::observe::report::unreported;
use provost_node::settings::{Input, Paths};

/// The most of one file in a bundle that is read, in bytes. A journal is rotated long before.
const MOST: u64 = 64 << 20;

/// What there is to analyze.
pub(super) struct Source {
    pub(super) node: String,
    pub(super) records: Vec<Record>,
    /// The oldest first.
    pub(super) runs: Vec<Run>,
    pub(super) unreported: usize,
    /// What stands out among the commands in each log, by `RUN/NN-SCRIPT`; of the last run's logs,
    /// or of more.
    pub(super) commands: BTreeMap<String, Summary>,
    /// What the kernel said, and what `df` printed, where that was gathered.
    pub(super) kernel: String,
    pub(super) disks: String,
}

impl Source {
    /// What is on this node's disk.
    pub(super) fn here(input: &Input) -> Result<Self, Failure> {
        let paths = input.paths();
        let mut records = Vec::new();
        for service in provost_record::Service::ALL {
            let entries = Journal::read(&paths.journal(service), 0)?;
            records.extend(entries.into_iter().map(|entry| entry.record));
        }
        let found = runs(&paths)?;
        let node = found.last().map_or_else(|| input.node(), |(_, node)| node.clone());
        let commands = found.last().map(|(run, _)| summaries(&paths, run)).unwrap_or_default();
        let runs = found.into_iter().map(|(run, _)| run).collect();
        let unreported = unreported(input);
        let (kernel, disks) = Default::default();
        Ok(Self { node, records, runs, unreported, commands, kernel, disks })
    }

    /// What is in a bundle of `provost gather`.
    pub(super) fn bundle(path: &Path) -> Result<Self, Failure> {
        Self::read_bundle(path).map_err(|e| {
            let message = format!("reading the bundle {}: {e}", path.display());
            Failure::config(message, "give a log-bundle-….tar.gz that `provost gather` has made")
        })
    }

    fn read_bundle(path: &Path) -> std::io::Result<Self> {
        let mut archive = tar::Archive::new(GzDecoder::new(File::open(path)?));
        let (mut records, mut unreported) = (Vec::new(), 0);
        let (mut kernel, mut disks) = (String::new(), String::new());
        let mut commands = BTreeMap::new();
        for entry in archive.entries()? {
            let entry = entry?;
            let name = entry.path()?.into_owned();
            let inside = name.iter().skip(1).collect::<std::path::PathBuf>();
            if let Some(log) = log_name(&inside) {
                commands.insert(log, Summary::read(entry)?);
                continue;
            }
            let mut bytes = Vec::new();
            let read = || entry.take(MOST).read_to_end(&mut bytes).map(drop);
            if inside.starts_with("bootstrap/services") {
                read()?;
                records.extend(serde_json::from_slice::<Vec<Record>>(&bytes).unwrap_or_default());
                continue;
            }
            let text = match inside.to_str() {
                Some("host/dmesg.txt") => &mut kernel,
                Some("host/df.txt") => &mut disks,
                Some("unreported.txt") => {
                    read()?;
                    unreported = String::from_utf8_lossy(&bytes).trim().parse().unwrap_or(0);
                    continue;
                }
                _ => continue,
            };
            read()?;
            *text = String::from_utf8_lossy(&bytes).into_owned();
        }
        let mut runs = provost_record::runs(&records);
        // The ids are UUIDv7: in order of the time at which the runs began.
        runs.sort_by(|a, b| a.run.cmp(&b.run));
        let node = records.last().map_or_else(String::new, |record| record.node.clone());
        Ok(Self { node, records, runs, unreported, commands, kernel, disks })
    }
}

/// The name of a script's log in a bundle, `RUN/NN-SCRIPT`.
fn log_name(inside: &Path) -> Option<String> {
    let log = inside.strip_prefix("log/scripts").ok()?;
    log.to_str()?.strip_suffix(".log").map(str::to_owned)
}

/// Of the logs of a run that are on this node and can be read.
fn summaries(paths: &Paths, run: &Run) -> BTreeMap<String, Summary> {
    let summary = |(index, stage): (usize, &Stage)| {
        let log = File::open(log_of(paths, run, index, stage)?).ok()?;
        let name = Stage::log_name(index, &stage.stage, stage.attempt);
        Some((format!("{}/{name}", run.run), Summary::read(log).ok()?))
    };
    run.stages.iter().enumerate().filter_map(summary).collect()
}
