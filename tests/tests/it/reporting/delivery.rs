//! Servers that don't take a report, or say that they did, and scripts that don't wait for them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use provost_tests::faults::{Fault, Faulty, Times};
use provost_tests::{pipe, processes};
use serde_json::Value;

use super::{PATIENCE, RECORDS, all_is_stored, cluster, configure, plan};

#[test]
fn a_server_that_cannot_store_gets_everything_when_it_can_again() {
    for fault in [
        Fault::Status(507),
        Fault::Status(500),
        Fault::Swallow,
        Fault::Belie(500),
        Fault::ErrorPage,
        Fault::Truncate(5),
    ] {
        let (cluster, node, proxy) = cluster();
        proxy.fault("/v1/", Times::Always, fault.clone());
        node.provost(&["boot"]).expect(1).says(&["not sent yet", "hint: "]);
        assert!(node.status()["unreported"].as_u64() > Some(0), "{fault:?}");
        node.provost(&["report"]).expect(3).says(&["left", "hint: "]);
        proxy.repair();
        node.provost(&["report"]).expect(0);
        all_is_stored(&cluster, &node, &["boot"]);
        cluster.ctl(&["log", "cn001", "bad"]).expect(0);
    }
}

#[test]
fn a_server_that_says_when_to_come_again_is_not_asked_before() {
    let (cluster, node, proxy) = cluster();
    proxy.fault("/v1/", Times::Always, Fault::RetryAfter(503, 3600));
    node.provost(&["boot"]).expect(1).says(&["not sent yet"]);
    assert_eq!(proxy.asked(RECORDS), 1, "not for the failure, nor at the end of the run");
    proxy.repair();
    node.provost(&["report"]).expect(0);
    all_is_stored(&cluster, &node, &["boot"]);
}

#[test]
fn a_busy_server_holds_no_report_up_that_another_one_takes() {
    let (cluster, node, busy) = cluster();
    let free = Faulty::before(cluster.daemon().nodes());
    configure(&cluster, &node, &[busy.address(), free.address()]);
    busy.fault(RECORDS, Times::Always, Fault::RetryAfter(503, 60));
    node.provost(&["boot"]).expect(1);
    all_is_stored(&cluster, &node, &["boot"]);
    assert_eq!(busy.asked(RECORDS), 1, "not before its time");
}

#[test]
fn reports_wait_with_a_fetch_that_has_to_come_again() {
    let (_cluster, node, proxy) = cluster();
    // From then on it knows how to report without a manifest.
    node.provost(&["boot"]).expect(1);
    let before = proxy.exchanges().len();
    proxy.fault("/manifest.toml", Times::Next(1), Fault::RetryAfter(503, 1));
    node.provost(&["boot"]).expect(1);
    let paths: Vec<String> =
        proxy.exchanges().split_off(before).into_iter().map(|e| e.request.path).collect();
    let report = paths.iter().position(|path| path == RECORDS).unwrap();
    let asked = paths[..report].iter().filter(|path| *path == "/manifest.toml").count();
    assert_eq!(asked, 2, "{paths:?}");
}

#[test]
fn a_server_that_takes_a_report_and_says_when_the_next_may_come_gets_failures_and_the_end_at_once()
{
    let (cluster, node, proxy) = cluster();
    // Longer than the least time between two reports.
    cluster.script("slow", "#!/bin/sh\nsleep 1.2\n");
    plan(&cluster, &["slow a", "slow b", "bad", "slow c"]);
    proxy.fault(RECORDS, Times::Always, Fault::Later(30));
    node.provost(&["boot"]).expect(1);
    assert_eq!(proxy.asked(RECORDS), 3, "the first report, the failure, the end");
    all_is_stored(&cluster, &node, &["boot"]);
}

/// Answers each report with `answer`, and knows nothing else.
pub(crate) fn liar(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || lie(stream, answer));
        }
    });
    address
}

fn lie(mut stream: TcpStream, answer: &str) {
    let mut bytes = vec![0; 1 << 20];
    let n = stream.read(&mut bytes).unwrap_or(0);
    let (status, body) = match bytes[..n].starts_with(b"POST") {
        true => (200, answer),
        false => (404, ""),
    };
    let length = body.len();
    let head = format!("HTTP/1.1 {status} -\r\ncontent-length: {length}\r\nconnection: close\r\n");
    let _ = stream.write_all(format!("{head}\r\n{body}").as_bytes());
    // Until the other side has read it.
    let _ = stream.read_to_end(&mut bytes);
}

