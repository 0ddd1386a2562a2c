//! Nodes whose reports have numbers and times that no clock has: everything can be shown all the same.

use provost_tests::Cluster;
use provost_tests::reporters::{Reporters, begins};
use serde_json::{Value, json};

/// A boot whose steps took `duration`, and that ended at `timestamp`.
fn records(duration: u64, timestamp: &str) -> [Value; 5] {
    let step = |stage: &str, result: &str| {
        json!({"phase": "stage end", "stage": stage, "result": result, "durationMs": duration,
            "userMs": duration, "systemMs": duration, "maxRssKiB": duration, "commands": duration,
            "commandsFailed": duration, "bundle": duration, "plan": duration,
            "exitCode": i32::MIN, "cause": "exit", "timestamp": timestamp})
    };
    let begin = json!({"phase": "stage start", "stage": "syslog", "limitMs": duration,
        "timestamp": timestamp});
    let end = json!({"phase": "service end", "result": "failure", "durationMs": duration,
        "timestamp": timestamp});
    [begins(), step("fetch", "success"), begin, step("syslog", "failure"), end]
}

#[test]
fn huge_numbers_and_odd_times_are_shown_everywhere() {
    let mut cluster = Cluster::new();
    cluster.script("syslog", "#!/bin/sh\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"syslog\"]\n").publish().expect(0);
    cluster.start();
    let nodes = Reporters::new(&cluster, "cn001");
    let mut wire = nodes.connect();
    let times = ["0000-01-01T00:00:00Z", "2026-11-20T17:00:00Z", "9999-12-30T00:00:00Z"];
    for (run, timestamp) in times.into_iter().enumerate() {
        for (part, duration) in
            [u64::MAX, u64::MAX / 2, u64::from(u32::MAX)].into_iter().enumerate()
        {
            wire.send(0, run * 3 + part, 1, &records(duration, timestamp));
            for path in [
                "/",
                "/nodes",
                "/nodes/cn001",
                "/scripts",
                "/scripts/syslog",
                "/events",
                "/metrics",
            ] {
                cluster.daemon().get(path);
            }
            for args in
                ["nodes", "nodes --slow", "show cn001 --runs 20", "why", "why cn001", "history"]
            {
                let args: Vec<&str> = args.split(' ').collect();
                let www = cluster.www().display().to_string();
                let to: &[&str] = if args[0] == "history" { &["--to", &www] } else { &[] };
                cluster.ctl(&[&args[..], to].concat()).expect(0);
                cluster.ctl(&[&args[..], to, &["--format", "json"]].concat()).expect(0).json();
            }
        }
    }
}
