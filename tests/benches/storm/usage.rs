//! What a process has used, by /proc.

use std::fs;
use std::time::Duration;

/// What a process has used so far.
pub(crate) struct Usage {
    /// In user mode and in the kernel.
    pub(crate) processor: Duration,
    /// To the disk, in bytes.
    pub(crate) written: u64,
    /// By calls of write, to files and sockets, in bytes.
    pub(crate) calls: u64,
    /// Resident at its peak, in bytes.
    pub(crate) memory: u64,
}

impl Usage {
    pub(crate) fn of(pid: u32) -> Self {
        let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap();
        let stat = read("stat");
        // What follows the name, which may have blanks.
        let stat: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let ticks: u64 = stat[11].parse::<u64>().unwrap() + stat[12].parse::<u64>().unwrap();
        let per_second = rustix::param::clock_ticks_per_second();
        let number = |text: &str, key: &str| -> u64 {
            let line = text.lines().find_map(|line| line.strip_prefix(key));
            line.unwrap().split_whitespace().next().unwrap().parse().unwrap()
        };
        let io = read("io");
        Self {
            processor: Duration::from_millis(ticks * 1000 / per_second),
            written: number(&io, "write_bytes:"),
            calls: number(&io, "wchar:"),
            memory: number(&read("status"), "VmHWM:") * 1024,
        }
    }

    /// What was used since `before`; the peak is that of its whole life.
    pub(crate) fn since(self, before: &Self) -> Self {
        Self {
            processor: self.processor - before.processor,
            written: self.written - before.written,
            calls: self.calls - before.calls,
            ..self
        }
    }
}
