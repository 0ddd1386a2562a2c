//! The log of a step.
//!
//! Lines stand as container runtimes write them, so that log collectors can read them:
//! `TIME STREAM TAG TEXT`, where STREAM is `stdout` or `stderr` and TAG is `F` for a whole line
//! or `P` for a piece that the next one of the same stream goes on with. Text is kept byte for
//! byte: an `F` line stands for its text and a newline, a `P` line for its text alone.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use provost_steplog::terminal::plain;

use super::log_file::LogFile;
use super::secrets::{Redactor, Secrets};
use super::stream::Stream;

/// A line longer than this is written in pieces, in bytes; the size that container runtimes use.
const PIECE: usize = 16 * 1024;
/// How much is written to the log at once while a program prints without pause, in bytes: the
/// page cache takes large pieces at three times the speed of a pipe's 8 KiB.
const BATCH: usize = 256 * 1024;
/// How long what was printed may wait for its batch.
const WRITE_EVERY: Duration = Duration::from_millis(20);
/// How many lines are kept for the record.
const LAST_LINES: usize = 8;
/// How many lines of each output are kept until the end, in which an interpreter may say where a
/// script failed; a traceback is long.
const TAIL: usize = 64;
/// How much of a line is kept for the record, in bytes.
const LAST_LINE_LEN: usize = 1024;

/// Takes a program's output, writes the log, keeps the last lines. Needs the same memory
/// whatever the program prints.
pub(crate) struct Capture {
    log: Option<LogFile>,
    error: Option<io::Error>,
    /// What takes secrets out, where there are any.
    redactor: Option<Redactor>,
    /// What waits to be written.
    out: Vec<u8>,
    /// When it will have waited long enough.
    due: Option<Instant>,
    partial: [Vec<u8>; 2],
    /// Per stream, the last lines that aren't blank, each with its number in both.
    last: [VecDeque<(u64, Vec<u8>)>; 2],
    lines: u64,
    /// How much was printed, in bytes.
    printed: u64,
    /// Per stream, the beginning of the line that is being written, for the last lines.
    head: [Vec<u8>; 2],
}

impl Capture {
    /// Writes to `log`, and lets none of `secrets` through.
    pub(crate) fn new(log: &Path, secrets: &Secrets) -> Self {
        let (log, error) = match open(log) {
            Ok(file) => (Some(LogFile::new(file)), None),
            Err(e) => (None, Some(e)),
        };
        Self {
            log,
            error,
            redactor: secrets.redactor(),
            out: Vec::new(),
            due: None,
            partial: Default::default(),
            last: Default::default(),
            lines: 0,
            printed: 0,
            head: Default::default(),
        }
    }

    /// Takes what was read from `stream` just now.
    pub(crate) fn take(&mut self, stream: Stream, chunk: &[u8]) {
        self.printed += chunk.len() as u64;
        let Some(mut redactor) = self.redactor.take() else { return self.put(stream, chunk) };
        self.put(stream, redactor.take(stream, chunk));
        self.redactor = Some(redactor);
    }

    fn put(&mut self, stream: Stream, chunk: &[u8]) {
        let prefix = prefix(stream);
        let partial = &mut self.partial[stream as usize];
        let mut rest = chunk;
        while let Some(at) = memchr::memchr(b'\n', rest) {
            if partial.is_empty() {
                push(&mut self.out, &prefix, b"F ", &rest[..at]);
            } else {
                partial.extend_from_slice(&rest[..at]);
                push(&mut self.out, &prefix, b"F ", partial);
                partial.clear();
            }
            rest = &rest[at + 1..];
        }
        partial.extend_from_slice(rest);
        if partial.len() >= PIECE {
            push(&mut self.out, &prefix, b"P ", partial);
            partial.clear();
        }
        self.remember_last(stream, chunk);
        self.plan_write();
    }

    fn plan_write(&mut self) {
        if self.out.len() >= BATCH {
            self.write();
        } else if self.due.is_none() {
            self.due = Some(Instant::now() + WRITE_EVERY);
        }
    }

