//! What scripts print, on stdout as they print it, for the caller of `xcatdsklspost`; and our own messages
//! on stderr, in order with it.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use provost_exec::Event;
use provost_node::observe::logging::{self, ConsoleSink};
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
    /// What wakes it, for who has only messages.
    queue: Queue,
    /// As xCAT's wrapper counts: the status of the last script that failed.
    last_failure: Rc<Cell<u8>>,
}

impl OutputEcho {
    /// The status of the last script that failed is put into `last_failure`.
    pub(crate) fn new(service: Service, last_failure: Rc<Cell<u8>>) -> Self {
        let queue = Queue::default();
        Self { is_update: service == Service::Run, echo: None, queue, last_failure }
    }

    /// What takes the console's messages: they are shown after all that a script has printed before.
    pub(crate) fn console(&self) -> ConsoleSink {
        let queue = Arc::clone(&self.queue);
        Arc::new(move |text| {
            let queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
            let unsent = match &*queue {
                Some(queue) => queue.send(Wake::Message(text.to_owned())).is_err(),
                // The run hasn't begun, or is over.
                None => true,
            };
            if unsent {
                let _ = io::stderr().write_all(text.as_bytes());
            }
        })
    }

    fn line(&self, line: String) {
        if let Some(echo) = self.echo.as_ref().filter(|_| self.is_update) {
            echo.line(line);
        }
    }
}

impl Observer for OutputEcho {
    fn run_started<'a>(&'a mut self, _: &'a RunContext) -> LocalBoxFuture<'a, ()> {
        self.echo = Echo::new(io::stdout(), io::stderr(), &self.queue);
        Box::pin(async {})
    }

    fn step_started(&mut self, step: StepContext<'_>) {
        if step.is_there {
            logging::release();
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
        logging::release();
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

/// Where the echo is woken, while there is one.
type Queue = Arc<Mutex<Option<Sender<Wake>>>>;

/// Copies the text of the scripts' logs, on a thread of its own: a reader that is slow, stuck or gone
/// delays no script. The logs are the buffer.
struct Echo {
    queue: Queue,
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
    /// A message of ours, while a script may go on printing.
    Message(String),
}

impl Echo {
    /// Copies to `out`, with messages on `err`. None where there is no room for a thread.
    fn new(
        mut out: impl Write + Send + 'static,
        mut err: impl Write + Send + 'static,
        queue: &Queue,
    ) -> Option<Self> {
        let (wake, wakes) = channel();
        let (wrote, progress) = channel();
        let woken = Arc::new(AtomicBool::new(false));
        let asleep = Arc::clone(&woken);
        let copy = move || {
            let (mut log, mut is_gone) = (None, false);
            for wake in wakes {
                asleep.store(false, Ordering::Relaxed);
                let wrote = || wrote.send(()).unwrap_or_default();
                if is_gone {
                    // Nobody reads stdout any more.
                    if let Wake::Message(text) = wake {
                        let _ = err.write_all(text.as_bytes());
                    }
                    continue;
                }
                let copied = match (wake, &mut log) {
                    (Wake::Log(path), log) => {
                        let new = Log { path, file: None, begun: Vec::new(), is_open: false };
                        log.insert(new).copy(&mut out, wrote)
                    }
                    (Wake::More, Some(log)) => log.copy(&mut out, wrote),
                    (Wake::More, None) => Ok(()),
                    (Wake::Message(text), log) => {
                        let copied = log.as_mut().map_or(Ok(()), |log: &mut Log| {
                            log.copy(&mut out, wrote)?;
                            log.end_line(&mut out)
                        });
                        let _ = err.write_all(text.as_bytes());
                        wrote();
                        copied
                    }
                    (Wake::Line(line), log) => {
                        let is_open = log.take().is_some_and(|log| log.is_open);
                        let before = if is_open { "\n" } else { "" };
                        let written = writeln!(out, "{before}{line}").and_then(|()| out.flush());
                        wrote();
                        written
                    }
                };
                is_gone = copied.is_err();
            }
        };
        let thread = Builder::new().stack_size(STACK).spawn(copy);
        thread.ok().map(|_| {
            *queue.lock().unwrap_or_else(PoisonError::into_inner) = Some(wake);
            Self { queue: Arc::clone(queue), woken, progress }
        })
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
        if let Some(queue) = &*self.queue.lock().unwrap_or_else(PoisonError::into_inner) {
            // Nobody is there where the thread is gone.
            let _ = queue.send(wake);
        }
        self.progress.try_iter().for_each(drop);
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        *self.queue.lock().unwrap_or_else(PoisonError::into_inner) = None;
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
    /// Ends a line that a script has begun.
    fn end_line(&mut self, out: &mut impl Write) -> io::Result<()> {
        if !std::mem::take(&mut self.is_open) {
            return Ok(());
        }
        out.write_all(b"\n").and_then(|()| out.flush())
    }

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
        let echo = Echo::new(Out(send), io::sink(), &Queue::default()).unwrap();
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
        let echo = Echo::new(Out(send), io::sink(), &Queue::default()).unwrap();
        echo.begin(&paths[0]);
        echo.more();
    }
}
