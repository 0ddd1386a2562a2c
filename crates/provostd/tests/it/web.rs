//! The web page over HTTP; `tests/tests/it/web_page.rs` has it in a browser.

use crate::server::{Server, refused};
use reqwest::Method;
use serde_json::json;

#[tokio::test]
async fn a_page_is_a_document_and_a_stream_of_its_content() {
    let server = Server::start().await;
    let answer = server.admin("/").await;
    let policy = answer.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(answer.headers()[name], value);
    }
    let page = answer.text().await.unwrap();
    // A line break before it would be in the document alone, where the stream's content then replaces all there
    // is instead of changing it, with what somebody has filled in.
    assert!(page.contains(" data-live><h1>"), "{page}");
    assert!(
        !page.contains("<style") && !page.contains(" style=") && !page.contains(" on"),
        "{page}"
    );
    for part in page.split('"').filter(|part| part.starts_with("/static/")) {
        let file = server.admin(part).await;
        assert_eq!(file.status(), 200, "{part}");
        assert!(file.headers()["cache-control"].to_str().unwrap().contains("immutable"));
    }

    let url = format!("http://{}/", server.daemon.addresses().admin.unwrap());
    let mut stream =
        server.http.get(url).header("accept", "text/event-stream").send().await.unwrap();
    let mut text = String::new();
    let mut comes = async |part: &str| {
        while !text.contains(part) {
            let more = stream.chunk().await.unwrap().expect("the stream goes on");
            text.push_str(str::from_utf8(&more).unwrap());
        }
    };
    comes("0 nodes").await;
    let token = server.token("cn001").await;
    comes("1 node<").await;
    let record = json!([{"timestamp": "2026-11-20T17:00:00Z", "service": "boot", "node": "cn001",
        "run": "01980000-0000-7000-8000-000000000001", "seq": 1, "phase": "service start"}]);
    server.report("cn001", &token, &record).await;
    comes("netbooting").await;
}

#[tokio::test]
async fn a_wrong_address_says_why_in_a_page() {
    let server = Server::start().await;
    for (path, status, part) in [
        ("/nodes/none", 404, "unknown node"),
        ("/nodes?status=none", 400, "unknown status"),
        ("/nodes?page=x", 400, "Failed to deserialize"),
        ("/scripts/none", 404, "no node has run the script"),
        ("/nodes/none/logs/1/2", 404, "has uploaded no log"),
    ] {
        let answer = server.admin(path).await;
        assert_eq!(answer.status(), status, "{path}");
        let text = answer.text().await.unwrap();
        assert!(text.contains(part) && text.contains("<h1>") && text.contains("hint: "), "{text}");
    }
    for path in ["/nodes", "/scripts", "/published", "/events"] {
        assert_eq!(server.admin(path).await.status(), 200, "{path}");
    }
}

#[tokio::test]
async fn another_sites_page_gets_nothing_by_a_forwarded_socket() {
    let server = Server::start().await;
    let rebound = server.socket.get("http://localhost/").header("host", "evil.example:8481");
    assert_eq!(refused(rebound).await, 421);
    let body = json!({"nodes": ["cn001"], "force": true});
    let post = |name: &'static str, value: &'static str| {
        let post = server.socket.request(Method::POST, "http://localhost/v1/tokens");
        post.json(&body).header(name, value)
    };
    assert_eq!(refused(post("sec-fetch-site", "cross-site")).await, 403);
    assert_eq!(refused(post("origin", "http://evil.example")).await, 403);
    assert_eq!(post("host", "localhost:8481").send().await.unwrap().status(), 200);
}
