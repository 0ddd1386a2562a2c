//! What supervision costs, each number beside what the same work costs without it.
//!
//! `cargo xtask bench exec` runs it with the node's binary as nodes get it. The alternatives run
//! in turn with ours, so that whatever else the machine does is done to both; what is printed are
//! medians.
#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]
#![expect(clippy::print_stdout, reason = "printing is what it does")]

mod output;
mod steps;
mod table;
mod trace;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use table::Table;

fn main() {
    let mut table = Table::new();
    steps::measure(&mut table);
    trace::measure(&mut table);
    output::measure(&mut table);
    println!("{table}");
}

/// How long `command` takes, which must end well.
fn time(command: &mut Command) -> Duration {
    let began = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let took = began.elapsed();
    assert!(status.unwrap().success(), "{command:?}");
    took
}

/// `script`, run by a shell in `folder`.
fn shell(folder: &Path, script: &str) -> Command {
    let mut command = Command::new("dash");
    command.args(["-c", script]).current_dir(folder);
    command
}

/// The middle one of an odd number of measurements.
fn median<T: PartialOrd + Copy>(mut measured: Vec<T>) -> T {
    measured.sort_by(|a, b| a.partial_cmp(b).unwrap());
    measured[measured.len() / 2]
}
