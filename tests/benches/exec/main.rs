//! What supervision costs, each number beside what the same work costs without it.
//!
//! `cargo xtask bench exec` runs it with the node's binary as nodes get it. The alternatives run
//! in turn with ours, so that whatever else the machine does is done to both; what is printed are
//! medians.
//!
//! On ext4 without a journal the kernel looks, for some minutes after files were removed, at each of
//! their inodes before it makes a file, which costs each step's log what half a script does: wait,
//! or set TMPDIR to another file system.
#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]
#![expect(clippy::print_stdout, reason = "printing is what it does")]

#[path = "../common/mod.rs"]
mod common;
mod output;
mod steps;
mod trace;

use common::table::{self, Table};
use common::{median, shell, time};

fn main() {
    let mut table = Table::new();
    steps::measure(&mut table);
    trace::measure(&mut table);
    output::measure(&mut table);
    println!("{table}");
}
