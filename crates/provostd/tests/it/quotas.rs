//! What one node sends, and what is read of it, stays bounded.

use std::time::{Duration, Instant};

use crate::server::{Server, config};
use provostd::QuotaConfig;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

const MIB: usize = 1024 * 1024;

fn run(number: usize) -> String {
    format!("01980000-0000-7000-8000-{number:012}")
}

fn record(run: &str, seq: usize, bytes: usize) -> Value {
    json!({"timestamp": "2026-11-20T17:00:00Z", "phase": "service start", "service": "run",
        "node": "cn001", "run": run, "seq": seq, "pad": "x".repeat(bytes)})
}

/// A daemon that stores 2 MiB of each node's records and 2 MiB of its logs in an hour.
async fn server() -> Server {
    let folder = tempfile::tempdir().unwrap();
    let quota =
        QuotaConfig { records_mib_per_hour: 2, logs_mib_per_hour: 2, ..QuotaConfig::default() };
    start(folder, quota).await
}

async fn start(folder: TempDir, quota: QuotaConfig) -> Server {
    let config = provostd::Config { quota, ..config(&folder) };
    Server::start_with(folder, &config).await
}

async fn is_over_quota(answer: Response, quota: &str) {
    assert_eq!(answer.status(), 429);
    let seconds: u64 = answer.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=3600).contains(&seconds), "{seconds}");
    let body: Value = answer.json().await.unwrap();
    assert!(
        body["error"].as_str().unwrap().contains(&format!("its quota of {quota} in an hour")),
        "{body}"
    );
    assert!(body["hint"].as_str().unwrap().contains("[quota]"), "{body}");
}

#[tokio::test]
async fn one_token_that_sends_logs_without_end_is_told_to_come_back_in_an_hour() {
    let server = server().await;
    let (token, other) = (server.token("cn001").await, server.token("cn002").await);
    let put = async |node: &str, token: &str, number: usize| {
        let path = format!("/v1/nodes/{node}/runs/{}/logs/01-x", run(number));
        let put = server.node(Method::PUT, &path).bearer_auth(token).body(vec![b'x'; MIB]);
        put.send().await.unwrap()
    };
    for number in [1, 2, 2] {
        assert_eq!(put("cn001", &token, number).await.status(), 204, "{number}");
    }
    is_over_quota(put("cn001", &token, 3).await, "2 MiB").await;
    let nodes: Value = server.admin("/v1/nodes").await.json().await.unwrap();
    let shown = "storing logs of cn001: it is over its quota of 2 MiB in an hour";
    assert_eq!(nodes[0]["overQuota"], shown, "the admin sees it");
    assert!(nodes[1].get("overQuota").is_none(), "{nodes}");
    assert_eq!(put("cn001", &token, 2).await.status(), 204, "the same log again");
    assert_eq!(put("cn002", &other, 1).await.status(), 204, "the others go on");
}

#[tokio::test]
async fn one_token_that_sends_records_without_end_is_told_to_come_back_in_an_hour() {
    let server = server().await;
    let token = server.token("cn001").await;
    let post = async |seqs: std::ops::Range<usize>| {
        let batch: Vec<_> = seqs.map(|seq| record(&run(1), seq, 200 * 1024)).collect();
        let path = "/v1/nodes/cn001/records";
        server.node(Method::POST, path).bearer_auth(&token).json(&batch).send().await.unwrap()
    };
    assert_eq!(post(1..6).await.status(), 200);
    assert_eq!(post(1..11).await.status(), 200, "five of them are repeats");
    is_over_quota(post(11..13).await, "2 MiB").await;
    assert_eq!(post(6..11).await.status(), 200, "what is stored is acknowledged again");
    let records: Value =
        server.admin(&format!("/v1/runs/{}/records", run(1))).await.json().await.unwrap();
    let seqs: Vec<_> = records.as_array().unwrap().iter().map(|r| r["seq"].clone()).collect();
    assert_eq!(json!(seqs), json!((1..=10).collect::<Vec<_>>()), "whole, though sent in parts");
}

#[tokio::test]
async fn one_token_that_begins_runs_without_end_is_told_to_come_back_in_an_hour() {
    let folder = tempfile::tempdir().unwrap();
    let quota = QuotaConfig { runs_per_hour: 3, records_per_hour: 10, ..QuotaConfig::default() };
    let server = start(folder, quota).await;
    let (token, other) = (server.token("cn001").await, server.token("cn002").await);
    let post = async |runs: std::ops::Range<usize>, seqs: std::ops::Range<usize>| {
        let records = |number| seqs.clone().map(move |seq| record(&run(number), seq, 0));
        let batch: Vec<_> = runs.flat_map(records).collect();
        let path = "/v1/nodes/cn001/records";
        server.node(Method::POST, path).bearer_auth(&token).json(&batch).send().await.unwrap()
    };
    is_over_quota(post(1..5, 1..2).await, "3 runs").await;
    assert_eq!(post(1..4, 1..3).await.status(), 200, "nothing of it was stored");
    assert_eq!(post(1..4, 1..4).await.status(), 200, "more records of the same runs");
    is_over_quota(post(4..5, 1..2).await, "3 runs").await;
    assert_eq!(post(1..2, 4..5).await.status(), 200);
    is_over_quota(post(1..2, 5..6).await, "10 records").await;
    assert_eq!(post(1..4, 1..4).await.status(), 200, "what is stored is acknowledged again");
    let node = server.node_object("cn001").await;
    let shown = "storing records of cn001: it is over its quota of 10 records in an hour";
    assert_eq!(node["overQuota"], shown, "the admin sees it");
    let metrics = server.admin("/metrics").await.text().await.unwrap();
    assert!(metrics.contains("provost_nodes_over_quota 1\n"), "{metrics}");
    let mut one = record(&run(9), 1, 0);
    one["node"] = json!("cn002");
    assert_eq!(server.report("cn002", &other, &json!([one])).await.0, 200, "the others go on");
}

