//! The file of a step's log, which a script that prints without end doesn't let fill the disk.

use std::fs::File;
use std::io::{self, Write};

use jiff::Timestamp;
use provost_steplog::{EXEC, EXIT, TRACE, WHOLE};

/// The limits of a log, in bytes.
#[derive(Clone, Copy)]
struct Limits {
    /// So much is kept whatever else is on the file system; each time it has grown by as much again, what is
    /// free there is looked at.
    stride: u64,
    /// The most that it may have.
    most: u64,
    /// How much is kept of the end of what comes after that.
    tail: usize,
    /// How much is free on the file system.
    free: fn(&File) -> u64,
}

const LIMITS: Limits = Limits { stride: 64 << 20, most: 4 << 30, tail: 4 << 20, free };

/// Takes whole lines.
pub(super) struct LogFile {
    file: File,
    limits: Limits,
    written: u64,
    /// When to look next at what is free.
    look_at: u64,
    /// The end of what came after the file was full, if it is.
    tail: Option<Vec<u8>>,
    left_out: u64,
}

impl LogFile {
    pub(super) fn new(file: File) -> Self {
        Self::limited(file, LIMITS)
    }

    fn limited(file: File, limits: Limits) -> Self {
        Self { file, limits, written: 0, look_at: limits.stride, tail: None, left_out: 0 }
    }

    pub(super) fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        let Limits { stride, most, tail: kept, free } = self.limits;
        if let Some(tail) = &mut self.tail {
            tail.extend_from_slice(lines);
            if tail.len() > 2 * kept {
                let at = tail.len() - kept;
                let at = at + memchr::memchr(b'\n', &tail[at..]).map_or(0, |end| end + 1);
                for line in tail[..at].split_inclusive(|b| *b == b'\n') {
                    // They are few, and else a command would seem to run still.
                    if is_of_command(line) {
                        self.file.write_all(line)?;
                    } else {
                        self.left_out += line.len() as u64;
                    }
                }
                tail.drain(..at);
            }
            return Ok(());
        }
        self.file.write_all(lines)?;
        self.written += lines.len() as u64;
        if self.written < self.look_at {
            return Ok(());
        }
        self.look_at = self.written + stride;
        // It takes at most half of what was free when it began.
        if self.written >= most || free(&self.file) < self.written {
            self.tail = Some(Vec::new());
            self.note("this log is full: of what follows, only the end is kept")?;
        }
        Ok(())
    }

    /// Writes what is kept of the end.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let tail = self.tail.take().unwrap_or_default();
        if self.left_out > 0 {
            self.note(&format!("{} bytes are left out here", self.left_out))?;
        }
        self.file.write_all(&tail)
    }

    fn note(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.file, "{:.3} {TRACE} {WHOLE} {text}", Timestamp::now())
    }
}

/// Whether `line` says that a command begins or ends.
fn is_of_command(line: &[u8]) -> bool {
    let what = memchr::memchr(b' ', line).map_or(line, |at| &line[at + 1..]);
    [EXEC, EXIT].iter().any(|word| what.starts_with(word.as_bytes()))
}

/// Where that isn't known, as on ramfs, there is no limit but the most.
fn free(log: &File) -> u64 {
    match rustix::fs::fstatvfs(log) {
        Ok(disk) if disk.f_blocks > 0 => disk.f_bavail.saturating_mul(disk.f_frsize),
        _ => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is in a log of 1,000 lines of 10 bytes, without the times of what it says itself.
    fn log(limits: Limits) -> String {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut log = LogFile::limited(file.reopen().unwrap(), limits);
        for n in 0..1000 {
            log.write(format!("line {n:04}\n").as_bytes()).unwrap();
        }
        log.finish().unwrap();
        let text = std::fs::read_to_string(file.path()).unwrap();
        let untimed = |line: &str| line.split_once("Z ").map_or(line, |(_, text)| text).to_owned();
        text.lines().map(|line| untimed(line) + "\n").collect()
    }

    const ROOMY: Limits = Limits { stride: 100, most: 3000, tail: 200, free: |_| u64::MAX };

    #[test]
    fn of_a_long_log_both_ends_are_kept_in_whole_lines() {
        let text = log(ROOMY);
        let (head, rest) = text.split_once("trace F this log is full").unwrap();
        assert!(head.starts_with("line 0000\n") && head.ends_with("line 0299\n"), "{head}");
        let (left_out, tail) = rest.split_once(" bytes are left out here\n").unwrap();
        let left_out: usize = left_out.rsplit(' ').next().unwrap().parse().unwrap();
        assert!(tail.starts_with("line 0") && tail.ends_with("line 0999\n"), "{tail}");
        assert!((200..=400).contains(&tail.len()), "{tail}");
        assert_eq!(head.len() + left_out + tail.len(), 10_000);
    }

    #[test]
    fn the_ends_of_commands_are_never_left_out() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut log = LogFile::limited(file.reopen().unwrap(), ROOMY);
        for n in 0..1000 {
            let line = if n == 500 { "T exit F 1 0 2ms\n" } else { "T stdout F some line\n" };
            log.write(line.as_bytes()).unwrap();
        }
        log.finish().unwrap();
        let text = std::fs::read_to_string(file.path()).unwrap();
        assert!(text.contains("kept\nT exit F 1 0 2ms\n"), "{text}");
    }

    #[test]
    fn a_log_leaves_room_for_others_and_a_short_one_is_kept_whole() {
        let full = Limits { free: |_| 0, ..ROOMY };
        assert!(log(full).starts_with("line 0000\n") && log(full).contains("line 0009\ntrace F "));
        let short = Limits { stride: 10_001, ..full };
        assert_eq!(log(short).len(), 10_000);
        assert_eq!(log(Limits { most: 10_001, ..ROOMY }).len(), 10_000);
        let text = log(Limits { stride: 9980, ..full });
        assert!(text.ends_with("the end is kept\nline 0998\nline 0999\n"), "{text}");
    }
}
