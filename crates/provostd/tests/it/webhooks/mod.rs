//! What receivers over HTTP are told: in order, signed, again until they take it.

mod receiver;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::server::{Server, config};
use provostd::{Config, WebhookConfig};
use receiver::Receiver;
use serde_json::{Value, json};
use tempfile::TempDir;

/// How many events the long test has: `PROVOST_TEST_EVENTS=10000` for the figure of the documentation.
const EVENTS: usize = 400;

/// Nodes that have tokens.
struct Fleet {
    server: Server,
    tokens: Vec<(String, String)>,
}

impl Fleet {
    async fn new(count: usize, folder: TempDir, config: &Config) -> Self {
        let server = Server::start_with(folder, config).await;
        let names: Vec<String> = (0..count).map(|n| format!("cn{n:05}")).collect();
        let asked = server.socket.post("http://localhost/v1/tokens");
        let asked = asked.json(&json!({"nodes": names, "force": true}));
        let answer: Value = asked.send().await.unwrap().json().await.unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let tokens = answer.as_array().unwrap().iter();
        let tokens = tokens.map(|token| (text(&token["node"]), text(&token["token"]))).collect();
        Self { server, tokens }
    }

    /// A boot of node `n`, which fails with a message, or succeeds.
    async fn boot(&self, n: usize, run: u32, failure: Option<&str>) {
        let (node, token) = &self.tokens[n];
        let record = |seq: u64, more: Value| {
            let run = format!("01980000-0000-7000-8000-{run:012}");
            let mut record = json!({"timestamp": "2026-11-20T17:00:00Z", "service": "boot",
                "node": node, "run": run, "seq": seq});
            record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            record
        };
        let end = match failure {
            Some(message) => json!({"phase": "service end", "result": "failure", "cause": "exit",
                "exitCode": 7, "errorMessage": message, "hint": "replace the disk"}),
            None => json!({"phase": "service end", "result": "success"}),
        };
        let batch = json!([record(1, json!({"phase": "service start"})), record(2, end)]);
        let (status, answer) = self.server.report(node, token, &batch).await;
        assert_eq!((status, &answer["acked"]), (200, &2.into()), "{answer}");
    }
}

fn webhook(toml: &str) -> WebhookConfig {
    #[derive(serde::Deserialize)]
    struct Name(WebhookConfig);
    let Name(webhook) = toml::from_str(toml).unwrap();
    webhook
}

/// A daemon with one receiver; its configuration may have more.
async fn fleet(count: usize, receiver: &Receiver, more: &str) -> Fleet {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("name = 'ops'\nurl = '{}'\n{more}", receiver.url());
    let config = Config { webhooks: vec![webhook(&text)], ..config(&folder) };
    Fleet::new(count, folder, &config).await
}

/// A word that no other number has, and no digit in it.
fn word(mut n: usize) -> String {
    let mut word = String::new();
    for _ in 0..4 {
        word.push(char::from(b'a' + (n % 26) as u8));
        n /= 26;
    }
    word
}

