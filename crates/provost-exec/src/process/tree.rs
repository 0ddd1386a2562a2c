//! The descendants of a keeper.
//!
//! A keeper is a subreaper, so that a descendant whose parent has ended becomes the keeper's own
//! child, setsid or not. All that descends from it belongs to the step that runs: a keeper whose
//! step leaves somebody behind stays with them, and the next step has a new keeper.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};

use super::cgroup::Leaf;
use super::status::{field, look, status};
use crate::kernel;

/// How long survivors of SIGKILL are looked for; one that is left then hangs in the kernel.
const KILL_LIMIT: Duration = Duration::from_secs(2);

/// How much longer a descendant may take to end that waited or waits for a processor, on a machine
/// that has too few.
const STARVED: Duration = Duration::from_secs(1);

/// How often the own children are looked at between two looks at all processes.
const QUICK_LOOKS: usize = 50;

/// The highest number that a process can have (`PID_MAX_LIMIT`).
const MOST_PIDS: i32 = 1 << 22;

/// Makes this process the parent of orphaned descendants.
pub(crate) fn adopt_orphans() -> std::io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

/// Reaps every child that has ended. Returns whether any is left.
pub(crate) fn reap() -> bool {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return true,
            // ECHILD: none is left.
            Err(_) => return false,
        }
    }
}

/// All that descends from this process and hasn't ended, each with its name. Empty where /proc
/// isn't mounted.
pub(crate) fn descendants() -> Vec<(Pid, String)> {
    descendants_but(&[])
}

/// The same, without these children and all that descends from them.
fn descendants_but(spared: &[Pid]) -> Vec<(Pid, String)> {
    let Ok(proc) = std::fs::read_dir("/proc") else { return Vec::new() };
    let mut children: HashMap<i32, Vec<(i32, String, bool)>> = HashMap::new();
    for entry in proc.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse::<i32>().ok()) else {
            continue;
        };
        if let Some((comm, parent, alive)) = look(pid) {
            children.entry(parent).or_default().push((pid, comm, alive));
        }
    }
    let mut found = Vec::new();
    let mut parents = vec![rustix::process::getpid().as_raw_nonzero().get()];
    while let Some(parent) = parents.pop() {
        for (number, comm, alive) in children.remove(&parent).unwrap_or_default() {
            let Some(pid) = Pid::from_raw(number).filter(|pid| !spared.contains(pid)) else {
                continue;
            };
            parents.push(number);
            found.extend(alive.then_some((pid, comm)));
        }
    }
    found
}

/// A hold on one of the [`descendants`], where the kernel gives one. While it lives there is no need to
/// look for others.
pub(crate) fn somebody() -> Option<OwnedFd> {
    descendants().into_iter().find_map(|(pid, _)| kernel::pidfd(pid))
}

