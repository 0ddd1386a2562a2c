//! Beats of steps that run for long: shown while they run, and kept in memory alone.

use std::time::{Duration, Instant};

use crate::server::{Server, refused, response};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

const RUN: &str = "01980000-0000-7000-8000-000000000001";

fn record(seq: u64, more: Value) -> Value {
    let mut record = json!({"timestamp": "2026-11-20T17:00:00Z", "service": "boot",
        "node": "cn001", "run": RUN, "seq": seq});
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    record
}

fn beat(server: &Server, token: &str, run: &str, body: &Value) -> RequestBuilder {
    let path = format!("/v1/nodes/cn001/runs/{run}/beat");
    server.node(Method::POST, &path).bearer_auth(token).json(body)
}

/// A node whose stage `slow` runs.
async fn running() -> (Server, String) {
    let server = Server::start().await;
    let token = server.token("cn001").await;
    let records = json!([
        record(1, json!({"phase": "service start"})),
        record(2, json!({"phase": "stage start", "stage": "slow"})),
    ]);
    server.report("cn001", &token, &records).await;
    (server, token)
}

#[tokio::test]
async fn a_beat_is_shown_while_its_stage_runs_and_gone_with_the_daemon() {
    let (server, token) = running().await;
    let body = json!({"stage": "slow", "log": "01-slow", "elapsedMs": 250_000, "line": "copying"});
    let send = beat(&server, &token, RUN, &body);
    assert_eq!(response(send).await, (200, json!({"follow": false})));
    let shown = server.node_object("cn001").await;
    assert_eq!(shown["runningFor"]["elapsedMs"], 250_000);
    assert_eq!(shown["runningFor"]["line"], "copying");
    let all: Value = server.admin("/v1/nodes").await.json().await.unwrap();
    assert_eq!(all[0], shown);

    let server = server.restart().await;
    assert_eq!(server.node_object("cn001").await.get("runningFor"), None);
    response(beat(&server, &token, RUN, &body)).await;
    let end =
        json!([record(3, json!({"phase": "stage end", "stage": "slow", "result": "success"}))]);
    server.report("cn001", &token, &end).await;
    assert_eq!(server.node_object("cn001").await.get("runningFor"), None, "it has ended");
}

#[tokio::test]
async fn the_stage_that_a_script_is_in_is_shown_and_programs_of_other_versions_are_understood() {
    let (server, token) = running().await;
    let with = |key: &str, value: Value| {
        let mut body = json!({"stage": "slow", "log": "01-slow", "elapsedMs": 5000});
        body[key] = value;
        body
    };
    let inner = json!({"service": "bootkube", "stage": "wait-for-etcd",
        "since": "2026-11-20T17:00:00Z"});
    let mut of_newer = inner.clone();
    of_newer["progress"] = json!({"done": 3});
    for (body, shown) in [
        (with("inner", inner.clone()), inner.clone()),
        // Of a node's program that knows nothing of it.
        (with("line", json!("waiting")), Value::Null),
        (with("inner", of_newer), inner),
        (with("mood", json!(["new"])), Value::Null),
    ] {
        assert_eq!(response(beat(&server, &token, RUN, &body)).await.0, 200, "{body}");
        let running = server.node_object("cn001").await["runningFor"].clone();
        assert_eq!((&running["elapsedMs"], &running["inner"]), (&json!(5000), &shown), "{body}");
        assert_eq!(running.get("inner").is_none(), shown.is_null(), "absent");
    }
}

