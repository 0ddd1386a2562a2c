//! What scripts print, on stdout as they print it, for the caller of `xcatdsklspost`.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use provost_exec::Event;
use provost_node::observe::observer::{Observer, RunContext, StepContext, StepEnd};
use provost_record::{Cause, Service};
use provost_steplog::{Entry, Line};

use super::log::status;

/// What xCAT's own wrapper exits with after a script that isn't there: -1.
const NOT_THERE: u8 = 255;

/// How much is read at once, in bytes.
const CHUNK: usize = 16 * 1024;
/// How long the end of a run waits for a reader that takes nothing.
const READER_LIMIT: Duration = Duration::from_secs(5);
/// The stack of the thread that writes, in bytes.
const STACK: usize = 128 * 1024;

/// Shows the output, and in an `updatenode` the lines between scripts that it looks for.
pub(crate) struct OutputEcho {
    is_update: bool,
    /// None before the run starts, and where there is no room for a thread.
    echo: Option<Echo>,
    /// As xCAT's wrapper counts: the status of the last script that failed.
    last_failure: Rc<Cell<u8>>,
}

impl OutputEcho {
    /// The status of the last script that failed is put into `last_failure`.
    pub(crate) fn new(service: Service, last_failure: Rc<Cell<u8>>) -> Self {
        Self { is_update: service == Service::Run, echo: None, last_failure }
    }

    fn line(&self, line: String) {
        if let Some(echo) = self.echo.as_ref().filter(|_| self.is_update) {
            echo.line(line);
        }
    }
}

impl Observer for OutputEcho {
    fn run_started<'a>(&'a mut self, _: &'a RunContext) -> LocalBoxFuture<'a, ()> {
        self.echo = Echo::new(io::stdout());
        Box::pin(async {})
    }

    fn step_started(&mut self, step: StepContext<'_>) {
        if step.is_there {
            self.line(format!("postscript start..: {}", step.script));
        }
        if let Some(echo) = &self.echo {
            echo.begin(step.log);
        }
    }

    fn step_running(&mut self, _: StepContext<'_>, event: &Event) {
        if let (Some(echo), Event::Line(_)) = (&self.echo, event) {
            echo.more();
        }
    }

    fn step_ended(&mut self, step: StepContext<'_>, end: StepEnd<'_>) {
        if let Some(echo) = &self.echo {
            echo.more();
        }
        if end.record.is_failure() && end.retry.is_none() {
            let is_there = end.record.cause != Some(Cause::Missing);
            // Of a status, a process has the low 8 bits (wait(2)).
            let status = if is_there { status(end.record) as u8 } else { NOT_THERE };
            self.last_failure.set(status);
        }
        let (script, end) = (step.script, end.record);
        self.line(match end.cause {
            Some(Cause::Missing) => format!("postscript {script} does NOT exist."),
            _ => format!("postscript end....: {script} exited with code {}", status(end)),
        });
    }

    fn shows_output(&self) -> bool {
        true
    }
}

/// Copies the text of the scripts' logs, on a thread of its own: a reader that is slow, stuck or gone
/// delays no script. The logs are the buffer.
struct Echo {
    wake: Option<Sender<Wake>>,
    /// Whether it is woken already for more output.
    woken: Arc<AtomicBool>,
    /// A message for each piece that was written; disconnected at the end.
    progress: Receiver<()>,
}

enum Wake {
    /// Another log begins.
    Log(PathBuf),
    /// There may be more in it.
    More,
    /// A line of ours.
    Line(String),
}

impl Echo {
    /// Copies to `out`. None where there is no room for a thread.
    fn new(mut out: impl Write + Send + 'static) -> Option<Self> {
        let (wake, wakes) = channel();
        let (wrote, progress) = channel();
        let woken = Arc::new(AtomicBool::new(false));
        let asleep = Arc::clone(&woken);
        let copy = move || {
            let mut log = None;
            for wake in wakes {
                asleep.store(false, Ordering::Relaxed);
                let wrote = || wrote.send(()).unwrap_or_default();
                let copied = match (wake, &mut log) {
                    (Wake::Log(path), log) => {
                        let new = Log { path, file: None, begun: Vec::new(), is_open: false };
                        log.insert(new).copy(&mut out, wrote)
                    }
                    (Wake::More, Some(log)) => log.copy(&mut out, wrote),
                    (Wake::More, None) => Ok(()),
                    (Wake::Line(line), log) => {
                        let is_open = log.take().is_some_and(|log| log.is_open);
                        let before = if is_open { "\n" } else { "" };
                        let written = writeln!(out, "{before}{line}").and_then(|()| out.flush());
                        wrote();
                        written
                    }
                };
                if copied.is_err() {
                    // The reader is gone.
                    return;
                }
            }
        };
        let thread = Builder::new().stack_size(STACK).spawn(copy);
        thread.ok().map(|_| Self { wake: Some(wake), woken, progress })
    }

