//! The log as it grows and the messages of the program in the sandbox, in one order.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use provost_sandbox::{End, Running, SandboxError};
use provost_steplog::terminal::escape;
use provost_steplog::view::{Part, Reader, View};

/// How long to wait until everything is looked at again.
const PAUSE: Duration = Duration::from_millis(10);
/// How long it may take to end once it was asked to: a script may have stopped it.
const GRACE: Duration = Duration::from_secs(15);
/// The most bytes of a message whose line doesn't end.
const MOST_OF_LINE: usize = 64 << 10;

/// Follows a program to its end. It has no thread of its own: there may be none beside a sandbox.
pub(super) struct Follow<'a> {
    running: Running,
    logs: &'a Path,
    known: &'a BTreeSet<PathBuf>,
    current: Option<(PathBuf, File)>,
    /// What it has printed, and isn't shown.
    printed: Vec<u8>,
    end: Option<Result<End, SandboxError>>,
    stops: Arc<AtomicUsize>,
    /// When all of it is killed.
    until: Instant,
}

impl<'a> Follow<'a> {
    pub(super) fn new(
        running: Running,
        logs: &'a Path,
        known: &'a BTreeSet<PathBuf>,
        stops: Arc<AtomicUsize>,
        limit: Duration,
    ) -> Self {
        let (current, printed) = (None, Vec::new());
        Self {
            running,
            logs,
            known,
            current,
            printed,
            end: None,
            stops,
            until: Instant::now() + limit + GRACE,
        }
    }

    /// Shows all on stdout and stderr, the log only if stdout isn't for JSON.
    pub(super) fn until_the_end(&mut self, json: bool) -> Result<End, SandboxError> {
        let view =
            View { part: Part::All, failed: false, json: false, reader: Reader::of_stdout() };
        if !json {
            // Nobody may read it; that is no reason to end.
            let _ = view.follow(&mut *self, io::stdout());
        }
        loop {
            let mut rest = [0; 4096];
            if matches!(self.read(&mut rest), Ok(0) | Err(_))
                && let Some(end) = self.end.take()
            {
                return end;
            }
        }
    }

    /// What the log has more.
    fn more(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some((_, file)) = &mut self.current
            && let n @ 1.. = file.read(buffer)?
        {
            return Ok(n);
        }
        let current = self.current.as_ref().map(|(path, _)| path);
        let logs = logs(self.logs, self.known);
        let Some(next) = logs.into_iter().find(|log| current.is_none_or(|current| log > current))
        else {
            return Ok(0);
        };
        let mut file = provost_fs::open_given(&next)?;
        let n = file.read(buffer)?;
        self.current = Some((next, file));
        Ok(n)
    }

    /// Takes what was printed since. Returns whether there is something.
    fn take_printed(&mut self) -> bool {
        let mut part = [0; 4096];
        let before = self.printed.len();
        while self.printed.len() < MOST_OF_LINE
            && let Ok(Some(n @ 1..)) = self.running.printed(&mut part)
        {
            self.printed.extend_from_slice(&part[..n]);
        }
        self.printed.len() > before
    }

    /// Shows its whole lines.
    fn show_printed(&mut self) {
        let is_over = self.end.is_some() || self.printed.len() >= MOST_OF_LINE;
        let whole = match is_over {
            true => self.printed.len(),
            false => self.printed.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1),
        };
        let text: Vec<u8> = self.printed.drain(..whole).collect();
        for line in String::from_utf8_lossy(&text).lines() {
            // Nobody may read it.
            let _ =
                io::Write::write_all(&mut io::stderr(), format!("{}\n", escape(line)).as_bytes());
        }
    }

    /// Passes on that it is to end.
    fn pass_on_stops(&mut self) {
        if self.stops.swap(0, Ordering::SeqCst) > 0 {
            self.running.terminate();
            self.until = self.until.min(Instant::now() + GRACE);
        }
        if Instant::now() >= self.until {
            self.running.kill();
        }
    }
}

impl Read for Follow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let n @ 1.. = self.more(buffer).unwrap_or_default() {
                return Ok(n);
            }
            // What was printed before the log was read belongs after it.
            self.show_printed();
            if self.take_printed() {
                continue;
            }
            if self.end.is_some() {
                self.show_printed();
                return Ok(0);
            }
            self.pass_on_stops();
            match self.running.try_wait() {
                Ok(None) => std::thread::sleep(PAUSE),
                Ok(Some(end)) => self.end = Some(Ok(end)),
                Err(e) => self.end = Some(Err(e)),
            }
        }
    }
}

/// The folders of runs that are there.
pub(super) fn folders(logs: &Path) -> BTreeSet<PathBuf> {
    in_folder(logs).collect()
}

/// The logs of all runs but those that are known, in their order: RUN/01-NAME.log, then
/// RUN/01-NAME.try2.log.
pub(super) fn logs(logs: &Path, known: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let new = in_folder(logs).filter(|run| !known.contains(run));
    let mut logs: Vec<PathBuf> = new.flat_map(|run| in_folder(&run).collect::<Vec<_>>()).collect();
    logs.sort();
    logs
}

fn in_folder(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}
