use std::collections::HashSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use provost_api::LogKind;
use provost_fs::Durability;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use super::error::failed;
use super::reserve::Reserve;
use crate::quota::{LogUsage, OverQuota, Quota, Removable, SMALLEST_LOG};
use crate::retention::OldRun;
use crate::store::is_file_name;
use crate::{Answer, Pruned, StoreError, UploadedLog};

/// How the files' names end: logs of successful steps, and others. Names without one are of writes that a crash has
/// interrupted.
const ENDINGS: [(LogKind, &str); 2] = [(LogKind::Failure, ".log"), (LogKind::Success, ".success")];
/// How the names of files that are being written begin (`tempfile`'s own prefix).
const TEMPORARY: &[u8] = b".tmp";
/// How far the time of a new file may be behind the clock: the kernel takes that of its last tick.
const TICK: Duration = Duration::from_millis(20);
/// How many logs are written at once.
const STRIPES: usize = 64;
const HOUR: Duration = Duration::from_secs(3600);

/// Uploaded logs: `NODE/RUN/NN-SCRIPT.log`, of successful steps `NODE/RUN/NN-SCRIPT.success`.
pub(super) struct Logs {
    root: PathBuf,
    quota: Quota,
    reserve: Arc<Reserve>,
    /// One of them is held while a log is written, so that logs of one node at the same time can't
    /// exceed its quota together.
    writing: [Mutex<()>; STRIPES],
}

impl Logs {
    /// The folder `root`. What an earlier daemon has left half-written is removed, by a thread of
    /// its own: there may be millions of files.
    pub(super) fn new(root: PathBuf, quota: Quota, reserve: Arc<Reserve>) -> Self {
        let (folder, started) = (root.clone(), SystemTime::now() - TICK);
        // Without a thread, the files are left for the next start.
        let _ = std::thread::Builder::new().name("sweep".into()).spawn(move || {
            sweep(&folder, started, 3);
            folder.parent().into_iter().for_each(|data| sweep(data, started, 1));
        });
        Self { root, quota, reserve, writing: [const { Mutex::const_new(()) }; STRIPES] }
    }

    pub(super) fn put<'a>(
        &'a self,
        node: &'a str,
        log: UploadedLog,
        kind: LogKind,
        bytes: Vec<u8>,
    ) -> Answer<'a, Pruned> {
        Box::pin(async move {
            let path = self.path(node, &log, kind)?;
            let other = self.path(node, &log, other(kind))?;
            let mut hasher = DefaultHasher::new();
            node.hash(&mut hasher);
            let _writing = self.writing[hasher.finish() as usize % STRIPES].lock().await;
            let (quota, reserve) = (self.quota, Arc::clone(&self.reserve));
            let work = move |path: &Path| {
                reserve.fill()?;
                let room = make_room(path, &other, bytes.len() as u64, quota)?;
                let Ok(gone) = room else { return Ok(room.map(|_| Pruned::default())) };
                let mut removed = Pruned::default();
                for (log, bytes) in gone {
                    found(fs::remove_file(log))?;
                    removed += Pruned { logs: 1, log_bytes: bytes, ..Pruned::default() };
                }
                write(path, &bytes)?;
                found(fs::remove_file(&other))?;
                Ok(Ok(removed))
            };
            let written = self.blocking("writing", path, work).await?;
            written.map_err(|over| StoreError::over_quota(node, "logs", over))
        })
    }

    pub(super) fn get<'a>(
        &'a self,
        node: &'a str,
        log: &'a UploadedLog,
    ) -> Answer<'a, Option<Vec<u8>>> {
        Box::pin(async move {
            for (kind, _) in ENDINGS {
                let path = self.path(node, log, kind)?;
                let bytes = self.blocking("reading", path, |path| found(fs::read(path))).await?;
                if bytes.is_some() {
                    return Ok(bytes);
                }
            }
            Ok(None)
        })
    }

    pub(super) fn list<'a>(&'a self, node: &'a str) -> Answer<'a, Vec<UploadedLog>> {
        Box::pin(async move {
            let folder = self.root.join(element(&self.root, node)?);
            self.blocking("reading", folder, list).await
        })
    }

    /// Removes all logs of a node.
    pub(super) fn remove<'a>(&'a self, node: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            let folder = self.root.join(element(&self.root, node)?);
            let remove = |folder: &Path| found(fs::remove_dir_all(folder)).map(|_| ());
            self.blocking("removing", folder, remove).await
        })
    }

    /// Counts the logs of `runs`, and those that were written before `oldest`, in milliseconds of Unix
    /// time; and removes them, if `removes`.
    pub(super) async fn old(
        &self,
        runs: Vec<OldRun>,
        oldest: Option<i64>,
        removes: bool,
    ) -> Result<Pruned, StoreError> {
        let time =
            |ms: i64| SystemTime::UNIX_EPOCH + Duration::from_millis(ms.max(0).unsigned_abs());
        let oldest = oldest.map(time);
        let work = move |root: &Path| match oldest {
            Some(oldest) => old(root, oldest, &runs, removes),
            None => of_runs(root, &runs, removes),
        };
        self.blocking("removing old logs in", self.root.clone(), work).await
    }

    fn path(&self, node: &str, log: &UploadedLog, kind: LogKind) -> Result<PathBuf, StoreError> {
        let run = self.root.join(element(&self.root, node)?).join(element(&self.root, &log.run)?);
        Ok(run.join(element(&self.root, &file_name(&log.name, kind))?))
    }

    async fn blocking<T: Send + 'static>(
        &self,
        doing: &'static str,
        path: PathBuf,
        work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let task = spawn_blocking(move || work(&path).map_err(|e| failed(doing, &path, e)));
        task.await.map_err(|e| failed(doing, &self.root, e))?
    }
}

