//! The descendants of a step.
//!
//! The runner is a subreaper, so that a descendant whose parent has ended becomes the runner's
//! own child, setsid or not. All that descends from the runner belongs to the step that runs.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions};

/// How long survivors of SIGKILL are looked for; one that is left then hangs in the kernel.
const KILL_LIMIT: Duration = Duration::from_secs(2);

/// Makes this process the parent of orphaned descendants. Once, before the first step.
pub fn adopt_orphans() -> std::io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

/// Takes leave of every child that has ended. Says whether any is left.
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

/// All that descends from this process, each with its name. Empty where /proc isn't mounted.
pub(crate) fn descendants() -> Vec<(Pid, String)> {
    let Ok(proc) = std::fs::read_dir("/proc") else { return Vec::new() };
    let mut children: HashMap<i32, Vec<(i32, String)>> = HashMap::new();
    for entry in proc.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse::<i32>().ok()) else {
            continue;
        };
        if let Some((comm, parent)) = stat(pid) {
            children.entry(parent).or_default().push((pid, comm));
        }
    }
    let mut found = Vec::new();
    let mut parents = vec![rustix::process::getpid().as_raw_nonzero().get()];
    while let Some(parent) = parents.pop() {
        for (pid, comm) in children.remove(&parent).unwrap_or_default() {
            parents.push(pid);
            found.extend(Pid::from_raw(pid).map(|pid| (pid, comm)));
        }
    }
    found
}

/// The name and the parent of a process that hasn't ended.
fn stat(pid: i32) -> Option<(String, i32)> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name stands in brackets and may itself hold brackets and blanks.
    let (head, rest) = stat.rsplit_once(')')?;
    let mut rest = rest.split_ascii_whitespace();
    let (state, parent) = (rest.next()?, rest.next()?.parse().ok()?);
    (state != "Z").then(|| (head.split_once('(').map_or("", |h| h.1).to_owned(), parent))
}

/// Sends SIGTERM to the whole tree of the running program, and SIGCONT, since a stopped process
/// can't end.
pub(crate) fn terminate(program: Pid) {
    // Whatever has ended by itself is as wanted.
    let _ = rustix::process::kill_process_group(program, Signal::TERM);
    let _ = rustix::process::kill_process_group(program, Signal::CONT);
    let outside = |pid: &Pid| rustix::process::getpgid(Some(*pid)).ok() != Some(program);
    for (pid, _) in descendants().into_iter().filter(|(pid, _)| outside(pid)) {
        let _ = rustix::process::kill_process(pid, Signal::TERM);
        let _ = rustix::process::kill_process(pid, Signal::CONT);
    }
}

/// Sends SIGKILL to the whole tree, again and again until nobody is left, since a fork may be
/// quicker than one look. `program` is the step's own process while it hasn't been waited for:
/// its process group can be reached even where /proc isn't mounted.
pub(crate) fn kill(program: Option<Pid>) {
    if let Some(program) = program {
        // It may be gone already.
        let _ = rustix::process::kill_process_group(program, Signal::KILL);
    }
    let until = Instant::now() + KILL_LIMIT;
    loop {
        let alive = descendants();
        for (pid, _) in &alive {
            let _ = rustix::process::kill_process(*pid, Signal::KILL);
        }
        if alive.is_empty() || Instant::now() >= until {
            break;
        }
        std::thread::yield_now();
    }
}
