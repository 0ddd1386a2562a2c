//! Records reach the store once each, whatever the server does, and no script waits for it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use provost_tests::faults::{Fault, Faulty, Times};
use provost_tests::{Cluster, Node, pipe, processes};
use serde_json::{Value, json};

/// The longest that anything here is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
const RECORDS: &str = "/v1/nodes/cn001/records";

/// A node with the scripts `one` and `bad`, whose only server is one that may go wrong.
fn cluster() -> (Cluster, Node, Faulty) {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\necho one\n");
    cluster.script("bad", "#!/bin/sh\n# /// provost\n# on_failure = \"continue\"\n# ///\nexit 3\n");
    plan(&cluster, &["one", "bad", "one two"]);
    // Neither side holds a node that fails here over and over.
    cluster.configure_daemon("[guard]\nmax_attempts = 100\n");
    cluster.start();
    let node = cluster.node("cn001");
    let proxy = Faulty::before(cluster.daemon().nodes());
    configure(&cluster, &node, &[proxy.address()]);
    (cluster, node, proxy)
}

fn plan(cluster: &Cluster, scripts: &[&str]) {
    cluster.site(&format!("[nodes.cn001]\npostscripts = {scripts:?}\n")).publish().expect(0);
}

fn configure(cluster: &Cluster, node: &Node, servers: &[&str]) {
    let servers: Vec<String> = servers.iter().map(|s| format!("http://{s}")).collect();
    node.configure(&format!(
        "servers = {servers:?}\n[trust]\nkeys = [\"{}\"]\n[fetch]\ndeadline = \"2s\"\n\
         stall_timeout = \"1s\"\n[report]\ndeadline = \"2s\"\n[guard]\nmax_attempts = 100\n",
        cluster.key()
    ));
}

/// Asserts that the store has each run of the node's journals whole, and nothing twice.
#[track_caller]
fn all_is_stored(cluster: &Cluster, node: &Node, services: &[&str]) {
    assert_eq!(node.status()["unreported"], 0);
    let shown = cluster.ctl_json(&["show", "cn001"]);
    let mut stored: Vec<(String, u64)> = Vec::new();
    for run in shown["runs"].as_array().unwrap() {
        let id = run["run"].as_str().unwrap();
        let records = run["records"].as_array().unwrap();
        stored.extend(records.iter().map(|r| (id.to_owned(), r["seq"].as_u64().unwrap())));
    }
    let journals = services.iter().flat_map(|service| node.journal(service));
    let mut written: Vec<(String, u64)> =
        journals.map(|r| (r["run"].as_str().unwrap().into(), r["seq"].as_u64().unwrap())).collect();
    stored.sort();
    written.sort();
    assert_eq!(stored, written);
}

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
        node.provost(&["boot"]).expect(1).says(&["could not be reported yet", "hint: "]);
        assert!(node.status()["unreported"].as_u64() > Some(0), "{fault:?}");
        node.provost(&["report"]).expect(3).says(&["left", "hint: "]);
        proxy.mend();
        node.provost(&["report"]).expect(0);
        all_is_stored(&cluster, &node, &["boot"]);
        cluster.ctl(&["log", "cn001", "bad"]).expect(0);
    }
}

/// Answers each report with `answer`, and knows nothing else.
fn liar(answer: &'static str) -> String {
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
    node.provost(&["report"]).expect(6).says(&["a run is going on"]);
    std::fs::write(&gate, "go\n").unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(1));
    all_is_stored(&cluster, &node, &["boot"]);
}

#[test]
fn a_fetch_that_failed_is_told_once_a_server_is_there() {
    let (cluster, node, proxy) = cluster();
    proxy.refuse();
    node.provost(&["boot"]).expect(3);
    node.provost(&["kickstart"]).expect(3);
    proxy.accept();
    node.provost(&["report"]).expect(0);
    all_is_stored(&cluster, &node, &["boot", "kickstart"]);
    let status = cluster.status("cn001");
    assert_eq!((&status["status"], &status["cause"]), (&json!("failed"), &json!("fetch")));
}

#[test]
fn two_who_report_at_once_send_nothing_twice() {
    let (cluster, node, proxy) = cluster();
    proxy.refuse();
    for _ in 0..3 {
        node.provost(&["boot"]).expect(3);
    }
    proxy.accept();
    let reports: Vec<_> = (0..4).map(|_| node.spawn(&["report"])).collect();
    for report in reports {
        let out = report.wait_with_output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    }
    let mut sent = HashSet::new();
    for exchange in proxy.exchanges().iter().filter(|e| e.request.path == RECORDS) {
        for record in serde_json::from_slice::<Vec<Value>>(&exchange.request.body).unwrap() {
            let key = format!("{} {}", record["run"], record["seq"]);
            assert!(sent.insert(key), "{record} was sent twice");
        }
    }
    all_is_stored(&cluster, &node, &["boot"]);
}