/// The name of the file of the log `name`.
pub(super) fn file_name(name: &str, kind: LogKind) -> String {
    let ending = ENDINGS.iter().find(|(of, _)| *of == kind).map_or("", |(_, ending)| ending);
    format!("{name}{ending}")
}

/// Which log the file of this name has.
pub(super) fn log_of(file_name: &str) -> Option<(&str, LogKind)> {
    ENDINGS.iter().find_map(|(kind, ending)| Some((file_name.strip_suffix(ending)?, *kind)))
}

fn other(kind: LogKind) -> LogKind {
    match kind {
        LogKind::Failure => LogKind::Success,
        LogKind::Success => LogKind::Failure,
    }
}

/// Accepts `name` only if it is one element of a path.
fn element<'a>(root: &Path, name: &'a str) -> Result<&'a str, StoreError> {
    match is_file_name(name) {
        true => Ok(name),
        false => Err(failed("filing a log in", root, format!("{name:?} isn't a file name"))),
    }
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    provost_fs::create_folder_of(path)?;
    provost_fs::replace(path, bytes, Durability::PowerCut)?;
    // The folders of the run and of the node may be new.
    path.ancestors().skip(2).take(2).try_for_each(provost_fs::sync_folder)
}

/// Which files have to go, with their sizes, so that a node may store a log of `bytes` bytes at `path`, in place of
/// `other`: by the files that it has.
fn make_room(
    path: &Path,
    other: &Path,
    bytes: u64,
    quota: Quota,
) -> io::Result<Result<Vec<(PathBuf, u64)>, OverQuota>> {
    let counted = |bytes: u64| bytes.max(SMALLEST_LOG);
    let (mut in_hour, mut all, mut oldest) = (counted(bytes), counted(bytes), Duration::ZERO);
    let mut removable = Vec::new();
    let node = path.ancestors().nth(2).unwrap_or(path);
    for run in found(fs::read_dir(node))?.into_iter().flatten() {
        for log in fs::read_dir(run?.path())? {
            let log = log?.path();
            if log == path || log == other {
                continue;
            }
            let Some(file) = found(fs::metadata(&log))? else { continue };
            all += counted(file.len());
            // A time in the future is now.
            let age = file.modified()?.elapsed().unwrap_or_default();
            if age < HOUR {
                in_hour += counted(file.len());
                oldest = oldest.max(age);
            }
            let name = log.file_name().and_then(|name| name.to_str());
            if name.and_then(log_of).is_some_and(|(_, kind)| kind == LogKind::Success) {
                removable.push((age, log, file.len()));
            }
        }
    }
    // Runs' ids are in the order in which they began.
    removable.sort_by(|(a, log, _), (b, other, _)| b.cmp(a).then_with(|| log.cmp(other)));
    let removable = removable.into_iter().map(|(age, log, bytes)| Removable {
        key: (log, bytes),
        bytes: counted(bytes),
        in_hour: age < HOUR,
    });
    let usage = LogUsage { in_hour, all, left: HOUR.saturating_sub(oldest).as_secs() };
    Ok(quota.make_room(usage, removable))
}