/// Sends `signal` to the whole tree of the running program, once to each: to its process group,
/// which can be reached even where /proc isn't mounted, and to each that left it.
pub(crate) fn signal(program: Pid, signal: Signal) {
    // Whatever has ended by itself is as wanted.
    let _ = rustix::process::kill_process_group(program, signal);
    let outside = |pid: &Pid| rustix::process::getpgid(Some(*pid)).ok() != Some(program);
    for (pid, _) in descendants().into_iter().filter(|(pid, _)| outside(pid)) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Asks the whole tree to end. A stopped process can't, so it is continued.
pub(crate) fn terminate(program: Pid) {
    signal(program, Signal::TERM);
    signal(program, Signal::CONT);
}

/// Kills the whole tree, again and again until nobody is left, because a fork may be quicker than
/// one look. `program` is the step's own process while it hasn't been waited for. `reaps`: nobody else
/// waits for the others.
pub(crate) fn kill(program: Option<Pid>, leaf: Option<&Leaf>, reaps: bool) {
    if let Some(program) = program {
        let _ = rustix::process::kill_process_group(program, Signal::KILL);
    }
    // Where that fails there is still the walk.
    let _ = leaf.map(Leaf::kill);
    walk(program, &[], reaps);
}

/// Kills all that descends from this process but these children and what descends from them.
pub(crate) fn kill_but(spared: &[Pid]) {
    walk(None, spared, true);
}

fn walk(program: Option<Pid>, spared: &[Pid], reaps: bool) {
    let until = Instant::now() + KILL_LIMIT;
    loop {
        // Who forks and ends, again and again, is a new child of this process each time; a look
        // at these alone is quicker than the fork.
        for _ in 0..QUICK_LOOKS {
            for pid in children().into_iter().filter(|pid| !spared.contains(pid)) {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
                if reaps && Some(pid) != program {
                    // The fewer have ended and are still there, the quicker is the next look.
                    let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
                }
            }
        }
        let alive = descendants_but(spared);
        for (pid, _) in &alive {
            let _ = rustix::process::kill_process(*pid, Signal::KILL);
        }
        if alive.is_empty() || Instant::now() >= until {
            break;
        }
    }
    if !Path::new("/proc/self").exists() {
        kill_by_number(program, spared, until);
    }
}

/// Where /proc isn't mounted: asks of each number whether it is a child of this process, and so
/// finds orphans that left the group. Numbers above our own come first, as children's do.
fn kill_by_number(program: Option<Pid>, spared: &[Pid], until: Instant) {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let is_child = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let mut is_any_alive = true;
    while is_any_alive && (program.is_some() || reap()) {
        is_any_alive = false;
        for (asked, number) in (own + 1..=MOST_PIDS).chain(1..own).enumerate() {
            if asked % 1024 == 0 && Instant::now() >= until {
                return;
            }
            let Some(pid) = Pid::from_raw(number).filter(|pid| !spared.contains(pid)) else {
                continue;
            };
            match rustix::process::waitid(WaitId::Pid(pid), is_child) {
                Ok(None) => {
                    is_any_alive = true;
                    let _ = rustix::process::kill_process(pid, Signal::KILL);
                }
                Ok(Some(_)) if Some(pid) != program => {
                    let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
                }
                Ok(Some(_)) | Err(_) => {}
            }
        }
    }
}

/// Reaps orphans that have ended while `program` runs, whose own end is waited for
/// elsewhere.
pub(crate) fn reap_orphans(program: Pid) {
    for pid in children().into_iter().filter(|pid| *pid != program) {
        let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

/// This process's own children, where the kernel tells them.
fn children() -> Vec<Pid> {
    // Not by /proc/thread-self, which is of Linux 3.17.
    let thread = rustix::thread::gettid().as_raw_nonzero();
    let path = format!("/proc/self/task/{thread}/children");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let pids = text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok());
    pids.filter_map(Pid::from_raw).collect()
}

/// Whether descendants whose time was over so long ago only wait for a processor: nothing tells that
/// one of them has had its time.
pub(crate) fn are_starved(ago: Duration) -> bool {
    let is_starved = |pid| is_runnable(pid) || starved(pid) > ago;
    ago < STARVED && descendants().iter().all(|(pid, _)| is_starved(*pid))
}

/// How long a process has waited for a processor in all, where the kernel tells.
fn starved(pid: Pid) -> Duration {
    let text = std::fs::read_to_string(format!("/proc/{}/schedstat", pid.as_raw_nonzero()));
    let text = text.unwrap_or_default();
    let nanoseconds = text.split(' ').nth(1).and_then(|waited| waited.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// Whether a process waits for nothing but a processor or its tracer, or has ended meanwhile.
fn is_runnable(pid: Pid) -> bool {
    let status = status(pid.as_raw_nonzero().get());
    let state = status.as_deref().and_then(|status| field(status, "State:"));
    state.is_none_or(|state| state.starts_with(['R', 't', 'Z', 'X']))
}