    /// A script writes to `log` from now on.
    fn begin(&self, log: &Path) {
        self.send(Wake::Log(log.to_owned()));
    }

    /// It has written more.
    fn more(&self) {
        if !self.woken.swap(true, Ordering::Relaxed) {
            self.send(Wake::More);
        }
    }

    /// Writes a line between the logs.
    fn line(&self, line: String) {
        self.send(Wake::Line(line));
    }

    fn send(&self, wake: Wake) {
        if let Some(queue) = &self.wake {
            // Nobody is there where the reader is gone.
            let _ = queue.send(wake);
        }
        self.progress.try_iter().for_each(drop);
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.wake = None;
        while self.progress.recv_timeout(READER_LIMIT).is_ok() {}
    }
}

/// A log that may grow.
struct Log {
    path: PathBuf,
    /// Once it is there.
    file: Option<File>,
    /// The beginning of a line that isn't all there yet.
    begun: Vec<u8>,
    /// Whether what was written last had no newline at its end.
    is_open: bool,
}

impl Log {
    /// Copies what was printed since.
    fn copy(&mut self, out: &mut impl Write, wrote: impl Fn()) -> io::Result<()> {
        self.file = self.file.take().or_else(|| provost_fs::open_to_read(&self.path).ok());
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut chunk = vec![0; CHUNK];
        let mut text = Vec::new();
        loop {
            let n = file.read(&mut chunk).unwrap_or_default();
            if n == 0 {
                return out.flush();
            }
            self.begun.extend_from_slice(&chunk[..n]);
            let whole = self.begun.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
            for line in self.begun[..whole].split_inclusive(|b| *b == b'\n') {
                let Entry::Output { whole, text: printed, .. } = Line::parse(line).entry else {
                    continue;
                };
                text.extend_from_slice(printed);
                if whole {
                    text.push(b'\n');
                }
                self.is_open = !whole;
            }
            self.begun.drain(..whole);
            out.write_all(&text)?;
            text.clear();
            wrote();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::SyncSender;

    use super::*;

    struct Out(SyncSender<Vec<u8>>);

    impl Write for Out {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
            self.0.send(bytes.to_vec()).map_err(gone).map(|()| bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logs(texts: &[&str]) -> (tempfile::TempDir, Vec<PathBuf>) {
        let folder = tempfile::tempdir().unwrap();
        let write = |(at, text): (usize, &&str)| {
            let path = folder.path().join(at.to_string());
            std::fs::write(&path, text).unwrap();
            path
        };
        let paths = texts.iter().enumerate().map(write).collect();
        (folder, paths)
    }

    #[test]
    fn the_text_of_each_log_comes_in_order_and_as_it_was_printed() {
        let (_folder, paths) = logs(&[
            "T stdout F one\nT exec F 2 1 a\nT stderr F  two  \nT stdout F \nT stdout P thr",
            "T stdout F four\n",
            "T stdout P fi\n",
        ]);
        let (send, got) = std::sync::mpsc::sync_channel(100);
        let echo = Echo::new(Out(send)).unwrap();
        echo.begin(&paths[0]);
        assert_eq!(got.recv().unwrap(), b"one\n two  \n\n");
        let mut log = File::options().append(true).open(&paths[0]).unwrap();
        log.write_all(b"ee\nT exit F 2 0 3ms\nT stdout F .\n").unwrap();
        echo.more();
        echo.begin(&paths[1]);
        echo.line("end".to_owned());
        echo.begin(&paths[2]);
        echo.line("end".to_owned());
        drop(echo);
        assert_eq!(got.iter().collect::<Vec<_>>().concat(), b"three.\nfour\nend\nfi\nend\n");
    }

    #[test]
    fn a_reader_that_is_gone_costs_nothing() {
        let (_folder, paths) = logs(&["T stdout F one\n"]);
        let (send, got) = std::sync::mpsc::sync_channel(0);
        drop(got);
        let echo = Echo::new(Out(send)).unwrap();
        echo.begin(&paths[0]);
        echo.more();
    }
}
