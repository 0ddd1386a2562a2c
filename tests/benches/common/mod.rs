//! What benchmarks of whole programs share.
#![allow(dead_code)] // not each of them needs all of it

pub(crate) mod table;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long `command` takes, which must succeed.
pub(crate) fn time(command: &mut Command) -> Duration {
    let began = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let took = began.elapsed();
    assert!(status.unwrap().success(), "{command:?}");
    took
}

/// `script`, run by a shell in `folder`. As postscripts it gets nothing of this process's
/// environment: with cargo's LD_LIBRARY_PATH in it, each program would look for its libraries in
/// vain first, and take a quarter longer.
pub(crate) fn shell(folder: &Path, script: &str) -> Command {
    let mut command = Command::new("dash");
    command.args(["-c", script]).current_dir(folder);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command
}

/// The middle one of an odd number of measurements.
pub(crate) fn median<T: PartialOrd + Copy>(mut measured: Vec<T>) -> T {
    measured.sort_by(|a, b| a.partial_cmp(b).unwrap());
    measured[measured.len() / 2]
}