#[test]
fn what_is_left_goes_by_the_timer_where_systemd_has_one() {
    let (_cluster, node, proxy) = cluster();
    proxy.fault("/v1/", Times::Always, Fault::Status(503));
    node.provost(&["boot"]).expect(1);
    let asked = || std::fs::read_to_string(node.path("reboots")).unwrap_or_default();
    assert!(!asked().contains("provost-report"), "there is no such unit here");
    let units = node.path("etc/systemd/system");
    std::fs::create_dir_all(&units).unwrap();
    std::fs::write(units.join("provost-report.timer"), "[Timer]\n").unwrap();
    node.provost(&["boot"]).expect(1).says(&["a timer, the next run"]);
    assert_eq!(asked().trim(), "systemctl start --no-block provost-report.timer");
    // One that hangs costs no more than a moment.
    let systemctl = node.path("fakes/systemctl");
    std::fs::write(&systemctl, "#!/bin/sh\nexec sleep 60\n").unwrap();
    node.provost(&["boot"]).expect(1).says(&["goes with the next run"]);
    proxy.mend();
    node.provost(&["boot"]).expect(1);
    assert_eq!(node.status()["unreported"], 0);
}

#[test]
fn a_long_log_goes_packed_with_its_head_and_its_tail() {
    let (cluster, node, proxy) = cluster();
    cluster.script("loud", "#!/bin/sh\nseq 1 500000\nexit 1\n");
    plan(&cluster, &["loud"]);
    node.provost(&["boot"]).expect(1);
    let log = cluster.ctl(&["log", "cn001", "loud"]).expect(0).stdout;
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

#[test]
fn a_run_that_cannot_be_recorded_is_told_all_the_same() {
    let (cluster, node, _proxy) = cluster();
    std::fs::create_dir_all(node.path("log")).unwrap();
    std::fs::write(node.path("log/services"), "no folder").unwrap();
    node.provost(&["boot"]).expect(2).says(&["log/services", "the management node knows"]);
    let status = cluster.status("cn001");
    assert_eq!((&status["status"], &status["cause"]), (&json!("failed"), &json!("config")));
    assert!(status["errorMessage"].as_str().unwrap().contains("log/services"), "{status}");
    assert!(status["hint"].as_str().is_some());

    // As on a full disk: no signal ends the run where nobody would hear of it.
    let (cluster, node, _proxy) = self::cluster();
    let limited = ["sh", "-c", "ulimit -f 1; exec \"$@\"", "sh"];
    let ended = node.command_by(&limited, &["boot"]).output().unwrap();
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    let status = cluster.status("cn001");
    assert!(status["errorMessage"].as_str().unwrap().contains("File too large"), "{status}");

    let (_cluster, node, proxy) = self::cluster();
    proxy.fault("/v1/", Times::Always, Fault::Stall);
    std::fs::write(node.path("log"), "no folder").unwrap();
    let begun = std::time::Instant::now();
    node.provost(&["boot"]).expect(2);
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

#[test]
fn what_is_wrong_in_the_configuration_is_told_by_what_is_right() {
    let (cluster, node, proxy) = cluster();
    node.configure(&format!("servers = [\"http://{}\"]\n", proxy.address()));
    node.provost(&["boot"]).expect(2).says(&["[trust] says nothing"]);
    let status = cluster.status("cn001");
    assert_eq!((&status["status"], &status["cause"]), (&json!("failed"), &json!("config")));
    all_is_stored(&cluster, &node, &["boot"]);
}

#[test]
fn a_server_that_is_dead_for_weeks_costs_a_bounded_journal_and_gets_the_newest() {
    let (cluster, node, proxy) = cluster();
    proxy.fault("/v1/", Times::Always, Fault::Status(503));
    node.provost(&["boot"]).expect(1);
    // The same run over and over, each time with an id and words of its own.
    let path = node.path("log/services/boot.json");
    let run = node.status()["run"].as_str().unwrap().to_owned();
    let entries = node.journal("boot");
    let mut text = String::from("[\n");
    for n in 0..1700 {
        let id = format!("{}{n:04x}", &run[..run.len() - 4]);
        for entry in &entries {
            let mut entry = entry.clone();
            entry["run"] = id.clone().into();
            entry["errorMessage"] = "x".repeat(1000).into();
            text += &format!("{entry},\n");
        }
    }
    text.truncate(text.len() - 2);
    std::fs::write(&path, text + "\n]\n").unwrap();
    assert!(path.metadata().unwrap().len() > 16 << 20);
    node.provost(&["boot"]).expect(1).says(&["nobody took the records of boot for too long"]);
    assert!(path.metadata().unwrap().len() < 9 << 20, "half of it is kept");
    let kept = node.journal("boot");
    assert_eq!(kept[0]["phase"], "service start");
    assert!(path.with_extension("1.json").exists());
    proxy.mend();
    let begun = std::time::Instant::now();
    while node.provost(&["report"]).code != Some(0) {
        assert!(begun.elapsed() < PATIENCE, "it never is through");
    }
    assert_eq!(node.status()["unreported"], 0);
    let runs = cluster.ctl_json(&["show", "cn001"])["runs"].clone();
    let newest = node.status()["run"].clone();
    assert!(runs.as_array().unwrap().iter().any(|r| r["run"] == newest));
}