#[tokio::test(flavor = "multi_thread")]
async fn forty_nodes_with_one_cause_are_one_message_which_is_signed() {
    let receiver = Receiver::start(|_| Some(200)).await;
    let fleet = fleet(41, &receiver, "window = '15s'\nsecret = 'of both'").await;
    for n in 0..40 {
        fleet.boot(n, 1, Some(&format!("cannot mount /scratch of node cn{n:05}"))).await;
    }
    fleet.boot(40, 1, None).await;
    receiver.until(|r| r.nodes().len() >= 40).await;
    let requests = receiver.requests();
    assert_eq!(requests.len(), 1, "nobody asked for booted");
    let message = requests[0].json();
    assert_eq!((&message["event"], &message["count"]), (&"failed".into(), &40.into()));
    assert_eq!(message["nodes"], "cn[00000-00039]");
    assert_eq!((&message["cause"], &message["hint"]), (&"exit".into(), &"replace the disk".into()));

    let signature = requests[0].headers["provost-signature"].to_str().unwrap();
    let (at, signature) = signature.strip_prefix("t=").unwrap().split_once(",v1=").unwrap();
    let age = jiff::Timestamp::now().as_second() - at.parse::<i64>().unwrap();
    assert!((0..60).contains(&age), "{age} s");
    let mut openssl = Command::new("openssl")
        .args(["dgst", "-sha256", "-hmac", "of both", "-r"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let signed = [at.as_bytes(), b".", &requests[0].body].concat();
    std::io::Write::write_all(&mut openssl.stdin.take().unwrap(), &signed).unwrap();
    let digest = String::from_utf8(openssl.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(digest.split(' ').next().unwrap(), signature);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_fails_every_other_time_loses_nothing_and_no_order() {
    let events = std::env::var("PROVOST_TEST_EVENTS").map_or(EVENTS, |n| n.parse().unwrap());
    let nodes = events / 4;
    let receiver = Receiver::start(|n| Some(if n.is_multiple_of(2) { 500 } else { 200 })).await;
    let more = "events = ['failed', 'booted']\nwindow = '1s'";
    let fleet = fleet(nodes, &receiver, more).await;
    let begun = Instant::now();
    for round in 0..2 {
        for n in 0..nodes {
            let failure = format!("broken {}", word(n % 200));
            fleet.boot(n, round * 2 + 1, Some(&failure)).await;
            fleet.boot(n, round * 2 + 2, None).await;
        }
    }
    let reported = begun.elapsed();
    receiver.until(|r| r.nodes().len() >= events).await;
    println!(
        "{events} events of {nodes} nodes in {} messages, {} requests: reported in {reported:?}, told in {:?}",
        receiver.taken().len(),
        receiver.requests().len(),
        begun.elapsed()
    );
    let mut of_node = std::collections::BTreeMap::<String, Vec<String>>::new();
    for message in receiver.taken() {
        for event in message["events"].as_array().unwrap() {
            let node = event["node"].as_str().unwrap().to_owned();
            of_node.entry(node).or_default().push(message["event"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(of_node.len(), nodes);
    for (node, told) in of_node {
        assert_eq!(told, ["failed", "booted", "failed", "booted"], "{node}");
    }
    let metrics = fleet.server.admin("/metrics").await.text().await.unwrap();
    assert!(metrics.contains("provost_notices_delivered_total{receiver=\"ops\"}"), "{metrics}");
    // The first that is dropped is an increase then.
    assert!(metrics.contains("provost_notices_dropped_total{receiver=\"ops\"} 0"), "{metrics}");
    assert!(metrics.contains("provost_notice_queue{receiver=\"ops\"} 0"), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_never_answers_holds_no_report_up_and_keeps_its_queue_over_a_restart() {
    let silent = Receiver::start(|_| None).await;
    let fleet = fleet(2, &silent, "window = '10ms'").await;
    let begun = Instant::now();
    fleet.boot(0, 1, Some("no disk")).await;
    silent.until(|r| !r.requests().is_empty()).await;
    for run in 2..50 {
        fleet.boot(1, run, Some("no disk")).await;
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    let metrics = fleet.server.admin("/metrics").await.text().await.unwrap();
    assert!(metrics.contains("provost_notice_queue{receiver=\"ops\"} 49"), "{metrics}");

    let receiver = Receiver::start(|_| Some(200)).await;
    let text = format!("name = 'ops'\nurl = '{}'\nwindow = '10ms'", receiver.url());
    let Server { folder, daemon, .. } = fleet.server;
    daemon.stop().await;
    let config = Config { webhooks: vec![webhook(&text)], ..config(&folder) };
    let server = Server::start_with(folder, &config).await;
    receiver.until(|r| r.nodes().len() >= 49).await;
    assert_eq!(receiver.nodes().iter().filter(|node| *node == "cn00000").count(), 1);
    drop(server);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_refused_for_what_it_is_holds_no_other_up() {
    let receiver = Receiver::start(|n| Some(if n < 10 { 422 } else { 200 })).await;
    let fleet = fleet(2, &receiver, "window = '10ms'").await;
    fleet.boot(0, 1, Some("no disk")).await;
    receiver.until(|r| !r.requests().is_empty()).await;
    fleet.boot(1, 1, Some("no network")).await;
    receiver.until(|r| !r.taken().is_empty()).await;
    assert_eq!(receiver.nodes(), ["cn00001"]);
    let metrics = fleet.server.admin("/metrics").await.text().await.unwrap();
    assert!(metrics.contains("provost_notices_dropped_total{receiver=\"ops\"} 1"), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_storm_that_is_done_and_a_node_that_is_pending_are_told() {
    let receiver = Receiver::start(|_| Some(200)).await;
    let more = "window = '10ms'\nevents = ['pending', 'storm-done']";
    let fleet = fleet(12, &receiver, more).await;
    for (node, token) in &fleet.tokens {
        let start = json!([{"timestamp": "2026-11-20T17:00:00Z", "service": "boot", "node": node,
            "run": "01980000-0000-7000-8000-000000000001", "seq": 1, "phase": "service start"}]);
        assert_eq!(fleet.server.report(node, token, &start).await.0, 200);
    }
    let (status, _) = fleet.server.report("stranger", "no-token", &json!([])).await;
    assert_eq!(status, 401);
    receiver.until(|r| !r.taken().is_empty()).await;
    let pending = &receiver.taken()[0];
    assert_eq!((&pending["event"], &pending["nodes"]), (&"pending".into(), &"stranger".into()));
    for n in 0..12 {
        fleet.boot(n, 1, (n == 3).then_some("no disk")).await;
    }
    receiver.until(|r| r.taken().len() >= 2).await;
    let done = &receiver.taken()[1];
    let storm = &done["storm"];
    assert_eq!((&storm["nodes"], &storm["succeeded"]), (&12.into(), &11.into()), "{done}");
    let text = done["text"].as_str().unwrap();
    assert!(text.contains("12 nodes") && text.contains("1 failed"), "{text}");
}
