//! A script that prints 1 GB, and how much memory that takes.

use std::fs;

use provost_tests::Cluster;

use crate::table::{Table, Target};
use crate::{median, shell, time};

/// How often each alternative is measured; odd.
const ROUNDS: usize = 7;
/// What the script prints, in MB.
const PRINTED: f64 = 1000.0;
/// Lines of 60 bytes; then the peak of memory of the runner, and of its parent.
const LOUD: &str = r#"#!/bin/bash
yes 'a line of sixty bytes, as installers of packages print them' | head -c 1000000000
parent=$(awk '/^PPid/ { print $2 }' /proc/$PPID/status)
awk '/^VmHWM/ { print "peak", $2 }' /proc/$PPID/status "/proc/$parent/status" | tail -2
"#;

pub(crate) fn measure(table: &mut Table) {
    let mut cluster = Cluster::new();
    cluster.script("loud", LOUD).site("[nodes.cn001]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (mut keeper, mut runner) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        // The first one gets the memory that was freed last, so they take turns.
        for ours_now in [round % 2 == 0, round % 2 == 1] {
            if ours_now {
                node.provost(&["run", "loud"]).expect(0);
                let stage = &node.status()["stages"][1];
                ours.push(PRINTED / (stage["durationMs"].as_f64().unwrap() / 1000.0));
                let log = stage["log"].as_str().unwrap();
                let [of_keeper, of_runner] = peaks(&cluster, log);
                keeper.push(of_keeper);
                runner.push(of_runner);
                fs::remove_file(log).unwrap();
            } else {
                let teed = time(&mut shell(&cluster.scripts(), "./loud | tee ../tee.log"));
                theirs.push(PRINTED / teed.as_secs_f64());
                fs::remove_file(cluster.path("tee.log")).unwrap();
            }
        }
    }
    let (ours, theirs) = (median(ours), median(theirs));
    table.compare("1 GB of output, to tee", "MB/s", ours, theirs, Target::None);
    table.hold("the runner's memory meanwhile", "MB", median(runner), Target::AtMost(8.0));
    table.hold("its keeper's memory meanwhile", "MB", median(keeper), Target::AtMost(8.0));
}

/// The two peaks of memory that stand at the end of `log`, in MB: the keeper's, the runner's.
fn peaks(cluster: &Cluster, log: &str) -> [f64; 2] {
    let end = shell(&cluster.path(""), &format!("grep -a ' stdout F ' '{log}' | tail -n 2"))
        .output()
        .unwrap();
    let end = String::from_utf8(end.stdout).unwrap();
    let mut peaks = end
        .lines()
        .map(|line| line.rsplit_once("peak ").unwrap().1.parse::<f64>().unwrap() / 1024.0);
    std::array::from_fn(|_| peaks.next().unwrap())
}