/// Pages are made anew every 10 s in any case.
#[tokio::test]
async fn open_pages_show_another_stage_of_a_script_at_once() {
    let (server, token) = running().await;
    for path in ["/", "/nodes", "/nodes/cn001"] {
        let url = format!("http://{}{path}", server.daemon.addresses().admin.unwrap());
        let page = server.http.get(url).header("accept", "text/event-stream");
        let mut page = page.send().await.unwrap();
        let mut text = String::new();
        let begun = Instant::now();
        for stage in ["one", "two", "three"] {
            let inner = json!({"service": "bootkube", "stage": stage,
                "since": "2026-11-20T17:00:00Z"});
            let body =
                json!({"stage": "slow", "log": "01-slow", "elapsedMs": 5000, "inner": inner});
            response(beat(&server, &token, RUN, &body)).await;
            while !text.contains(&format!("bootkube: {stage} for ")) {
                let more = page.chunk().await.unwrap().expect("the stream goes on");
                text.push_str(str::from_utf8(&more).unwrap());
            }
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{path}: {:?}", begun.elapsed());
    }
}

#[tokio::test]
async fn what_a_log_grows_by_comes_to_who_follows_it() {
    let (server, token) = running().await;
    let body = |from: u64, text: &str, ended| {
        json!({"stage": "slow", "log": "01-slow", "elapsedMs": 1, "ended": ended,
            "growth": {"from": from, "to": from + text.len() as u64, "text": text}})
    };
    let follow = async |from: u64| -> Value {
        let path = format!("/v1/nodes/cn001/follow/slow?from={from}");
        server.admin(&path).await.json().await.unwrap()
    };
    assert_eq!(follow(0).await, json!({"run": null, "log": null, "pieces": [], "ended": false}));
    let beat = async |body: &Value| response(beat(&server, &token, RUN, body)).await;
    assert_eq!(beat(&body(0, "not asked for\n", false)).await.1["follow"], false);
    let (followed, answer) = tokio::join!(follow(14), async {
        // Until the follower has asked.
        loop {
            let answer = beat(&body(14, "one\n", false)).await.1;
            if answer["follow"] == true {
                return beat(&body(14, "one\ntwo\n", false)).await.1;
            }
        }
    });
    assert_eq!(answer["follow"], true);
    assert_eq!((&followed["run"], &followed["log"]), (&json!(RUN), &json!("01-slow")));
    let pieces = followed["pieces"].as_array().unwrap();
    assert!(pieces[0]["text"].as_str().unwrap().starts_with("one\n"), "{followed}");
    assert_eq!(beat(&body(22, "three\n", true)).await.1["follow"], true);
    let rest = follow(22).await;
    assert_eq!((&rest["pieces"][0]["text"], &rest["ended"]), (&json!("three\n"), &json!(true)));

    let unknown = server.admin("/v1/nodes/cn002/follow/slow").await;
    assert_eq!(unknown.status(), 404);
}

#[tokio::test]
async fn a_node_beats_for_itself_alone_and_not_without_measure() {
    let (server, token) = running().await;
    let other = server.token("cn002").await;
    let fine = json!({"stage": "slow", "log": "01-slow", "elapsedMs": 1});
    assert_eq!(refused(beat(&server, &other, RUN, &fine)).await, 403);
    assert_eq!(refused(beat(&server, "none", RUN, &fine)).await, 401);
    let long =
        json!({"stage": "slow", "log": "01-slow", "elapsedMs": 1, "line": "x".repeat(500_000)});
    assert_eq!(refused(beat(&server, &token, RUN, &long)).await, 413);
    for bad in [
        json!([]),
        json!({"stage": "slow", "elapsedMs": 1}),
        json!({"stage": "slow", "log": "../01-slow", "elapsedMs": 1}),
        json!({"stage": "x".repeat(1000), "log": "01-slow", "elapsedMs": 1}),
    ] {
        assert_eq!(refused(beat(&server, &token, RUN, &bad)).await, 422, "{bad}");
    }
    assert_eq!(refused(beat(&server, &token, "run", &fine)).await, 422);
    assert_eq!(server.node_object("cn001").await.get("runningFor"), None);
}

#[tokio::test]
async fn beats_are_events_for_who_asks_for_them() {
    let (server, token) = running().await;
    let mut with = server.admin("/v1/events?beats=true").await;
    let mut without = server.admin("/v1/events").await;
    let body = json!({"stage": "slow", "log": "01-slow", "elapsedMs": 1});
    response(beat(&server, &token, RUN, &body)).await;
    let end =
        json!([record(3, json!({"phase": "stage end", "stage": "slow", "result": "success"}))]);
    server.report("cn001", &token, &end).await;
    let first = String::from_utf8(with.chunk().await.unwrap().unwrap().to_vec()).unwrap();
    assert!(first.starts_with("event: beat\ndata: {\"node\":\"cn001\"}\n"), "{first}");
    let first = String::from_utf8(without.chunk().await.unwrap().unwrap().to_vec()).unwrap();
    assert!(first.starts_with("event: record\n"), "{first}");
}