    /// Puts a line of the keeper's own after all that was printed so far, which is what follows its
    /// time.
    pub(crate) fn put_line(&mut self, text: &str) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let partial = &mut self.partial[stream as usize];
            if !partial.is_empty() {
                push(&mut self.out, &prefix(stream), b"P ", partial);
                partial.clear();
            }
        }
        self.put_raw(&Self::line(text));
    }

    /// A line with its time, to be put later.
    pub(crate) fn line(text: &str) -> Box<[u8]> {
        format!("{:.3} {text}\n", Timestamp::now()).into_bytes().into()
    }

    /// Puts such a line.
    pub(crate) fn put_raw(&mut self, line: &[u8]) {
        self.out.extend_from_slice(line);
        self.plan_write();
    }

    /// When something has to be written at the latest.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Keeps the last lines of `chunk`; what stands before them need not be looked at.
    fn remember_last(&mut self, stream: Stream, chunk: &[u8]) {
        let before = memchr::memrchr_iter(b'\n', chunk).nth(TAIL);
        if before.is_some() {
            self.head[stream as usize].clear();
        }
        let chunk = &chunk[before.map_or(0, |at| at + 1)..];
        for part in chunk.split_inclusive(|b| *b == b'\n') {
            match part.strip_suffix(b"\n") {
                Some(text) => self.remember(stream, text, true),
                None => self.remember(stream, part, false),
            }
        }
    }

    fn remember(&mut self, stream: Stream, text: &[u8], whole: bool) {
        let head = &mut self.head[stream as usize];
        for (at, part) in text.split(|b| *b == b'\r').enumerate() {
            let last = |head: &[u8]| memchr::memrchr(b'\r', head).map_or(0, |at| at + 1);
            if at > 0 {
                // A progress meter goes back to write over what stands there, or to erase it: what it
                // wrote before is kept until there is something else.
                let begin = last(head);
                match shown(&head[begin..]).is_empty() {
                    true => head.truncate(begin),
                    false => drop(head.drain(..begin)),
                }
                if !head.ends_with(b"\r") {
                    head.push(b'\r');
                }
            }
            let room = LAST_LINE_LEN.saturating_sub(head.len() - last(head));
            head.extend_from_slice(&part[..part.len().min(room)]);
        }
        if !whole {
            return;
        }
        if head.trim_ascii().is_empty() {
            head.clear();
            return;
        }
        let last = &mut self.last[stream as usize];
        // The oldest line's room serves for the next one.
        let room = if last.len() < TAIL { None } else { last.pop_front() };
        let mut next = room.map(|(_, room)| room).unwrap_or_default();
        next.clear();
        std::mem::swap(head, &mut next);
        last.push_back((self.lines, next));
        self.lines += 1;
    }

    /// Writes what waits.
    pub(crate) fn write(&mut self) {
        self.due = None;
        if let Some(log) = &mut self.log
            && let Err(e) = log.write(&self.out)
        {
            // The script goes on; that its log is cut short is told with the outcome.
            self.error = Some(e);
            self.log = None;
        }
        self.out.clear();
    }

    /// How much was printed so far, in bytes.
    pub(crate) fn printed(&self) -> u64 {
        self.printed
    }

    /// The line that was printed last.
    pub(crate) fn last_line(&self) -> Option<String> {
        let last = self.last.iter().filter_map(VecDeque::back).max_by_key(|(at, _)| *at);
        last.map(|(_, line)| shown(line))
    }

    /// Takes what is left of unfinished lines. Returns the last lines and the end of each output.
    pub(crate) fn finish(&mut self) -> (Vec<String>, Tail) {
        let mut redactor = self.redactor.take();
        for stream in [Stream::Stdout, Stream::Stderr] {
            if let Some(redactor) = &mut redactor {
                self.put(stream, redactor.finish(stream));
            }
            let rest = std::mem::take(&mut self.partial[stream as usize]);
            if !rest.is_empty() {
                push(&mut self.out, &prefix(stream), b"P ", &rest);
            }
            self.remember(stream, b"", true);
        }
        let lines = |stream: usize| {
            let lines = self.last[stream].iter().map(|(at, line)| (*at, shown(line)));
            lines.filter(|(_, line)| !line.is_empty())
        };
        let mut last: Vec<_> = lines(0).chain(lines(1)).collect();
        last.sort_by_key(|(at, _)| *at);
        let last = last.split_off(last.len().saturating_sub(LAST_LINES));
        let last = last.into_iter().map(|(_, line)| line).collect();
        (last, Tail([0, 1].map(|stream| lines(stream).map(|(_, line)| line).collect())))
    }

    /// Writes what waits. Returns why the log is incomplete, if it is.
    pub(crate) fn close(mut self) -> Option<io::Error> {
        self.write();
        let finished = self.log.map_or(Ok(()), LogFile::finish);
        self.error.or(finished.err())
    }
}

