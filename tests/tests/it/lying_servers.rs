//! Servers that aren't what they should be. They cost a node time up to its limits, never more.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use provost_tests::{Cluster, Node};
use serde_json::json;

/// A server that treats each connection as `answer` does. Returns its address.
fn server(answer: impl Fn(TcpStream) + Send + Clone + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            std::thread::spawn(move || answer(stream));
        }
    });
    address
}

/// Answers 200 and then never ends.
fn endless(mut stream: TcpStream) {
    let _ = stream.read(&mut [0; 4096]);
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
    while stream.write_all(&[b'x'; 65536]).is_ok() {}
}

/// Accepts, and sends nothing, until the other side gives up.
fn silent(mut stream: TcpStream) {
    let _ = stream.read_to_end(&mut Vec::new());
}

fn cluster() -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\necho one\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"one\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    (cluster, node)
}

fn configure(cluster: &Cluster, node: &Node, servers: &[&str]) {
    let servers: Vec<String> = servers.iter().map(|s| format!("http://{s}")).collect();
    node.configure(&format!(
        "servers = {servers:?}\n[trust]\nkeys = [\"{}\"]\n[fetch]\ndeadline = \"4s\"\n\
         stall_timeout = \"1s\"\n[report]\ndeadline = \"3s\"\n",
        cluster.key()
    ));
}

#[test]
fn an_endless_answer_is_cut_off_in_fetching_and_in_reporting() {
    let (cluster, node) = cluster();
    configure(&cluster, &node, &[&server(endless)]);
    let begun = Instant::now();
    let out = node.provost(&["boot"]).expect(3);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    out.says(&["more than", "acknowledged nothing", "records not sent yet", "hint: "]);
}

#[test]
fn a_good_server_serves_whatever_the_first_one_does() {
    for first in [server(endless), server(silent), "127.0.0.1:1".to_owned()] {
        let (cluster, node) = cluster();
        let good = cluster.daemon().nodes();
        configure(&cluster, &node, &[&first, &good]);
        node.provost(&["boot"]).expect(0);
        assert_eq!(cluster.status("cn001")["status"], "booted", "it is reported, too");
        assert_eq!(node.status()["unreported"], 0);
    }
}

#[test]
fn a_record_that_is_refused_does_not_block_the_others() {
    let (cluster, node) = cluster();
    node.provost(&["boot"]).expect(0);
    let path = node.path("log/services/boot.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let foreign = r#"{"timestamp":"2026-11-20T17:00:01Z","phase":"service start"}"#;
    let end = r#"{"timestamp":"2026-11-20T17:00:01Z","phase":"service end","result":"success"}"#;
    let text = text.replace("\n]\n", &format!(",\n{foreign},\n{end}\n]\n"));
    std::fs::write(&path, text).unwrap();
    let out = node.provost(&["boot"]).expect(0);
    out.says(&["stays on this node", "422", "the record has no"]);
    assert_eq!(node.status()["unreported"], 0);
    let runs = cluster.ctl_json(&["show", "cn001"])["runs"].clone();
    assert_eq!(runs.as_array().unwrap().len(), 2);
    assert_eq!(runs[0]["result"], json!("success"));
}

#[test]
fn nothing_outside_the_bundle_can_be_named_to_run() {
    let (_cluster, node) = cluster();
    for name in ["../../../../../../bin/true", "./one", "/bin/true", ".", "one/", ""] {
        node.provost(&["run", name]).expect(2).says(&["can't be a script's name", "hint: "]);
    }
}

#[test]
fn what_was_seen_cannot_be_forgotten_by_accident() {
    let (_cluster, node) = cluster();
    node.provost(&["boot"]).expect(0);
    std::fs::write(node.path("state/generations.toml"), "garbage[").unwrap();
    node.provost(&["boot"]).expect(2).says(&["generations.toml", "hint: "]);
}
