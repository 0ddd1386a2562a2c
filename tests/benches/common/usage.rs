//! What a process has used, by /proc.

use std::fs;
use std::time::Duration;

/// What a process has used so far.
#[derive(Default)]
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
    /// Of all these processes. Each peak is at another time, so that their sum is an upper bound.
    pub(crate) fn of_all(pids: &[u32]) -> Self {
        pids.iter().filter_map(|pid| Self::of(*pid)).fold(Self::default(), |sum, one| Self {
            processor: sum.processor + one.processor,
            written: sum.written + one.written,
            calls: sum.calls + one.calls,
            memory: sum.memory + one.memory,
        })
    }

    /// Of a process, with those of its children that have ended. None if it ends itself: then it has no memory left.
    fn of(pid: u32) -> Option<Self> {
        let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).ok();
        let stat = read("stat")?;
        // What follows the name, which may have blanks.
        let stat: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let ticks: u64 = stat[11..15].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum();
        let per_second = rustix::param::clock_ticks_per_second();
        let number = |text: &str, key: &str| -> Option<u64> {
            let line = text.lines().find_map(|line| line.strip_prefix(key));
            Some(line?.split_whitespace().next().unwrap().parse().unwrap())
        };
        let io = read("io")?;
        Some(Self {
            processor: Duration::from_millis(ticks * 1000 / per_second),
            written: number(&io, "write_bytes:")?,
            calls: number(&io, "wchar:")?,
            memory: number(&read("status")?, "VmHWM:")? * 1024,
        })
    }

    /// What was used since `before`; the peak is that of its whole life.
    pub(crate) fn since(self, before: &Self) -> Self {
        Self {
            processor: self.processor.saturating_sub(before.processor),
            written: self.written.saturating_sub(before.written),
            calls: self.calls.saturating_sub(before.calls),
            ..self
        }
    }
}

/// A process and all of its descendants.
pub(crate) fn with_children(pid: u32) -> Vec<u32> {
    let file = format!("/proc/{pid}/task/{pid}/children");
    let children = fs::read_to_string(file).unwrap_or_default();
    let children = children.split_whitespace().filter_map(|pid| pid.parse().ok());
    std::iter::once(pid).chain(children.flat_map(with_children)).collect()
}
