//! A node that fails again and again is told to hold, until an admin releases it.

use crate::server::{Server, refused, response};
use reqwest::{Method, Response};
use serde_json::{Value, json};

const PLAN: &str = "/plans/cn001.toml";

fn run(number: u32) -> String {
    format!("01980000-0000-7000-8000-{number:012}")
}

fn record(service: &str, number: u32, seq: u64, more: Value) -> Value {
    let mut record = json!({
        "timestamp": "2026-11-20T17:00:00Z",
        "service": service, "node": "cn001", "run": run(number), "seq": seq,
    });
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    record
}

fn start(service: &str, number: u32) -> Value {
    record(service, number, 1, json!({"phase": "service start", "attempt": 1}))
}

/// The step of a boot that fails.
fn failed_step(number: u32) -> Value {
    let end = json!({"phase": "stage end", "stage": "mount_scratch", "result": "failure",
        "cause": "exit", "exitCode": 1,
        "errorMessage": "mounting /scratch\nlustre01 does \u{1b}[31mnot\u{e9} answer"});
    record("boot", number, 2, end)
}

fn end(service: &str, number: u32, result: &str) -> Value {
    record(service, number, 2, json!({"phase": "service end", "result": result}))
}

fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers().get(name).map(|value| value.to_str().unwrap())
}

#[tokio::test]
async fn a_node_over_its_budget_is_held_until_it_is_released() {
    let server = Server::start().await;
    server.www("plans/cn001.toml", "plan");
    let token = server.token("cn001").await;
    let plan = async |present: Option<u32>, etag: Option<&str>| {
        let mut ask = server.node(Method::GET, PLAN).bearer_auth(&token);
        if let Some(number) = present {
            ask = ask.header("provost-run", run(number));
        }
        if let Some(etag) = etag {
            ask = ask.header("if-none-match", etag);
        }
        ask.send().await.unwrap()
    };
    let report = async |records: Value| server.report("cn001", &token, &records).await.1;

    let fine = plan(None, None).await;
    assert_eq!(
        (header(&fine, "provost-directive"), fine.status().as_u16()),
        (Some("proceed"), 200)
    );
    assert_eq!(header(&fine, "provost-released"), None);
    let etag = header(&fine, "etag").unwrap().to_owned();

    // A kickstart that failed, a boot that was cut off, a boot that failed.
    report(json!([start("kickstart", 1), end("kickstart", 1, "failure")])).await;
    report(json!([start("boot", 2)])).await;
    let third = report(json!([start("boot", 3)])).await;
    assert_eq!(third["directive"], "proceed", "it is the third attempt itself");
    assert_eq!(header(&plan(Some(3), None).await, "provost-directive"), Some("proceed"));
    report(json!([failed_step(3)])).await;
    report(json!([record("boot", 3, 3, json!({"phase": "service end", "result": "failure"}))]))
        .await;

    let why = "3 attempts failed (max_attempts = 3); the last: mount_scratch, exit status 1, lustre01 \
               does \\u{1b}[31mnot\\u{e9} answer";
    for (etag, status) in [(None, 200), (Some(etag.as_str()), 304)] {
        let held = plan(Some(4), etag).await;
        assert_eq!(
            (held.status().as_u16(), header(&held, "provost-directive")),
            (status, Some("hold"))
        );
        let reason = header(&held, "provost-reason").unwrap();
        assert_eq!(reason, why);
    }
    let fourth = report(json!([start("boot", 4)])).await;
    assert_eq!(fourth["directive"], "hold");
    assert_eq!(fourth["reason"], why);
    let rerun = report(json!([start("run", 5)])).await;
    assert_eq!(rerun["directive"], "proceed", "an admin's rerun is never held");
    let why = json!({"phase": "service end", "result": "failure", "cause": "held",
        "errorMessage": "3 attempts", "hint": "provostctl release cn001"});
    report(json!([record("boot", 4, 2, why)])).await;
    report(json!([end("run", 5, "success")])).await;
    let node = server.node_object("cn001").await;
    assert_eq!((&node["status"], &node["cause"]), (&json!("failed"), &json!("held")));
    assert_eq!(node["hint"], "provostctl release cn001");

    let release = async |nodes: Value| {
        let ask = server.socket.post("http://localhost/v1/release").json(&json!({"nodes": nodes}));
        response(ask).await
    };
    let (status, body) = release(json!(["cn[001-002]"])).await;
    assert_eq!(status, 404, "one of them is unknown");
    assert!(body["error"].as_str().unwrap().contains("cn002"), "{body}");
    assert_eq!(header(&plan(None, None).await, "provost-directive"), Some("hold"), "all or none");
    let done = release(json!(["cn001"])).await;
    // What was held has tried nothing.
    assert_eq!(done, (200, json!([{"node": "cn001", "attempts": 3}])));
    let released = plan(Some(6), Some(&etag)).await;
    assert_eq!(header(&released, "provost-directive"), Some("proceed"));
    let at: jiff::Timestamp = header(&released, "provost-released").unwrap().parse().unwrap();
    assert!(at.duration_until(jiff::Timestamp::now()).as_secs() < 60, "{at}");
    assert_eq!(report(json!([start("boot", 6)])).await["directive"], "proceed");
}

#[tokio::test]
async fn what_was_counted_outlives_the_daemon() {
    let server = Server::start().await;
    server.www("plans/cn001.toml", "plan");
    let token = server.token("cn001").await;
    for number in 1..=3 {
        server.report("cn001", &token, &json!([start("boot", number)])).await;
    }
    let server = server.restart().await;
    let held = server.node(Method::GET, PLAN).bearer_auth(&token).send().await.unwrap();
    assert_eq!(header(&held, "provost-directive"), Some("hold"));
}

#[tokio::test]
async fn only_the_socket_releases() {
    let server = Server::start().await;
    server.token("cn001").await;
    let url = format!("http://{}/v1/release", server.daemon.addresses().admin.unwrap());
    let ask = server.http.post(url).json(&json!({"nodes": ["cn001"]}));
    assert_eq!(refused(ask).await, 403);
}