#[test]
fn a_server_that_lies_about_what_it_has_is_passed_by() {
    for lie in [
        "",
        "garbage",
        "<html>It works!</html>",
        "{\"acked\": 0}",
        "{\"acked\": 99999}",
        "{\"acked\": -1}",
        "{\"acked\": \"1\"}",
        "[]",
        "{\"error\": \"no\"}",
    ] {
        let (cluster, node, proxy) = cluster();
        configure(&cluster, &node, &[&liar(lie), proxy.address()]);
        node.provost(&["boot"]).expect(1);
        all_is_stored(&cluster, &node, &["boot"]);
    }
}

#[test]
fn what_a_report_leaves_unacknowledged_goes_with_the_next() {
    let (cluster, node, proxy) = cluster();
    proxy.refuse();
    for _ in 0..2 {
        node.provost(&["boot"]).expect(3);
    }
    proxy.accept();
    // It has no more than the first record of each run on its disk when that breaks.
    configure(&cluster, &node, &[&liar("{\"acked\": 1}"), proxy.address()]);
    node.provost(&["report"]).expect(0);
    let reports = proxy.exchanges().into_iter().filter(|e| e.request.path == RECORDS);
    let mut told = reports.map(|e| serde_json::from_slice::<Vec<Value>>(&e.request.body).unwrap());
    assert_eq!(told.next().unwrap()[0], node.journal("boot")[1]);
}

#[test]
fn no_script_waits_for_a_server_that_never_answers_a_report() {
    let (_cluster, node, proxy) = cluster();
    proxy.fault("/v1/", Times::Always, Fault::Stall);
    node.provost(&["boot"]).expect(1);
    let journal = node.journal("boot");
    let took = journal.last().unwrap()["durationMs"].as_u64().unwrap();
    assert!(took < 1900, "{took} ms: not even one report is given up by then");
    assert!(proxy.asked(RECORDS) > 0);
}

#[test]
fn a_failure_is_told_while_the_next_script_runs() {
    let (cluster, node, _proxy) = cluster();
    let gate = cluster.path("gate");
    pipe(&gate);
    cluster.script("waits", &format!("#!/bin/sh\nread -r line < {}\n", gate.display()));
    plan(&cluster, &["bad", "waits"]);
    let mut run = node.spawn(&["boot"]);
    let told = || {
        let shown = cluster.ctl_json(&["show", "cn001"]);
        let records = shown["runs"][0]["records"].as_array().cloned().unwrap_or_default();
        records.iter().any(|r| r["stage"] == "bad" && r["result"] == "failure")
    };
    assert!(processes::until(PATIENCE, told), "the failure isn't told");
    assert!(run.try_wait().unwrap().is_none());
    node.provost(&["report"]).expect(6).says(&["a run is in progress"]);
    std::fs::write(&gate, "go\n").unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(1));
    all_is_stored(&cluster, &node, &["boot"]);
}

#[test]
fn a_long_log_goes_packed_with_its_head_and_its_tail() {
    let (cluster, node, proxy) = cluster();
    cluster.script("loud", "#!/bin/sh\nseq 1 500000\nexit 1\n");
    plan(&cluster, &["loud"]);
    node.provost(&["boot"]).expect(1);
    let log = cluster.ctl(&["log", "cn001", "loud", "--output"]).expect(0).stdout;
    let lines: Vec<&str> = log.lines().collect();
    assert!(lines[0].ends_with(" stdout F 1") && lines.last().unwrap().ends_with(" F 500000"));
    let note = lines.iter().find(|line| line.starts_with("--- ")).unwrap();
    assert!(note.contains("bytes are left out here") && note.contains("provost log loud"));
    assert!(log.len() > 1_000_000 && log.len() <= 1 << 20, "{}", log.len());
    let exchanges = proxy.exchanges();
    let put = exchanges.iter().find(|e| e.request.method == "PUT").unwrap();
    assert_eq!(put.request.header("content-encoding"), Some("gzip"));
    assert!(put.request.body.len() < log.len() / 3, "{}", put.request.body.len());
}