#[tokio::test]
async fn the_page_of_a_node_that_ran_a_thousand_times_has_its_newest_200_runs() {
    let quota = QuotaConfig { runs_per_hour: 1000, ..QuotaConfig::default() };
    let server = start(tempfile::tempdir().unwrap(), quota).await;
    let token = server.token("cn001").await;
    let all: Vec<_> = (1..=1000).map(|number| record(&run(number), 1, 0)).collect();
    assert_eq!(server.report("cn001", &token, &json!(all)).await.0, 200);
    for (query, expected) in [("", 11), ("?runs=20", 30), ("?runs=999", 200)] {
        let path = format!("/v1/nodes/cn001{query}");
        let shown: Value = server.admin(&path).await.json().await.unwrap();
        let runs = shown["runs"].as_array().unwrap();
        assert_eq!((runs.len(), &runs[0]["run"]), (expected, &json!(run(1000))));
        assert_eq!((&runs[0]["brief"], &shown["more"]), (&Value::Null, &json!(true)));
    }
}

#[tokio::test]
async fn the_page_of_a_node_that_sent_40_megabytes_is_short_and_a_long_run_keeps_its_end() {
    let server = Server::start().await;
    let token = server.token("cn001").await;
    for part in 0..8 {
        let seqs = part * 25 + 1..=part * 25 + 25;
        let batch: Vec<_> = seqs.map(|seq| record(&run(1), seq, 200 * 1024)).collect();
        assert_eq!(server.report("cn001", &token, &json!(batch)).await.0, 200);
    }
    let page = server.admin("/v1/nodes/cn001").await.bytes().await.unwrap();
    assert!(page.len() < 10 * MIB, "{}", page.len());
    let shown: Value = serde_json::from_slice(&page).unwrap();
    let records = shown["runs"][0]["records"].as_array().unwrap();
    assert_eq!((&records[0]["seq"], &records[records.len() - 1]["seq"]), (&json!(1), &json!(200)));
}

#[tokio::test]
async fn a_log_is_read_in_ranges() {
    let server = Server::start().await;
    let token = server.token("cn001").await;
    server.report("cn001", &token, &json!([record(&run(1), 1, 0)])).await;
    let path = format!("/v1/nodes/cn001/runs/{}/logs/01-x", run(1));
    server.node(Method::PUT, &path).bearer_auth(&token).body("0123456789").send().await.unwrap();
    let url = format!("http://localhost/v1/runs/{}/logs/01-x", run(1));
    for (range, status, part, text) in [
        ("bytes=2-4", 206, "bytes 2-4/10", "234"),
        ("bytes=7-", 206, "bytes 7-9/10", "789"),
        ("bytes=-2", 206, "bytes 8-9/10", "89"),
    ] {
        let answer = server.socket.get(&url).header("range", range).send().await.unwrap();
        assert_eq!(answer.status(), status, "{range}");
        assert_eq!(answer.headers()["content-range"], part);
        assert_eq!(answer.text().await.unwrap(), text);
    }
    let beyond = server.socket.get(&url).header("range", "bytes=10-").send().await.unwrap();
    assert_eq!(beyond.status(), 416);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_release_costs_grows_with_its_names_and_no_faster() {
    let server = Server::start().await;
    let release = async |nodes: String| {
        let body = json!({ "nodes": [nodes] });
        let release = server.socket.post("http://localhost/v1/release").json(&body);
        let begun = Instant::now();
        let answer = release.send().await.unwrap();
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap(), begun.elapsed())
    };
    // The quickest of a few: what else this machine does is no cost of a release.
    let quickest = async |names: u32| {
        let mut quickest = Duration::MAX;
        for _ in 0..5 {
            let (status, body, took) = release(format!("x[1-{names}]")).await;
            assert_eq!(status, 404);
            let more = format!(" and {} more", names - 512);
            assert!(body["error"].as_str().unwrap().ends_with(&more), "{body}");
            quickest = quickest.min(took);
        }
        quickest
    };
    let (few, many) = (quickest(5_000).await, quickest(50_000).await);
    assert!(many < few * 40, "{few:?}, {many:?} for ten times as many");
    let known = json!({"nodes": ["x[1-2000]"]});
    server.socket.post("http://localhost/v1/tokens").json(&known).send().await.unwrap();
    let (status, body, _) = release("x[1-2000]".to_owned()).await;
    assert_eq!((status, body.as_array().unwrap().len()), (200, 2000));
}
