//! What is left of a step whose runner and keeper were killed at the same instant.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::status;

/// How long it is looked for; one that is left then hangs in the kernel.
const LIMIT: Duration = Duration::from_secs(2);

/// Kills every process that has all of these variables in its environment, but those from which this one
/// descends. Where there is a cgroup, or commands were traced, the kernel has killed them already.
pub fn kill_marked(variables: &[(&str, &str)]) {
    let marks: Vec<_> = variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let own = ancestors();
    let until = Instant::now() + LIMIT;
    // A fork may be quicker than one look.
    while Instant::now() < until {
        let mut is_any_alive = false;
        for pid in pids().filter(|pid| !own.contains(pid) && has_all(*pid, &marks)) {
            // What has ended, or is being killed, has no environment any more.
            is_any_alive |=
                Pid::from_raw(pid).is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok());
        }
        if !is_any_alive {
            return;
        }
    }
}

fn pids() -> impl Iterator<Item = i32> {
    let proc = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    proc.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn has_all(pid: i32, marks: &[String]) -> bool {
    let Ok(text) = std::fs::read(format!("/proc/{pid}/environ")) else { return false };
    let has = |mark: &String| text.split(|b| *b == 0).any(|variable| variable == mark.as_bytes());
    marks.iter().all(has)
}

/// This process, its parent, and so on.
fn ancestors() -> Vec<i32> {
    let own = std::process::id().cast_signed();
    std::iter::successors(Some(own), |pid| Some(status::look(*pid)?.1).filter(|pid| *pid > 0))
        .collect()
}
