//! What is still to be reported. The journals hold it; a cursor beside each says how far the
//! management node has acknowledged it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use provost_record::{Entry, Journal, Service};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::settings::Paths;

/// The most records of one report.
const MOST_RECORDS: usize = 500;
/// About the most bytes of one report.
const MOST_BYTES: usize = 1 << 20;

/// The last record that the management node has acknowledged.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Cursor {
    run: String,
    seq: u64,
}

/// What is still to be reported.
pub(crate) struct Spool {
    paths: Paths,
    /// How far each journal has been reported, in bytes, once that was found out.
    reported: HashMap<Service, u64>,
    /// The journal that is being written, and how much of it is surely on the disk, in bytes.
    /// What a power cut could still take back must not be told.
    live: Option<(Service, watch::Receiver<u64>)>,
}

impl Spool {
    pub(crate) fn new(paths: &Paths) -> Self {
        Self { paths: paths.clone(), reported: HashMap::new(), live: None }
    }

    /// The spool of a run that is going on, which writes the journal `live`.
    pub(super) fn of_run(paths: &Paths, live: (Service, watch::Receiver<u64>)) -> Self {
        Self { live: Some(live), ..Self::new(paths) }
    }

    /// How many records of `service` aren't acknowledged.
    pub(crate) fn unreported(&self, service: Service) -> usize {
        self.rest(service).len()
    }

    /// How many records aren't acknowledged.
    pub(crate) fn unreported_at_all(&self) -> usize {
        Service::ALL.into_iter().map(|service| self.unreported(service)).sum()
    }

    fn rest(&self, service: Service) -> Vec<Entry> {
        let from = self.reported.get(&service).copied();
        // A journal that can't be read now is there for the next run.
        let mut entries =
            Journal::read(&self.paths.journal(service), from.unwrap_or(0)).unwrap_or_default();
        if let Some((_, synced)) = self.live.as_ref().filter(|(live, _)| *live == service) {
            let synced = *synced.borrow();
            entries.retain(|e| e.end <= synced);
        }
        if from.is_none()
            && let Some(cursor) = self.cursor(service)
        {
            let is_last = |e: &Entry| e.record.run == cursor.run && e.record.seq == cursor.seq;
            let begin = entries.iter().rposition(is_last).map_or(0, |at| at + 1);
            entries.drain(..begin);
        }
        entries
    }

    /// The next records of `service` to report, all of one run.
    pub(super) fn next(&self, service: Service) -> Vec<Entry> {
        let mut entries = self.rest(service);
        let Some(run) = entries.first().map(|e| e.record.run.clone()) else { return entries };
        let mut bytes = 0;
        let fits = |e: &&Entry| {
            bytes += e.json.get().len() + 1;
            e.record.run == run && bytes <= MOST_BYTES
        };
        let count = entries.iter().take(MOST_RECORDS).take_while(fits).count().max(1);
        entries.truncate(count);
        entries
    }

    /// Notes that everything up to and with `entry` is acknowledged.
    pub(super) async fn acknowledged(
        &mut self,
        service: Service,
        entry: &Entry,
    ) -> std::io::Result<()> {
        let cursor = Cursor { run: entry.record.run.clone(), seq: entry.record.seq };
        let (path, text) = (self.cursor_file(service), serde_json::to_vec(&cursor)?);
        // Waiting for the disk must not hold up a script's output.
        tokio::task::spawn_blocking(move || crate::runner::write_durably(&path, &text)).await??;
        self.reported.insert(service, entry.end);
        Ok(())
    }

    fn cursor(&self, service: Service) -> Option<Cursor> {
        serde_json::from_slice(&std::fs::read(self.cursor_file(service)).ok()?).ok()
    }

    fn cursor_file(&self, service: Service) -> PathBuf {
        self.paths.state.join(format!("report/{service}.json"))
    }

    /// Notes that the log of a failed step is to be uploaded, until it is.
    pub(crate) fn keep_log(&self, run: &str, log: &Path) {
        let name = log.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let folder = self.log_folder();
        let note = || {
            std::fs::create_dir_all(&folder)?;
            std::os::unix::fs::symlink(log, folder.join(format!("{run}.{name}")))
        };
        // The record says as much; the log itself stays on this node in any case.
        let _ = note();
    }

    /// The logs to upload: note, run, name and path of each.
    pub(super) fn logs(&self) -> Vec<(PathBuf, String, String, PathBuf)> {
        let Ok(entries) = std::fs::read_dir(self.log_folder()) else { return Vec::new() };
        let log = |entry: std::fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            let (run, name) = name.split_once('.')?;
            let path = std::fs::read_link(entry.path()).ok()?;
            Some((entry.path(), run.to_owned(), name.to_owned(), path))
        };
        let mut logs: Vec<_> = entries.flatten().filter_map(log).collect();
        logs.sort();
        logs
    }

    fn log_folder(&self) -> PathBuf {
        self.paths.state.join("report/logs")
    }
}
