//! What a sandbox adds to `provost try` of a trivial script, beside `--here`.
//!
//! `cargo xtask bench try` runs it with the node's binary as nodes get it. Both ways run in turn; what is
//! printed are medians.
#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]
#![expect(clippy::print_stdout, reason = "printing is what it does")]

#[path = "../common/mod.rs"]
mod common;

use std::fs;
use std::process::Command;

use common::table::{Table, Target};
use common::{median, time};
use provost_tests::program;

/// How often it runs in each way; odd.
const ROUNDS: usize = 21;
/// How many milliseconds more the sandbox may take.
const MORE: f64 = 150.0;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("site.toml"), "[nodes.cn001]\n").unwrap();
    fs::write(path("trivial"), "#!/bin/sh\ntrue\n").unwrap();
    let attempt = |options: &[&str]| {
        let mut command = Command::new(program("provostctl"));
        command.args(["try", "--site", "site.toml", "trivial"]).args(options);
        time(command.current_dir(folder.path())).as_secs_f64() * 1000.0
    };
    let rounds: Vec<_> = (0..ROUNDS).map(|_| (attempt(&[]), attempt(&["--here"]))).collect();
    let mut table = Table::new();
    let [ours, theirs] = [
        median(rounds.iter().map(|(ours, _)| *ours).collect()),
        median(rounds.iter().map(|(_, theirs)| *theirs).collect()),
    ];
    table.compare("a trivial script in a sandbox, beside --here", "ms", ours, theirs, Target::None);
    let more = median(rounds.iter().map(|(ours, theirs)| ours - theirs).collect());
    table.hold("a sandbox adds", "ms", more, Target::AtMost(MORE));
    println!("{table}");
}
