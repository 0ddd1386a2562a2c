//! The web page of 100,000 nodes: how long pages take, what open tabs cost those who report, how soon a
//! record is shown, and what a storm leaves in a tab's memory.
//!
//! `cargo xtask bench page` runs it, against a real provostd, with a real Chromium where there is one. Tabs
//! and reporters share the machine with the daemon: compare what one run has measured.
#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]
#![expect(clippy::print_stdout, reason = "printing is what it does")]

#[path = "../common/mod.rs"]
mod common;
mod ingest;
mod load;
mod memory;
mod pages;
mod shown;
mod tabs;
#[path = "../common/usage.rs"]
#[allow(dead_code)] // what a storm measures besides
mod usage;

use load::{Load, RECORDS};
use provost_tests::Cluster;
use provost_tests::reporters::Reporters;

/// How many nodes there are, unless `--nodes` says otherwise.
const NODES: usize = 100_000;

fn main() {
    let nodes = nodes();
    let mut cluster = Cluster::new();
    cluster.script("syslog", "#!/bin/sh\ntrue\n");
    cluster.site("[nodes.n000001]\npostscripts = [\"syslog\"]\n").publish().expect(0);
    cluster.start();
    let load = Load::new(Reporters::new(&cluster, &format!("n[000001-{nodes:06}]")), nodes);
    println!("{nodes} nodes, {RECORDS} records of each boot");

    println!("{}", pages::first("tokens were made", &cluster));
    println!("{}", memory::through_a_storm(&cluster, &load));
    cluster.start();
    println!("{}", pages::first("a restart", &cluster));
    println!("{}", pages::again(&cluster, nodes));
    println!("{}", shown::overview(&cluster));
    println!("{}", shown::record(&cluster, &load));
    println!("{}", ingest::beside_tabs(&cluster, &load));
}

fn nodes() -> usize {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    match (words.next().as_deref(), words.next()) {
        (None, None) => NODES,
        (Some("--nodes"), Some(count)) => count.parse().expect("--nodes has a number"),
        (word, _) => panic!("unknown argument {word:?}"),
    }
}
