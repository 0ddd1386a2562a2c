//! Looking for processes, and at them.

use std::fs;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// A process that carries a mark: the text stands in its environment or in its arguments.
#[derive(Debug)]
pub struct Process {
    /// Its id.
    pub pid: i32,
    /// Its parent's id.
    pub parent: i32,
    /// Its name, as `ps` shows it.
    pub comm: String,
    /// The letter of its state.
    pub state: char,
}

impl Process {
    /// Whether a signal has stopped it. Where it is traced, the state says that its tracer has
    /// stopped it, too.
    pub fn is_stopped(&self) -> bool {
        matches!(self.state, 'T' | 't')
    }
}

/// Every process that carries `mark`, and every zombie of such a process.
pub fn marked(mark: &str) -> Vec<Process> {
    let all: Vec<Process> = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| look(entry.ok()?.file_name().to_str()?.parse().ok()?))
        .collect();
    let (mut ours, others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|process| carries(process.pid, mark));
    let pids: Vec<i32> = ours.iter().map(|process| process.pid).collect();
    ours.extend(others.into_iter().filter(|p| p.state == 'Z' && pids.contains(&p.parent)));
    ours
}

/// What /proc says of the process `pid`, while there is one.
pub fn look(pid: i32) -> Option<Process> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name stands in brackets and may itself hold brackets and blanks.
    let (head, rest) = stat.rsplit_once(')')?;
    let comm = head.split_once('(')?.1.to_owned();
    let mut rest = rest.split_ascii_whitespace();
    let (state, parent) = (rest.next()?.chars().next()?, rest.next()?.parse().ok()?);
    Some(Process { pid, parent, comm, state })
}

/// Waits until `fd` can be read, or, for a pidfd, until that process has ended. Says whether it
/// came to that within `limit`.
pub fn ready(fd: &OwnedFd, limit: Duration) -> bool {
    let until = Instant::now() + limit;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).unwrap();
        match poll(&mut [PollFd::new(fd, PollFlags::IN)], Some(&left)) {
            Ok(n) => return n > 0,
            Err(rustix::io::Errno::INTR) => {}
            Err(e) => panic!("{e}"),
        }
    }
}

/// Waits until no process carries `mark`. Returns those that still do after `limit`.
pub fn all_gone(mark: &str, limit: Duration) -> Vec<Process> {
    let until = Instant::now() + limit;
    loop {
        let left = marked(mark);
        let Some(process) = left.first() else { return left };
        if Instant::now() >= until {
            return left;
        }
        // A zombie has ended already; it goes when its parent reaps it, or goes itself.
        let whom = if process.state == 'Z' { process.parent } else { process.pid };
        if let Some(pidfd) = open(whom) {
            ready(&pidfd, until.saturating_duration_since(Instant::now()));
        }
    }
}

/// Looks again and again, for what gives no sign of itself, whether `holds` is true. Says whether
/// it was within `limit`.
pub fn until(limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + limit;
    loop {
        if holds() {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        let pause = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };
        let _ = poll(&mut [], Some(&pause));
    }
}

/// Kills every process that carries `mark`: nothing that a test starts may outlive it. All are stopped
/// first, because there may be some that multiply.
pub fn kill(mark: &str) {
    let until = Instant::now() + Duration::from_secs(10);
    while Instant::now() < until {
        let left: Vec<OwnedFd> =
            marked(mark).iter().filter(|p| p.state != 'Z').filter_map(|p| open(p.pid)).collect();
        if left.is_empty() {
            return;
        }
        for signal in [Signal::STOP, Signal::KILL] {
            for pidfd in &left {
                // It may have ended meanwhile.
                let _ = pidfd_send_signal(pidfd, signal);
            }
        }
    }
    eprintln!("they can't be killed: {:?}", marked(mark));
}

/// A hold on a process that never means another one. None where it has ended.
pub fn open(pid: i32) -> Option<OwnedFd> {
    pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()
}

fn carries(pid: i32, mark: &str) -> bool {
    let has = |file: &str| {
        let text = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        text.windows(mark.len()).any(|part| part == mark.as_bytes())
    };
    has("environ") || has("cmdline")
}