/// A line without what steers a terminal, as it is shown.
fn shown(line: &[u8]) -> String {
    plain(&String::from_utf8_lossy(line)).trim_end().to_owned()
}

/// Opens an empty log, which may have been made before.
fn open(log: &Path) -> io::Result<File> {
    let mut options = File::options();
    let options = options.write(true).create(true).truncate(false);
    let file = provost_fs::open(log, options)?;
    if file.metadata()?.len() > 0 {
        file.set_len(0)?;
    }
    Ok(file)
}

/// The last lines of each output, blank ones left out.
pub(crate) struct Tail([Vec<String>; 2]);

impl Tail {
    /// Where an interpreter says why it ends: on stderr, unless all of that goes to stdout.
    pub(crate) fn end(&self) -> &[String] {
        let [stdout, stderr] = &self.0;
        if stderr.is_empty() { stdout } else { stderr }
    }
}

fn prefix(stream: Stream) -> Vec<u8> {
    let name = match stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
    };
    format!("{:.3} {name} ", Timestamp::now()).into_bytes()
}

fn push(out: &mut Vec<u8>, prefix: &[u8], tag: &[u8], text: &[u8]) {
    let len = prefix.len() + tag.len() + text.len() + 1;
    out.reserve(len);
    let at = out.len();
    out.resize(at + len, b'\n');
    let (line, mut at) = (&mut out[at..], 0);
    for part in [prefix, tag, text] {
        line[at..at + part.len()].copy_from_slice(part);
        at += part.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(chunks: &[(Stream, &[u8])]) -> (Vec<String>, Vec<String>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut capture = Capture::new(&path, &Secrets::default());
        for (stream, chunk) in chunks {
            capture.take(*stream, chunk);
        }
        let (last, _) = capture.finish();
        assert!(capture.close().is_none());
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        let untimed = |l: &str| l.split_once("Z ").unwrap().1.to_owned();
        (text.lines().map(untimed).collect(), last)
    }

    #[test]
    fn lines_are_whole_whichever_pieces_they_come_in() {
        let (log, last) = captured(&[
            (Stream::Stdout, b"one\ntw"),
            (Stream::Stderr, b"error\n"),
            (Stream::Stdout, b"o\n\n"),
            (Stream::Stdout, b"three"),
        ]);
        let expected =
            ["stdout F one", "stderr F error", "stdout F two", "stdout F ", "stdout P three"];
        assert_eq!(log, expected);
        assert_eq!(last, ["one", "error", "two", "three"]);
    }

    #[test]
    fn of_a_progress_meter_the_last_state_is_kept_and_no_colour() {
        let meter: String = (0..100).map(|n| format!("{n:3} % of a long line\r")).collect();
        let all = meter.clone()
            + "100 % done\r\n\x1b[31mred\x1b[0m\n\x1b[0m\nerased\r      \r\nso too\r\x1b[K\n";
        for size in [1, 7, all.len()] {
            let chunks: Vec<_> = all.as_bytes().chunks(size).map(|c| (Stream::Stdout, c)).collect();
            let (_, last) = captured(&chunks);
            assert_eq!(last, ["100 % done", "red", "erased", "so too"], "{size}");
        }
        assert_eq!(captured(&[(Stream::Stderr, meter.as_bytes())]).1, [" 99 % of a long line"]);
    }

    #[test]
    fn a_line_without_end_needs_no_memory() {
        let dir = tempfile::tempdir().unwrap();
        let mut capture = Capture::new(&dir.path().join("log"), &Secrets::default());
        for _ in 0..100 {
            capture.take(Stream::Stdout, &[b'x'; 64 * 1024]);
        }
        assert!(capture.partial[0].capacity() + capture.out.capacity() < 512 * 1024);
        let (last, _) = capture.finish();
        assert_eq!(last[0].len(), LAST_LINE_LEN);
    }

    #[test]
    fn a_log_that_cannot_be_written_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut capture = Capture::new(&folder.path().join("log"), &Secrets::default());
        let full = File::options().write(true).open("/dev/full").unwrap();
        capture.log = Some(LogFile::new(full));
        capture.take(Stream::Stdout, b"one\n");
        let (last, _) = capture.finish();
        assert_eq!(last, ["one"]);
        assert_eq!(capture.close().unwrap().kind(), io::ErrorKind::StorageFull);
    }
}
