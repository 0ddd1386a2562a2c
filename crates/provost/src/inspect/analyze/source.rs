use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use provost_record::{Record, Run, Stage};
use provost_steplog::Summary;

use crate::inspect::services::{self, Service};
use crate::inspect::{MOST_LOG, in_order, log_of};
use provost_node::failure::Failure;
use provost_node::observe::report::unreported;
use provost_node::settings::{Input, Paths};
use provost_node::state::lock::RunLock;

/// The most of one file in a bundle that is read, in bytes. A journal is rotated long before.
const MOST: u64 = 64 << 20;

/// Where a bundle has what is read of it.
const FOLDERS: [&str; 3] = ["log", "host", "unreported.txt"];

/// What there is to analyze.
#[derive(Default)]
pub(super) struct Source {
    /// Ours first, then others', each by name.
    pub(super) services: Vec<Service>,
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
    /// Why the rest of the bundle can't be read.
    pub(super) damage: Option<String>,
}

impl Source {
    /// What is on this node's disk.
    pub(super) fn here(input: &Input) -> Self {
        let paths = input.paths();
        let last = RunLock::last_run(&paths.state);
        let mut source = Self::of(services::on_this_node(&paths), last.as_deref());
        if source.node.is_empty() {
            source.node = input.node();
        }
        source.unreported = unreported(input);
        source.commands = source.runs.last().map(|run| summaries(&paths, run)).unwrap_or_default();
        source
    }

    /// What is in a bundle of `provost gather` or of OpenShift's installer.
    pub(super) fn bundle(path: &Path) -> Result<Self, Failure> {
        let refuse = |why: String| {
            let message = format!("reading the bundle {}: {why}", path.display());
            Failure::config(message, "name a log-bundle-….tar.gz of `provost gather`")
        };
        let source = Self::read_bundle(path).map_err(|e| refuse(e.to_string()))?;
        match (source.services.is_empty(), &source.damage) {
            (false, _) => Ok(source),
            (true, Some(damage)) => Err(refuse(format!("no tar or tar.gz archive: {damage}"))),
            (true, None) => Err(refuse("it has no bootstrap/services/SERVICE.json".to_owned())),
        }
    }

    fn of(mut services: Vec<Service>, last: Option<&str>) -> Self {
        let ours = services.iter().filter(|service| service.is_ours());
        let records: Vec<Record> = ours.flat_map(|service| service.records.clone()).collect();
        let runs = in_order(&records, last);
        let last = runs.last().and_then(|run| records.iter().rfind(|r| r.run == run.run));
        let node = last.map_or_else(String::new, |record| record.node.clone());
        let inner = runs.last().into_iter().flat_map(|run| &run.stages).flat_map(|s| &s.inner);
        for stopped in inner.filter(|inner| inner.is_stop()) {
            let others = services.iter_mut().filter(|service| !service.is_ours());
            others.for_each(|service| service.stopped_in(stopped));
        }
        Self { services, node, records, runs, ..Self::default() }
    }

    fn read_bundle(path: &Path) -> std::io::Result<Self> {
        let mut file = BufReader::new(File::open(path)?);
        // That of gzip's format, RFC 1952.
        let is_gzip = file.fill_buf()?.starts_with(&[0x1f, 0x8b]);
        let reader: Box<dyn Read> =
            if is_gzip { Box::new(GzDecoder::new(file)) } else { Box::new(file) };
        let mut bundle = Bundle::default();
        let damage = bundle.read(tar::Archive::new(reader)).err().map(|e| match e.kind() {
            // The library's own words repeat what is there.
            std::io::ErrorKind::Other => "no header of tar's format".to_owned(),
            _ => e.to_string(),
        });
        bundle.services.sort_by(|a, b| (!a.is_ours(), &a.name).cmp(&(!b.is_ours(), &b.name)));
        let Bundle { services, unreported, commands, kernel, disks } = bundle;
        let source = Self::of(services, None);
        Ok(Self { unreported, commands, kernel, disks, damage, ..source })
    }
}

/// What a bundle's files say.
#[derive(Default)]
struct Bundle {
    services: Vec<Service>,
    unreported: usize,
    commands: BTreeMap<String, Summary>,
    kernel: String,
    disks: String,
}

impl Bundle {
    fn read(&mut self, mut archive: tar::Archive<Box<dyn Read>>) -> std::io::Result<()> {
        for entry in archive.entries()? {
            let entry = entry?;
            if !entry.header().entry_type().is_file() {
                continue;
            }
            let path = entry.path()?.into_owned();
            if let Some(name) = service_name(&path) {
                let bytes = bytes(entry)?;
                self.services.push(Service::read(name, &bytes));
                continue;
            }
            // Below the bundle's folder, if it has one.
            let inside = path.iter().skip_while(|part| !FOLDERS.iter().any(|f| part == f));
            let inside = inside.collect::<std::path::PathBuf>();
            if let Some(log) = log_name(&inside) {
                self.commands.insert(log, Summary::read(entry)?);
                continue;
            }
            let text = || Ok::<_, std::io::Error>(text(bytes(entry)?));
            match inside.to_str() {
                Some("host/dmesg.txt") => self.kernel = text()?,
                Some("host/df.txt") => self.disks = text()?,
                Some("unreported.txt") => self.unreported = text()?.trim().parse().unwrap_or(0),
                _ => {}
            }
        }
        Ok(())
    }
}

fn bytes(entry: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    entry.take(MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The service whose record file this is, as OpenShift's reader finds it.
fn service_name(path: &Path) -> Option<&str> {
    let name = services::name(path)?;
    path.parent()?.ends_with("bootstrap/services").then_some(name)
}

/// The name of a script's log in a bundle, `RUN/NN-SCRIPT`.
fn log_name(inside: &Path) -> Option<String> {
    let log = inside.strip_prefix("log/scripts").ok()?;
    log.to_str()?.strip_suffix(".log").map(str::to_owned)
}

/// Of the logs of a run that are on this node and can be read.
fn summaries(paths: &Paths, run: &Run) -> BTreeMap<String, Summary> {
    let summary = |(index, stage): (usize, &Stage)| {
        let log = log_of(paths, run, index, stage)?;
        let log = provost_fs::open_bounded(&log, MOST_LOG).ok()?;
        let name = Stage::log_name(index, &stage.stage, stage.attempt);
        Some((format!("{}/{name}", run.run), Summary::read(log).ok()?))
    };
    run.stages.iter().enumerate().filter_map(summary).collect()
}
