//! What comes in at the daemon's ports, which are processes' and no functions': it answers, and it
//! isn't the daemon's fault (500).

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::Mutex;

use fastrand::Rng;
use provost_bundle::Limit;
use provost_http::{Client, ClientOptions};
use provost_tests::{Cluster, SOON};
use tokio::runtime::Builder;

use super::{survives, survives_all};

const RUN: &str = "01980000-0000-7000-8000-000000000001";
const BATCH: &str = r#"[{"timestamp":"2026-11-20T17:00:01Z","phase":"service start","service":"boot","node":"cn001","run":"01980000-0000-7000-8000-000000000001","seq":1,"attempt":1},
{"timestamp":"2026-11-20T17:00:01Z","stage":"fetch","phase":"stage end","result":"success","service":"boot","node":"cn001","run":"01980000-0000-7000-8000-000000000001","seq":2,"stages":["a"],"durationMs":38},
{"timestamp":"2026-11-20T17:00:09Z","phase":"service end","result":"failure","errorLine":"88 f a","errorMessage":"b","service":"boot","node":"cn001","run":"01980000-0000-7000-8000-000000000001","seq":3,"notRun":["a"],"exitCode":1,"cause":"exit"}]"#;

/// A management node whose daemon has every port open, and a token of cn001.
fn management_node() -> (Cluster, String) {
    let mut cluster = Cluster::new();
    cluster.script("a", "#!/bin/sh\n").site("[nodes.cn001]\npostscripts = [\"a\"]\n").publish();
    cluster.configure_daemon("[xcat]\nmonitor = \"127.0.0.1:0\"\n");
    cluster.start();
    let token = cluster.ctl(&["token", "cn001"]).expect(0).stdout;
    let token = token.split_whitespace().last().unwrap().to_owned();
    (cluster, token)
}

/// Sends `request` to a port and returns the answer. With `ends`, nothing more can come after it,
/// so that nobody waits for the rest of one that is cut off.
fn ask(address: &str, request: &[u8], ends: bool) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    // Refused at its head, a request may find the connection closed.
    let _ = stream.write_all(request);
    if ends {
        let _ = stream.shutdown(Shutdown::Write);
    }
    let mut answer = Vec::new();
    if let Err(e) = stream.read_to_end(&mut answer) {
        assert!(!e.kind().to_string().contains("time"), "no end of the answer: {e}");
    }
    String::from_utf8_lossy(&answer).into_owned()
}

/// The daemon serves, and its log knows of no panic.
fn is_well(cluster: &Cluster) {
    let admin = cluster.daemon().admin();
    let health = format!("GET /healthz HTTP/1.1\r\nHost: {admin}\r\nConnection: close\r\n\r\n");
    let answer = ask(&admin, health.as_bytes(), false);
    assert!(answer.contains(" 200 "), "{answer}");
    let log = std::fs::read_to_string(cluster.path("provostd.log")).unwrap();
    assert!(!log.contains("panicked"), "{log}");
}

#[test]
fn bodies_of_requests() {
    let (cluster, token) = management_node();
    let address = cluster.daemon().nodes();
    let rng = Mutex::new(Rng::new());
    survives(&[BATCH], |body| {
        let (request, encoding) = match rng.lock().unwrap().u8(..4) {
            0 => {
                (format!("PUT /v1/nodes/cn001/runs/{RUN}/logs/01-a"), "Content-Encoding: gzip\r\n")
            }
            1 => {
                (format!("PUT /v1/nodes/cn001/runs/{RUN}/logs/01-a"), "Content-Encoding: zstd\r\n")
            }
            _ => ("POST /v1/nodes/cn001/records".to_owned(), ""),
        };
        let length = body.len();
        let mut request = format!(
            "{request} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n{encoding}\
             Content-Length: {length}\r\nConnection: close\r\n\r\n"
        )
        .into_bytes();
        request.extend_from_slice(body);
        let answer = ask(&address, &request, false);
        let status = answer.split(' ').nth(1).unwrap_or_default();
        assert!(["200", "201", "204", "400", "413", "422", "429"].contains(&status), "{answer}");
    });
    is_well(&cluster);
}

