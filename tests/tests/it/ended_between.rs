//! A run of short scripts is ended by a signal, each time at another point between two of them. A
//! script that has begun is told of, one that hasn't is told to be left.

use provost_tests::{Cluster, accounts};
use serde_json::{Value, json};

/// How many short scripts stand on both sides of the one that sends the signal.
const SHORT: usize = 6;
/// How often the run is ended.
const TIMES: usize = 40;

#[test]
fn a_run_of_short_scripts_that_is_ended_between_two_tells_of_each() {
    let mut cluster = Cluster::new();
    let ground = cluster.path("ran");
    let short = "#!/bin/sh\necho \"${0##*/}\" >>\"$RAN\"\n";
    // Some time after it has begun, and some before it ends, if that isn't over by then.
    let sends = format!(
        "{short}read -r _ _ _ runner _ </proc/$PPID/stat\n\
         (while [ $((n += 1)) -lt $SPINS ]; do :; done; kill -TERM $runner) &\nwait\n"
    );
    let before: Vec<_> = (0..SHORT).map(|n| format!("before{n}")).collect();
    let after: Vec<_> = (0..SHORT).map(|n| format!("past{n}")).collect();
    let all: Vec<String> = [before, vec!["sends".to_owned()], after].concat();
    for name in &all {
        cluster.script(name, if name == "sends" { &sends } else { short });
    }
    let nodes: Vec<_> = (0..TIMES).map(|n| format!("cn{n:02}")).collect();
    let spins = |n: usize| format!("[nodes.cn{n:02}]\nenv.SPINS = \"{}\"\n", n * 50);
    let spins: String = (0..TIMES).map(spins).collect();
    cluster.site(&format!("[defaults]\npostscripts = {all:?}\nenv.RAN = {ground:?}\n{spins}"));
    cluster.publish().expect(0);
    cluster.start();
    for name in nodes {
        std::fs::write(&ground, "").unwrap();
        let node = cluster.node(&name);
        node.provost(&["boot"]).expect(5);
        let run = accounts::runs(&node, "boot").pop().unwrap();
        let told = |phase: &str| -> Vec<&Value> {
            let of = |entry: &&Value| entry["phase"] == phase && entry["stage"] != "fetch";
            run.iter().filter(of).collect()
        };
        let names = |told: &[&Value]| -> Vec<String> {
            told.iter().map(|entry| entry["stage"].as_str().unwrap().to_owned()).collect()
        };
        let (begun, ended) = (names(&told("stage start")), names(&told("stage end")));
        assert_eq!(begun, ended, "{run:#?}");
        let left: Vec<String> =
            serde_json::from_value(run.last().unwrap()["notRun"].clone()).unwrap();
        assert_eq!([begun.clone(), left].concat(), all, "each is told of once: {run:#?}");
        let ran = std::fs::read_to_string(&ground).unwrap();
        // One may have begun and not have come that far.
        assert!(ran.lines().all(|name| begun.iter().any(|begun| begun == name)), "{ran}{run:#?}");
        let interrupted = told("stage end").last().unwrap()["cause"] == json!("interrupted");
        assert!(interrupted || run.last().unwrap()["cause"] == json!("interrupted"), "{run:#?}");
    }
}
