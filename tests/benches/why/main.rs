//! `provostctl why` of 100,000 nodes: 5 % have failed for three planted causes, and 2 % by chance.
//!
//! `cargo xtask bench why` runs it, against a real provostd. It fails unless each planted cause is found, no other is,
//! and it takes less than two seconds.
#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]
#![expect(clippy::print_stdout, reason = "printing is what it does")]

use std::ops::Range;
use std::thread;
use std::time::{Duration, Instant};

use provost_tests::Cluster;
use provost_tests::reporters::{Reporters, ends};
use serde_json::{Value, json};

/// How many nodes there are, unless `--nodes` says otherwise.
const NODES: usize = 100_000;
/// The longest that it may take.
const MOST: Duration = Duration::from_secs(2);
/// How many connections report.
const CONNECTIONS: usize = 4;
/// How often it is asked.
const TIMES: usize = 5;
/// Scripts of the site.
const SCRIPTS: usize = 40;

/// What a node has, and for what it fails.
struct Boot {
    bundle: u64,
    kernel: &'static str,
    /// The stage that fails, and what it prints.
    failure: Option<(String, &'static str)>,
}

/// The first 2 % have a new bundle, the next 2 % another kernel, the next 1 % are a rack; nearly all of them fail. Of the
/// others 2 % fail by chance.
fn boot(number: usize, nodes: usize) -> Boot {
    let part = number * 100 / nodes;
    let (bundle, kernel) =
        (if part < 2 { 2 } else { 1 }, if part / 2 == 1 { "6.12" } else { "5.14" });
    // Spread by a multiplier that has no factor in common with powers of ten.
    let chance = number * 7919 % 1000;
    let failure = match part {
        0..5 if chance < 20 => None,
        0..2 => Some(("script7".to_owned(), "no such package")),
        2..4 => Some(("mount_scratch".to_owned(), "no such device")),
        4 => Some(("network".to_owned(), "connection timed out")),
        _ if chance < 20 => Some((format!("chance{}", chance % 10), "it didn't work")),
        _ => None,
    };
    Boot { bundle, kernel, failure }
}

fn records(boot: &Boot) -> Vec<Value> {
    let facts = json!({"kernel": boot.kernel, "os": "rocky 9.5", "arch": "x86_64",
        "model": "PowerEdge R650", "firmware": "2.4.8", "cpus": "64", "memoryMiB": "257000"});
    let begin = json!({"phase": "service start", "attempt": 1, "facts": facts});
    let fetched = json!({"phase": "stage end", "stage": "fetch", "result": "success",
        "bundle": boot.bundle, "plan": 1, "durationMs": 40});
    match &boot.failure {
        None => vec![begin, fetched, ends("success", "")],
        Some((stage, message)) => {
            let end = json!({"phase": "stage end", "stage": stage, "result": "failure", "cause": "exit",
                "exitCode": 1, "errorMessage": message, "durationMs": 400});
            vec![
                begin,
                fetched,
                json!({"phase": "stage start", "stage": stage}),
                end,
                ends("failure", message),
            ]
        }
    }
}

fn report(reporters: &Reporters, numbers: Range<usize>, nodes: usize) {
    let mut wire = reporters.connect();
    for number in numbers {
        wire.send(number, 0, 1, &records(&boot(number, nodes)));
    }
}

fn main() {
    let nodes = nodes();
    let mut cluster = Cluster::new();
    for n in 0..SCRIPTS {
        cluster.script(&format!("script{n}"), "#!/bin/sh\ntrue\n");
    }
    let rack =
        |part: usize| format!("n[{:06}-{:06}]", part * nodes / 100 + 1, (part + 1) * nodes / 100);
    let site = format!(
        "[groups.rack4]\nnodes = {:?}\npostscripts = [\"script7\"]\n[groups.rack9]\nnodes = {:?}\n",
        rack(4),
        rack(9)
    );
    cluster.site(&site).publish().expect(0);
    cluster.script("script7", "#!/bin/sh\nfalse\n").publish().expect(0);
    cluster.start();
    let reporters = Reporters::new(&cluster, &format!("n[000001-{nodes:06}]"));
    let share = nodes.div_ceil(CONNECTIONS);
    thread::scope(|scope| {
        for part in 0..CONNECTIONS {
            let own = part * share..((part + 1) * share).min(nodes);
            let reporters = &reporters;
            scope.spawn(move || report(reporters, own, nodes));
        }
    });
    println!(
        "{nodes} nodes, {} of which failed",
        (0..nodes).filter(|n| boot(*n, nodes).failure.is_some()).count()
    );
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let begun = Instant::now();
        let out = cluster.ctl(&["why", "--format", "json"]).expect(0);
        times.push(begun.elapsed());
        check(&out.json());
    }
    times.sort_unstable();
    println!("provostctl why: {:.2?}, the fastest {:.2?}, of {TIMES}", times[TIMES / 2], times[0]);
    assert!(times[TIMES / 2] < MOST, "more than {MOST:?}");
}

/// Whether each planted cause is the first factor of its failure, and chance has none.
fn check(document: &Value) {
    for failure in document["failures"].as_array().unwrap() {
        let first = &failure["factors"][0];
        let found = (first["name"].as_str(), first["value"].as_str());
        let title = failure["title"].as_str().unwrap();
        let expected = match title {
            _ if title.contains("script7") => (Some("script"), Some("script7 of generation 2")),
            _ if title.contains("mount_scratch") => (Some("kernel"), Some("6.12")),
            _ if title.contains("network") => (Some("group"), Some("rack4")),
            _ => (None, None),
        };
        assert_eq!(found, expected, "{failure}");
    }
}

fn nodes() -> usize {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    match (words.next().as_deref(), words.next()) {
        (None, None) => NODES,
        (Some("--nodes"), Some(count)) => count.parse().expect("--nodes has a number"),
        (word, _) => panic!("unknown argument {word:?}"),
    }
}