#[test]
fn requests_to_the_nodes_port() {
    let (cluster, token) = management_node();
    let address = cluster.daemon().nodes();
    let plan = format!(
        "GET /plans/cn001.toml HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n\
         provost-run: {RUN}\r\nIf-None-Match: \"a\", W/\"b\"\r\nConnection: close\r\n\r\n"
    );
    let range = "GET /manifest.toml HTTP/1.1\r\nHost: a\r\nRange: bytes=0-99,200-\r\n\
                 If-Range: \"a\"\r\nConnection: close\r\n\r\n";
    survives(&[&plan, range], |request| {
        let answer = ask(&address, request, true);
        assert!(!answer.starts_with("HTTP/1.1 5"), "{answer}");
    });
    is_well(&cluster);
}

#[test]
fn requests_to_the_admin_socket() {
    let (cluster, _) = management_node();
    let socket = cluster.path("provostd/admin.sock");
    let post = |path: &str, body: &str| {
        let length = body.len();
        format!(
            "POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
    };
    let seeds = [
        post("/v1/tokens", r#"{"nodes": ["cn[001-004]"], "force": true, "overlapMs": 1000}"#),
        post("/v1/release", r#"{"nodes": ["cn001"]}"#),
        post("/v1/admins", r#"{"name": "lee", "role": "read", "forMs": 86400000}"#),
        post("/v1/admins/remove", r#"{"name": "lee"}"#),
        "GET /v1/audit?since=2026-11-20T17:00:00Z HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            .to_owned(),
        "GET /v1/nodes?nodes=cn[001-004] HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            .to_owned(),
    ];
    survives(&seeds.each_ref().map(String::as_str), |request| {
        let answer = exchange(UnixStream::connect(&socket).unwrap(), request);
        assert!(!answer.starts_with("HTTP/1.1 5"), "{answer}");
    });
    is_well(&cluster);
}

/// Sends `request`, which nothing follows, and returns the answer.
fn exchange(mut stream: UnixStream, request: &[u8]) -> String {
    stream.set_read_timeout(Some(SOON)).unwrap();
    // Refused at its head, a request may find the connection closed.
    let _ = stream.write_all(request);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    if let Err(e) = stream.read_to_end(&mut answer) {
        assert!(!e.kind().to_string().contains("time"), "no end of the answer: {e}");
    }
    String::from_utf8_lossy(&answer).into_owned()
}

/// What asks for an identity, which goes by TLS alone.
#[test]
fn requests_for_certificates() {
    let (cluster, _) = management_node();
    let limit = Limit::seconds(60);
    let options = ClientOptions { connect: limit, stall: limit, proxy: None, ca: &[] };
    let client = Client::new(options).unwrap_or_else(|failure| panic!("{failure}"));
    client.transport().learn(Some(cluster.tls().parse().unwrap()));
    let base = client.transport().private(&"http://127.0.0.1/".parse().unwrap());
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let request = |form| {
        let args = ["req", "-new", "-newkey", "ed25519", "-nodes", "-keyout", "/dev/null"];
        let out = Command::new("openssl")
            .args(args)
            .args(["-subj", "/CN=x", "-outform", form])
            .output()
            .unwrap();
        assert!(out.status.success(), "{out:?}");
        out.stdout
    };
    survives_all(vec![request("PEM"), request("DER")], |request| {
        let asked = client.post(format!("{base}v1/nodes/cn001/enroll")).body(request.to_vec());
        let answer = runtime.block_on(async { asked.send().await.unwrap() });
        let status = answer.status().as_u16();
        assert!([202, 403, 413, 422, 429].contains(&status), "{status}");
    });
    is_well(&cluster);
}

#[test]
fn lines_to_the_port_of_xcats_monitor() {
    let (cluster, _) = management_node();
    let address = cluster.daemon().address("monitor");
    survives(&["installstatus booted\n", "next\n", "installmonitor\nls\nbye\n"], |lines| {
        ask(&address, lines, true);
    });
    is_well(&cluster);
}
