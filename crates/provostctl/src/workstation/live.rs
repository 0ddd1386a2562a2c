//! What a run says and what its script prints, in one order: the log as it grows on stdout, the run's
//! messages on stderr.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use provost_steplog::view::{Part, Reader, ShowError, View};
use tokio::task::{JoinHandle, spawn_blocking};

use crate::output;

/// How long to wait until a log is looked at again.
const PAUSE: Duration = Duration::from_millis(20);

/// Shows the log of the one script that runs.
pub(super) struct Live {
    progress: Arc<Progress>,
    shown: JoinHandle<Result<(), ShowError>>,
}

/// How far the log was shown.
#[derive(Default)]
struct Progress {
    /// Counts the moments up to which it should be shown.
    wanted: AtomicU64,
    /// The last of them up to which it was.
    reached: AtomicU64,
    is_over: AtomicBool,
    /// Whether what was shown last ends within a line.
    is_within_line: AtomicBool,
}

impl Live {
    /// `logs` is the folder of all runs' logs, in which there is nothing yet.
    pub(super) fn start(logs: PathBuf) -> Self {
        let progress = Arc::new(Progress::default());
        let log = Growing { logs, current: None, progress: Arc::clone(&progress) };
        let reader = Reader::of_stdout();
        let view = View { part: Part::All, failed: false, json: false, reader };
        let out = Shown(Arc::clone(&progress));
        Self { progress, shown: spawn_blocking(move || view.follow(log, out)) }
    }

    /// Waits until everything is shown that was logged up to now.
    pub(super) async fn catch_up(&self) {
        let wanted = 1 + self.progress.wanted.fetch_add(1, Ordering::SeqCst);
        // A reader that has seen enough ends it.
        while !self.shown.is_finished() && self.progress.reached.load(Ordering::SeqCst) < wanted {
            tokio::time::sleep(PAUSE).await;
        }
        if self.progress.is_within_line.swap(false, Ordering::SeqCst) {
            output::note("");
        }
    }

    /// Shows the rest. Whether stdout was closed doesn't matter.
    pub(super) async fn finish(self) {
        self.progress.is_over.store(true, Ordering::SeqCst);
        let _ = self.shown.await;
    }
}

/// Stdout, and whether a line is open there.
struct Shown(Arc<Progress>);

impl Write for Shown {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = io::stdout().write(bytes)?;
        if let Some(last) = n.checked_sub(1).and_then(|last| bytes.get(last)) {
            self.0.is_within_line.store(*last != b'\n', Ordering::SeqCst);
        }
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

/// The logs of all tries, one after the other; a read waits for more.
struct Growing {
    logs: PathBuf,
    current: Option<(PathBuf, File)>,
    progress: Arc<Progress>,
}

impl Growing {
    fn more(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some((_, file)) = &mut self.current
            && let n @ 1.. = file.read(buffer)?
        {
            return Ok(n);
        }
        let Some(next) = self.next() else { return Ok(0) };
        let mut file = File::open(&next)?;
        let n = file.read(buffer)?;
        self.current = Some((next, file));
        Ok(n)
    }

    /// The log after the current one: LOG/scripts/RUN/01-NAME.log, then 01-NAME.try2.log.
    fn next(&self) -> Option<PathBuf> {
        let in_folder = |folder: PathBuf| folder.read_dir().into_iter().flatten().flatten();
        let runs = in_folder(self.logs.clone()).map(|run| run.path());
        let mut logs: Vec<PathBuf> = runs.flat_map(in_folder).map(|log| log.path()).collect();
        logs.sort();
        let current = self.current.as_ref().map(|(path, _)| path);
        logs.into_iter().find(|log| current.is_none_or(|current| log > current))
    }
}

impl Read for Growing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            // Before it is read: what is logged later may be missing.
            let wanted = self.progress.wanted.load(Ordering::SeqCst);
            let is_over = self.progress.is_over.load(Ordering::SeqCst);
            match self.more(buffer)? {
                0 if is_over => return Ok(0),
                0 => {
                    self.progress.reached.store(wanted, Ordering::SeqCst);
                    std::thread::sleep(PAUSE);
                }
                n => return Ok(n),
            }
        }
    }
}