/// Removes the temporary files below `folder` that are older than this daemon.
fn sweep(folder: &Path, started: SystemTime, depth: u32) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 1 {
            sweep(&entry.path(), started, depth - 1);
        }
        let is_temporary = entry.file_name().as_encoded_bytes().starts_with(TEMPORARY);
        let is_old = || entry.metadata()?.modified().map(|at| at < started);
        if kind.is_file() && is_temporary && is_old().unwrap_or(false) {
            // The next start tries again.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn old(root: &Path, oldest: SystemTime, runs: &[OldRun], removes: bool) -> io::Result<Pruned> {
    let runs: HashSet<PathBuf> =
        runs.iter().map(|old| Path::new(&old.node).join(&old.run)).collect();
    let mut all = Pruned::default();
    for node in found(fs::read_dir(root))?.into_iter().flatten() {
        for run in found(fs::read_dir(node?.path()))?.into_iter().flatten() {
            let run = run?.path();
            let is_old_run = run.strip_prefix(root).is_ok_and(|run| runs.contains(run));
            all += old_in(&run, (!is_old_run).then_some(oldest), removes)?;
        }
    }
    Ok(all)
}

fn of_runs(root: &Path, runs: &[OldRun], removes: bool) -> io::Result<Pruned> {
    let mut all = Pruned::default();
    // A node or a run with another name has no log.
    for run in runs.iter().filter(|run| is_file_name(&run.node) && is_file_name(&run.run)) {
        all += old_in(&root.join(&run.node).join(&run.run), None, removes)?;
    }
    Ok(all)
}

/// The logs in the folder of a run, those that were written before `oldest` or all.
fn old_in(run: &Path, oldest: Option<SystemTime>, removes: bool) -> io::Result<Pruned> {
    let mut all = Pruned::default();
    for log in found(fs::read_dir(run))?.into_iter().flatten() {
        let log = log?;
        let Some(file) = found(log.metadata())? else { continue };
        if oldest.is_some_and(|oldest| oldest <= file.modified().unwrap_or(oldest)) {
            continue;
        }
        all += Pruned { logs: 1, log_bytes: file.len(), ..Pruned::default() };
        if removes {
            found(fs::remove_file(log.path()))?;
        }
    }
    if removes {
        // Fails where it has others.
        let _ = fs::remove_dir(run);
    }
    Ok(all)
}

fn list(node: &Path) -> io::Result<Vec<UploadedLog>> {
    let mut logs = Vec::new();
    for run in found(fs::read_dir(node))?.into_iter().flatten() {
        let run = run?;
        for log in fs::read_dir(run.path())? {
            let name = log?.file_name();
            if let (Some(run), Some((name, _))) =
                (run.file_name().to_str(), name.to_str().and_then(log_of))
            {
                logs.push(UploadedLog { run: run.to_owned(), name: name.to_owned() });
            }
        }
    }
    // A crash may have left one of each kind.
    logs.sort();
    logs.dedup();
    Ok(logs)
}

pub(super) fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(it) => Ok(Some(it)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}
