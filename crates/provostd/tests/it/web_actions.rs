//! What the web page changes: for whom, and who can't make a browser do it.

use crate::server::Server;
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

async fn text(request: RequestBuilder) -> (u16, String) {
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_operate_changes_by_a_form_what_a_page_has_asked_about() {
    let server = Server::start().await;
    server.token("cn001").await;
    // It follows no redirect, so that it is seen.
    let socket = server.folder.path().join("data/admin.sock");
    let client = Client::builder()
        .no_proxy()
        .tls_certs_only([])
        .redirect(reqwest::redirect::Policy::none())
        .unix_socket(socket)
        .build()
        .unwrap();
    let by_socket =
        |method: Method, path: &str| client.request(method, format!("http://localhost{path}"));
    let get = Method::GET;
    let post = |action: &str, node: &str| {
        let form = by_socket(Method::POST, &format!("/act/{action}"));
        form.header("content-type", "application/x-www-form-urlencoded")
            .body(format!("nodes={node}"))
    };
    let (_, page) = text(by_socket(get.clone(), "/nodes/cn001")).await;
    assert!(page.contains("href=\"/nodes/cn001/release\""), "{page}");
    let (status, page) = text(by_socket(get.clone(), "/nodes/cn001/remove")).await;
    assert!(status == 200 && page.contains("can&#39;t be undone"), "{page}");
    assert!(page.contains("<form method=\"post\"") && !page.contains("data-live"), "{page}");
    assert_eq!(text(by_socket(get.clone(), "/nodes/cn009/remove")).await.0, 404);
    assert_eq!(text(post("remove", "cn009")).await.0, 404);

    // A page of another site has sent the browser here.
    for site in ["cross-site", "same-site"] {
        let attack = post("remove", "cn001").header("sec-fetch-site", site);
        let (status, answer) = text(attack).await;
        assert!(status == 403 && answer.contains("another site"), "{status} {answer}");
    }
    let attack = post("remove", "cn001").header("origin", "https://evil.example");
    assert_eq!(text(attack).await.0, 403);
    // Looking changes nothing.
    assert_eq!(server.admin("/v1/nodes/cn001").await.status(), 200);

    let released =
        post("release", "cn001").header("sec-fetch-site", "same-origin").send().await.unwrap();
    assert_eq!(
        (released.status().as_u16(), &released.headers()["location"]),
        (303, &"/nodes/cn001".parse().unwrap())
    );
    let removed = post("remove", "cn001").send().await.unwrap();
    assert_eq!(removed.headers()["location"], "/nodes");
    assert_eq!(server.admin("/v1/nodes/cn001").await.status(), 404);

    let audit: Value = by_socket(get, "/v1/audit").send().await.unwrap().json().await.unwrap();
    let brief = |entry: &Value| json!([entry["action"], entry["request"], entry["result"]]);
    let entries: Vec<Value> = audit.as_array().unwrap().iter().map(brief).collect();
    let request = json!({"nodes": "cn001"});
    assert!(entries.contains(&json!(["release", request, "done"])), "{entries:?}");
    assert!(entries.contains(&json!(["remove", request, "done"])), "{entries:?}");
    let unknown = entries.iter().filter(|entry| entry[1]["nodes"] == "cn009");
    assert_eq!(unknown.count(), 1, "{entries:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_read_sees_no_action_and_is_refused() {
    let server = Server::start().await;
    server.token("cn001").await;
    let page = server.admin("/nodes/cn001").await.text().await.unwrap();
    assert!(!page.contains("/release"), "{page}");
    for action in ["release", "remove"] {
        let address = server.daemon.addresses().admin.unwrap();
        let url = format!("http://{address}/nodes/cn001/{action}");
        let (status, page) = text(server.http.get(&url)).await;
        assert!(status == 403 && page.contains("read-only"), "{status} {page}");
        let url = format!("http://{address}/act/{action}");
        let (status, page) = text(server.http.post(&url).body("nodes=cn001")).await;
        assert!(status == 403 && page.contains("read-only"), "{status} {page}");
    }
    assert_eq!(server.admin("/v1/nodes/cn001").await.status(), 200);
}
