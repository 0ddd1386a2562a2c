//! A node that falls silent is given up, and taken back when it speaks again.

use std::time::{Duration, Instant};

use crate::server::{Server, config};
use jiff::{SignedDuration, Timestamp};
use provost_store::{NodeStates, Report, Sqlite, Store};
use provostd::Config;
use serde_json::{Value, json, value::to_raw_value};

const RUN: &str = "01980000-0000-7000-8000-000000000001";

fn record(node: &str, seq: u64, more: Value) -> Value {
    let mut record = json!({
        "timestamp": "2026-11-20T17:00:00Z",
        "service": "boot", "node": node, "run": RUN, "seq": seq,
    });
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    record
}

/// A boot that is in a stage which may take `limit` milliseconds.
fn in_stage(node: &str, limit: u64) -> Value {
    json!([
        record(node, 1, json!({"phase": "service start"})),
        record(node, 2, json!({"phase": "stage start", "stage": "disk", "limitMs": limit})),
    ])
}

async fn impatient() -> Server {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { lost_after: "1s".parse().unwrap(), ..config(&folder) };
    Server::start_with(folder, &config).await
}

/// Reads events until one has `text` in it.
async fn heard(events: &mut reqwest::Response, text: &str) -> String {
    let reading = async {
        let mut heard = String::new();
        while !heard.contains(text) || !heard.ends_with("\n\n") {
            let chunk = events.chunk().await.unwrap().unwrap();
            heard.push_str(std::str::from_utf8(&chunk).unwrap());
        }
        heard
    };
    tokio::time::timeout(Duration::from_secs(60), reading).await.expect("the event within 60 s")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_falls_silent_is_lost_and_comes_back() {
    let server = impatient().await;
    let mut events = server.admin("/v1/events").await;
    let (lost, patient) = (server.token("cn001").await, server.token("cn002").await);
    // The one that may take long is heard of first: the other one is due sooner.
    server.report("cn002", &patient, &in_stage("cn002", 600_000)).await;
    let began = Instant::now();
    server.report("cn001", &lost, &in_stage("cn001", 1_000)).await;
    assert_eq!(server.node_object("cn001").await["status"], "netbooting");

    let event = heard(&mut events, "event: lost").await;
    assert!(began.elapsed() >= Duration::from_secs(1), "its own limit and the margin");
    let event = event.split("event: lost\ndata: ").nth(1).unwrap();
    let event: Value = serde_json::from_str(event.lines().next().unwrap()).unwrap();
    assert_eq!((&event["node"], &event["stage"]), (&json!("cn001"), &json!("disk")));

    let node = server.node_object("cn001").await;
    assert_eq!((&node["status"], &node["cause"]), (&json!("failed"), &json!("lost")));
    assert_eq!((&node["stage"], &node["run"]), (&json!("disk"), &json!(RUN)));
    let message = node["errorMessage"].as_str().unwrap();
    assert!(message.contains(node["lastSeen"].as_str().unwrap()), "{message}");
    assert!(node["hint"].as_str().unwrap().contains("console"), "{node}");
    assert_eq!(server.node_object("cn002").await["status"], "netbooting");

    // It lives, and says how it went on.
    let on = json!([
        record("cn001", 3, json!({"phase": "stage end", "stage": "disk", "result": "success"})),
        record("cn001", 4, json!({"phase": "service end", "result": "success"})),
    ]);
    server.report("cn001", &lost, &on).await;
    let node = server.node_object("cn001").await;
    assert_eq!((&node["status"], &node["cause"]), (&json!("booted"), &Value::Null));
}

/// How often a power cut is tried: the connection has to be closed between the commit and the answer.
const CUTS: u64 = 60;

#[tokio::test(flavor = "multi_thread")]
async fn a_node_whose_power_is_cut_while_it_reports_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { lost_after: "50ms".parse().unwrap(), ..config(&folder) };
    let server = Server::start_with(folder, &config).await;
    for cut in 0..CUTS {
        let node = format!("cn{cut:03}");
        let token = server.token(&node).await;
        let records = in_stage(&node, 50);
        let report = server.report(&node, &token, &records);
        // From before the request is there until after it is answered, which takes some milliseconds.
        let _ = tokio::time::timeout(Duration::from_micros(cut * 80), report).await;
        // What has arrived is stored meanwhile; what hasn't never is.
        tokio::time::sleep(Duration::from_millis(30)).await;
        let ends = Instant::now() + Duration::from_secs(20);
        while server.node_object(&node).await["status"] == "netbooting" {
            assert!(Instant::now() < ends, "cut {cut}: nobody waits for {node}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_that_was_down_gives_everybody_time_anew() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { lost_after: "1s".parse().unwrap(), ..config(&folder) };
    // What an earlier daemon has left: of an hour ago, and due since then.
    std::fs::create_dir_all(&config.data).unwrap();
    let store = Sqlite::open(&config.data).unwrap();
    let ago = Timestamp::now() - SignedDuration::from_hours(1);
    for (node, limit) in [("cn001", 1_000), ("cn002", 3_000)] {
        let records = in_stage(node, limit);
        let report = |record| Report::parse(&to_raw_value(record).unwrap()).unwrap();
        let batch = records.as_array().unwrap().iter().map(report).collect();
        store.ingest(node, batch, ago).await.unwrap();
    }
    store.lose(ago + SignedDuration::from_secs(1), ago).await.unwrap();
    drop(store);

    let began = Instant::now();
    let server = Server::start_with(folder, &config).await;
    let mut events = server.admin("/v1/events").await;
    assert_eq!(server.node_object("cn001").await["cause"], "lost", "it was given up before");
    assert_eq!(server.node_object("cn002").await["status"], "netbooting");
    heard(&mut events, "event: lost").await;
    assert!(began.elapsed() > Duration::from_secs(2), "after its whole limit");
    assert_eq!(server.node_object("cn002").await["cause"], "lost");
}
