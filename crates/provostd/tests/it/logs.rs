//! Logs come plain or packed, and are given back as the script wrote them.

use std::io::Write;

use crate::server::{Server, refused};
use flate2::write::GzEncoder;
use reqwest::Method;
use serde_json::json;

const RUN: &str = "01980000-0000-7000-8000-000000000001";
const MIB: usize = 1024 * 1024;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 19).unwrap()
}

#[tokio::test]
async fn a_packed_log_is_given_back_plain() {
    let server = Server::start().await;
    let token = server.token("cn001").await;
    let start = json!([{"timestamp": "2026-11-20T17:00:00Z", "phase": "service start",
        "service": "boot", "node": "cn001", "run": RUN, "seq": 1}]);
    server.report("cn001", &token, &start).await;
    let put = |name: &str, encoding: &str, body: Vec<u8>| {
        let path = format!("/v1/nodes/cn001/runs/{RUN}/logs/{name}");
        let put = server.node(Method::PUT, &path).bearer_auth(&token);
        put.header("content-encoding", encoding).body(body)
    };
    let text = b"2026-11-20T17:00:09Z stderr F \x1b[2J\xff\n".repeat(10_000);
    for (name, encoding, body) in [
        ("01-gzip", "gzip", gzip(&text)),
        ("02-zstd", "zstd", zstd(&text)),
        ("03-plain", "identity", text.clone()),
        ("04-parts", "gzip", [gzip(&text[..99]), gzip(&text[99..])].concat()),
        ("05-parts", "zstd", [zstd(&text[..99]), zstd(&text[99..])].concat()),
    ] {
        assert_eq!(put(name, encoding, body).send().await.unwrap().status(), 204, "{encoding}");
        let log = server.admin(&format!("/v1/runs/{RUN}/logs/{name}")).await;
        assert_eq!(log.headers().get("content-encoding"), None);
        assert!(log.bytes().await.unwrap() == text, "{encoding}");
    }

    // A thousand times as long as it seems, and more: none of it is kept.
    let bomb = vec![0; 64 * MIB];
    for (encoding, body) in [("gzip", gzip(&bomb)), ("zstd", zstd(&bomb))] {
        assert!(body.len() < MIB);
        assert_eq!(refused(put("01-gzip", encoding, body)).await, 413, "{encoding}");
    }
    for (encoding, body) in [("gzip", zstd(&text)), ("zstd", gzip(&text))] {
        assert_eq!(refused(put("01-gzip", encoding, body)).await, 422, "{encoding}");
    }
    let mut cut = zstd(&text);
    cut.truncate(cut.len() / 2);
    assert_eq!(refused(put("01-gzip", "zstd", cut)).await, 422);
    assert_eq!(refused(put("01-gzip", "br", text.clone())).await, 415);
    let log = server.admin(&format!("/v1/runs/{RUN}/logs/01-gzip")).await;
    assert!(log.bytes().await.unwrap() == text, "the old one is still there");
}
