//! Words of a newer program: each reader of an older one keeps them, shows them and goes on.

use std::fs;
use std::process::Command;
use std::time::Duration;

use provost_tests::{Cluster, Out, Receiver, processes};
use serde_json::{Value, json};

/// The longest that anything here is waited for.
const SOON: Duration = Duration::from_secs(60);
const RUN: &str = "01a20688-7483-775c-a77a-2ab58dcfbd19";
const UPGRADE: &str = "01a20688-7483-775c-a77a-2ab58dcfbd20";

/// A site of two nodes that have reported nothing.
fn cluster(more: &str) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.script("mount_scratch", "#!/bin/sh\n");
    cluster.site("[nodes.\"cn[001-002]\"]\npostscripts = [\"mount_scratch\"]\n");
    cluster.publish().expect(0);
    cluster.configure_daemon(more);
    cluster.start();
    cluster
}

/// The records of a run, in their order; each begins as these facts.
fn records(service: &str, run: &str, entries: &[Value]) -> Value {
    let record = |(index, entry): (usize, &Value)| {
        let mut record = json!({
            "timestamp": "2026-11-20T17:00:01Z", "service": service, "node": "cn001", "run": run,
            "seq": index + 1,
        });
        record.as_object_mut().unwrap().extend(entry.as_object().unwrap().clone());
        record
    };
    entries.iter().enumerate().map(record).collect()
}

/// A boot whose second step failed for a cause that nobody knows, after a phase that nobody knows.
fn failed_boot() -> Value {
    records(
        "boot",
        RUN,
        &[
            json!({"phase": "service start", "attempt": 1, "mood": {"new": [1]}}),
            json!({"phase": "stage start", "stage": "fetch"}),
            json!({"phase": "stage end", "stage": "fetch", "result": "success", "bundle": 1,
                "stages": ["mount_scratch"]}),
            json!({"phase": "stage start", "stage": "mount_scratch"}),
            json!({"phase": "stage checkpoint", "stage": "mount_scratch"}),
            json!({"phase": "stage verified", "stage": "mount_scratch", "result": "success"}),
            json!({"phase": "stage end", "stage": "mount_scratch", "result": "failure",
                "cause": "overheated", "errorMessage": "91 degrees", "durationMs": 1200}),
            json!({"phase": "service end", "result": "failure", "cause": "overheated",
                "errorMessage": "91 degrees"}),
        ],
    )
}

/// A run of a service that nobody knows, which ended as nobody knows.
fn upgrade() -> Value {
    records(
        "upgrade",
        UPGRADE,
        &[
            json!({"phase": "service start"}),
            json!({"phase": "stage start", "stage": "firmware"}),
            json!({"phase": "stage end", "stage": "firmware", "result": "postponed"}),
            json!({"phase": "service end", "result": "postponed"}),
        ],
    )
}

#[track_caller]
fn report(cluster: &Cluster, batch: &Value) {
    let token = cluster.ctl(&["token", "--force", "cn001"]).expect(0).stdout;
    let token = format!("Authorization: Bearer {}", token.split_whitespace().last().unwrap());
    let url = format!("http://{}/v1/nodes/cn001/records", cluster.daemon().nodes());
    let last = batch.as_array().unwrap().len();
    let sent = ["-sS", "-H", &token, "--data-binary", &batch.to_string(), &url];
    let out: Out = Command::new("curl").args(sent).output().unwrap().into();
    let answer: Value = serde_json::from_str(&out.stdout).unwrap();
    assert_eq!(answer["acked"], last, "{out:?}");
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn are_stored_and_shown_by_the_management_node() {
    let receiver = Receiver::start("127.0.0.1:0");
    let mut cluster = cluster(&format!(
        "[[webhooks]]\nname = \"ops\"\nurl = {:?}\nwindow = \"10ms\"\n",
        receiver.url()
    ));
    report(&cluster, &failed_boot());
    report(&cluster, &upgrade());
    // As what is stored is read again by whatever program comes next.
    for _ in 0..2 {
        let node = cluster.status("cn001");
        let shown = ["status", "stage", "cause", "errorMessage"].map(|key| node[key].clone());
        assert_eq!(shown, ["failed", "mount_scratch", "overheated", "91 degrees"]);
        let nodes = cluster.ctl(&["nodes"]).expect(0).stdout;
        has(&nodes, &["cn001", "failed", "mount_scratch", "overheated", "91 degrees"]);
        let groups = cluster.ctl(&["nodes", "--group"]).expect(0).stdout;
        has(&groups, &["1 failed in mount_scratch: overheated"]);
        let show = cluster.ctl(&["show", "cn001"]).expect(0).stdout;
        has(&show, &["FAILED", "mount_scratch", "overheated", "upgrade", "postponed"]);
        let daemon = cluster.daemon();
        has(&daemon.get("/"), &["mount_scratch", "overheated"]);
        has(&daemon.get("/nodes"), &["overheated"]);
        has(&daemon.get("/nodes/cn001"), &["overheated", "91 degrees", "postponed"]);
        has(&daemon.get("/scripts/mount_scratch"), &["overheated"]);
        has(&cluster.metrics(), &["provost_nodes{status=\"failed\"} 1"]);
        cluster.kill_daemon();
        cluster.start();
    }
    let sent = || receiver.bodies().iter().map(Value::to_string).collect::<String>();
    assert!(processes::until(SOON, || sent().contains("overheated")), "{}", sent());
    let records = cluster.daemon().get(&format!("/v1/runs/{RUN}/records"));
    let records: Value = serde_json::from_str(&records).unwrap();
    assert_eq!(records, failed_boot(), "as they came");
}

#[test]
fn are_read_by_an_older_program_of_the_node() {
    let cluster = cluster("");
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    let file = node.path("log/services/boot.json");
    let journal = |records: &Value| {
        let lines = records.as_array().unwrap().iter().map(Value::to_string);
        format!("[\n{}\n]\n", lines.collect::<Vec<_>>().join(",\n"))
    };
    fs::write(&file, journal(&failed_boot())).unwrap();
    fs::write(node.path("log/services/upgrade.json"), journal(&upgrade())).unwrap();
    has(&node.provost(&["status"]).stdout, &["FAILED", "mount_scratch", "overheated"]);
    assert_eq!(node.status()["cause"], "overheated");
    has(&node.provost(&["analyze"]).stdout, &["mount_scratch", "overheated"]);
    // What is there stays, and the next run is added.
    node.provost(&["boot"]).expect(0);
    let records = node.journal("boot");
    assert_eq!(records[..8], failed_boot().as_array().unwrap()[..]);
    assert_eq!(records.last().unwrap()["result"], "success");
    assert_eq!(cluster.status("cn001")["status"], "booted");
}
