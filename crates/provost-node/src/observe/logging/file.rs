//! `LOG/provost.log`, which a thread of tracing-appender writes.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::Builder;
use std::time::Duration;

use jiff::Timestamp;
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};

use super::layer::Sink;
use super::message::{Message, Severity};

const NAME: &str = "provost.log";
/// A file that is longer is put aside, in bytes.
const MOST: u64 = 1 << 20;
/// How many files that were put aside are kept, as `provost.1.log` and so on, the newest first.
const KEPT: u32 = 3;
/// How many messages may wait for a slow disk. The queue takes 40 bytes for each from the start.
const ROOM: usize = 2000;
/// How long the end of the process waits for those on their way.
const FLUSH: Duration = Duration::from_millis(1500);

/// The end that messages are written to.
pub(super) struct LogFile(NonBlocking);

/// Sees to it that the last messages get into the file.
pub(super) struct LogFlush {
    end: NonBlocking,
    dropped: ErrorCounter,
    worker: Option<WorkerGuard>,
}

impl LogFile {
    /// Starts to write `provost.log` in `folder`. None where there is no room for a thread.
    pub(super) fn start(folder: &Path) -> Option<(Self, LogFlush)> {
        // tracing-appender panics where it gets no thread.
        Builder::new().spawn(|| {}).ok()?.join().ok()?;
        // Lossy: if it weren't, a full queue would hold up the run. It loses only what a disk that
        // hangs hasn't taken for 2000 messages, and says so.
        let builder = NonBlockingBuilder::default().lossy(true).buffered_lines_limit(ROOM);
        let (end, worker) = builder.thread_name(NAME).finish(RotatedFile::new(folder, MOST));
        let guard =
            LogFlush { end: end.clone(), dropped: end.error_counter(), worker: Some(worker) };
        Some((Self(end), guard))
    }
}

impl Sink for LogFile {
    const LEAST: Severity = Severity::Debug;

    fn write(&self, message: &Message) {
        write(&self.0, message.at, &message.lines);
    }
}

fn write(end: &NonBlocking, at: Timestamp, lines: &[impl AsRef<str>]) {
    let text: String = lines.iter().map(|line| format!("{at} {}\n", line.as_ref())).collect();
    // Never fails: it is queued or dropped.
    let _ = end.clone().write_all(text.as_bytes());
}

impl Drop for LogFlush {
    fn drop(&mut self) {
        let dropped = self.dropped.dropped_lines();
        if dropped > 0 {
            let text = format!("dropped {dropped} messages: the disk was too slow");
            write(&self.end, provost_record::now(), &[text]);
        }
        // It takes 1.1 s at most. But if the queue is full, tracing-appender prints on stdout,
        // which may be stuck as well.
        let worker = self.worker.take();
        let (finished, done) = std::sync::mpsc::sync_channel(1);
        let flush = move || {
            drop(worker);
            let _ = finished.send(());
        };
        if Builder::new().spawn(flush).is_ok() {
            let _ = done.recv_timeout(FLUSH);
        }
    }
}

/// A file that is put aside when it is long. tracing-appender's own rotation depends on the time
/// alone, and bounds no size.
struct RotatedFile {
    folder: PathBuf,
    /// In bytes.
    most: u64,
    /// None until the first message, and after an error.
    file: Option<File>,
    len: u64,
}

impl RotatedFile {
    fn new(folder: &Path, most: u64) -> Self {
        Self { folder: folder.to_owned(), most, file: None, len: 0 }
    }

    fn path(&self, number: u32) -> PathBuf {
        self.folder.join(match number {
            0 => NAME.to_owned(),
            number => format!("provost.{number}.log"),
        })
    }

    /// The file for the next message.
    fn file(&mut self) -> io::Result<&mut File> {
        let mut file = match self.file.take() {
            Some(file) => file,
            None => self.open()?,
        };
        if self.len >= self.most {
            self.put_aside(&file)?;
            file = self.open()?;
        }
        Ok(self.file.insert(file))
    }

    fn open(&mut self) -> io::Result<File> {
        provost_fs::create_private_folder(&self.folder)?;
        let path = self.path(0);
        let open = || provost_fs::open(&path, OpenOptions::new().create(true).append(true));
        let file = open().or_else(|e| match provost_fs::refusal(&e) {
            // What isn't ours goes the way of an old one.
            Some(_) => {
                self.rename_all();
                open()
            }
            None => Err(e),
        })?;
        self.len = file.metadata()?.len();
        Ok(file)
    }

    /// Renames `file`, unless another process has done so, and those before it.
    fn put_aside(&self, file: &File) -> io::Result<()> {
        let inode = file.metadata()?.ino();
        if std::fs::metadata(self.path(0)).is_ok_and(|now| now.ino() == inode) {
            self.rename_all();
        }
        Ok(())
    }

    fn rename_all(&self) {
        for number in (0..KEPT).rev() {
            // The older ones may not be there yet.
            let _ = std::fs::rename(self.path(number), self.path(number + 1));
        }
    }
}

impl Write for RotatedFile {
    /// Writes a whole message, so that those of several processes don't mix.
    fn write(&mut self, message: &[u8]) -> io::Result<usize> {
        let n = self.file()?.write(message)?;
        self.len += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(folder: &Path, names: &[&str]) -> String {
        names.iter().map(|name| std::fs::read_to_string(folder.join(name)).unwrap()).collect()
    }

    #[test]
    fn a_long_file_is_put_aside_and_few_of_those_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        // Two processes.
        let mut files = [RotatedFile::new(&log, 100), RotatedFile::new(&log, 100)];
        for n in 0..100 {
            files[n % 2].write_all(format!("{n:>9}\n").as_bytes()).unwrap();
        }
        let entries = std::fs::read_dir(&log).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["provost.1.log", "provost.2.log", "provost.3.log", "provost.log"]);
        let all = read(&log, &["provost.3.log", "provost.2.log", "provost.1.log", "provost.log"]);
        // Each may go on until it has written so much by itself.
        assert!((300..=800).contains(&all.len()) && all.ends_with("       99\n"), "{all}");
    }

    #[test]
    fn a_file_that_was_long_before_is_put_aside_first() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(NAME), "x".repeat(100)).unwrap();
        RotatedFile::new(folder.path(), 100).write_all(b"new\n").unwrap();
        assert_eq!(read(folder.path(), &[NAME]), "new\n");
        assert_eq!(read(folder.path(), &["provost.1.log"]).len(), 100);
    }
}
