//! The three listeners, over real sockets.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

use crate::server::{Server, config, refused, response};
use provost_tests::{missing, skip_if};
use provostd::{Config, Daemon};
use reqwest::Method;
use serde_json::{Value, json};

const RUN: &str = "01980000-0000-7000-8000-000000000001";

fn record(seq: u64, more: Value) -> Value {
    let mut record = json!({
        "timestamp": "2026-11-20T17:00:00Z",
        "service": "boot", "node": "cn001", "run": RUN, "seq": seq,
    });
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    record
}

fn failed_run() -> Value {
    json!([
        record(1, json!({"phase": "service start", "attempt": 1})),
        record(2, json!({"phase": "stage start", "stage": "fetch"})),
        record(3, json!({"phase": "stage end", "stage": "fetch", "result": "success"})),
        record(4, json!({"phase": "stage start", "stage": "syslog"})),
        record(
            5,
            json!({"phase": "stage end", "stage": "syslog", "result": "failure",
            "errorLine": "12 main syslog", "exitCode": 7, "cause": "exit", "colour": "red"})
        ),
        record(6, json!({"phase": "service end", "result": "failure"})),
    ])
}

#[tokio::test]
async fn the_bundle_is_served_by_the_shape_of_its_paths_alone() {
    let server = Server::start().await;
    let digest = "ab".repeat(32);
    server.www("manifest.toml", "generation = 1");
    server.www(&format!("objects/ab/{digest}"), "0123456789");
    server.www(&format!("packs/{digest}.tar.zst"), "pack");
    server.www("secret", "s");
    fs::write(server.folder.path().join("outside"), "s").unwrap();

    let manifest = server.node(Method::GET, "/manifest.toml").send().await.unwrap();
    let etag = manifest.headers()["etag"].clone();
    assert!(etag.to_str().unwrap().starts_with('"'));
    assert_eq!(manifest.text().await.unwrap(), "generation = 1");
    let again = server.node(Method::GET, "/manifest.toml").header("if-none-match", &etag);
    assert_eq!(again.send().await.unwrap().status(), 304);

    let object = format!("/objects/ab/{digest}");
    let part = server.node(Method::GET, &object).header("range", "bytes=4-").send().await.unwrap();
    assert_eq!(part.status(), 206);
    assert_eq!(part.text().await.unwrap(), "456789");
    let head = server.node(Method::HEAD, &format!("/packs/{digest}.tar.zst")).send().await.unwrap();
    assert_eq!(
        (head.status().as_u16(), &head.headers()["content-length"]),
        (200, &"4".parse().unwrap())
    );

    let newest = "/packs/newest.tar.zst";
    assert_eq!(refused(server.node(Method::GET, newest)).await, 404);
    let packs = server.folder.path().join("www/packs");
    std::os::unix::fs::symlink(format!("{digest}.tar.zst"), packs.join("newest.tar.zst")).unwrap();
    let answer = server.node(Method::GET, newest).send().await.unwrap();
    let lifetime = &answer.headers()["cache-control"];
    assert_eq!(lifetime, "max-age=30, stale-while-revalidate=30");
    assert_eq!(answer.text().await.unwrap(), "pack");

    let upper = digest.to_uppercase();
    for path in [
        "/",
        "/secret",
        "/objects/ab/..%2f..%2fsecret",
        "/objects/..%2f/secret",
        "/objects/ab",
        "/packs/..%2fsecret",
        "/%2e%2e/outside",
        "/plans/..%2fsecret.toml",
        "/plans/.toml",
        "/manifest.toml/",
        "/manifest.toml.minisig",
        "/objects/ab/%ff",
        "/v1/nodes",
        "/v1/events",
        "/healthz",
        "/metrics",
        &format!("/objects/cd/{digest}"),
        &format!("/objects/AB/{upper}"),
    ] {
        let status = refused(server.node(Method::GET, path)).await;
        assert!(status == 404 || (status, path) == (400, "/objects/ab/%ff"), "{status} {path}");
    }
    assert_eq!(refused(server.node(Method::POST, "/manifest.toml")).await, 405);
    let beyond = server.node(Method::GET, &object).header("range", "bytes=99-");
    assert_eq!(refused(beyond).await, 416);
}

#[tokio::test]
async fn a_file_that_the_daemon_cannot_read_is_named_with_a_hint() {
    let server = Server::start().await;
    // Root can read any file; a link to itself nobody can.
    let manifest = server.folder.path().join("www/manifest.toml");
    fs::create_dir_all(manifest.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("manifest.toml", &manifest).unwrap();
    let (status, body) = response(server.node(Method::GET, "/manifest.toml")).await;
    assert_eq!(status, 403);
    assert!(body["hint"].as_str().unwrap().contains(manifest.to_str().unwrap()), "{body}");
}

#[tokio::test]
async fn a_node_speaks_for_itself_only() {
    let server = Server::start().await;
    server.www("plans/cn001.toml", "plan");
    let (mine, others) = (server.token("cn001").await, server.token("cn002").await);
    let plan = || server.node(Method::GET, "/plans/cn001.toml");
    assert_eq!(refused(plan()).await, 401);
    assert_eq!(refused(plan().bearer_auth("unknown")).await, 401);
    assert_eq!(refused(plan().bearer_auth(&others)).await, 403);
    assert_eq!(plan().bearer_auth(&mine).send().await.unwrap().text().await.unwrap(), "plan");

    assert_eq!(server.report("cn001", &others, &failed_run()).await.0, 403);
    let log = format!("/v1/nodes/cn001/runs/{RUN}/logs/01-syslog");
    assert_eq!(refused(server.node(Method::PUT, &log).bearer_auth(&others).body("x")).await, 403);

    let newer = server.token("cn001").await;
    assert_eq!(refused(plan().bearer_auth(&mine)).await, 401, "the old one is gone");
    assert_eq!(plan().bearer_auth(&newer).send().await.unwrap().status(), 200);
    let database = fs::read(server.folder.path().join("data/provost.db-wal")).unwrap();
    assert!(!database.windows(64).any(|w| w == newer.as_bytes()), "only its digest is kept");
}

#[tokio::test]
async fn what_a_node_reports_is_shown() {
    let server = Server::start().await;
    let token = server.token("cn001").await;
    let mut events = server.admin("/v1/events").await;
    let acked = json!({"acked": 6, "directive": "proceed"});
    assert_eq!(server.report("cn001", &token, &failed_run()).await, (200, acked.clone()));
    assert_eq!(server.report("cn001", &token, &failed_run()).await, (200, acked), "a repeat");

    let mut heard = String::new();
    while heard.matches("event: record\n").count() < 6 {
        heard.push_str(std::str::from_utf8(&events.chunk().await.unwrap().unwrap()).unwrap());
    }
    assert!(heard.contains("\"colour\":\"red\""), "{heard}");

    let log = format!("/v1/nodes/cn001/runs/{RUN}/logs/01-syslog");
    let put = server.node(Method::PUT, &log).bearer_auth(&token).body(b"\x1b[2J\xff".to_vec());
    assert_eq!(put.send().await.unwrap().status(), 204);

    let nodes: Value = server.admin("/v1/nodes?nodes=cn[001-002]").await.json().await.unwrap();
    let node = json!({
        "name": "cn001", "status": "failed", "since": "2026-11-20T17:00:00Z", "service": "boot",
        "run": RUN, "stage": "syslog", "cause": "exit", "exitCode": 7, "attempt": 1,
        "errorLine": "12 main syslog", "lastSeen": nodes[0]["lastSeen"], "plainHttp": true,
    });
    assert_eq!(nodes, json!([node]));
    let none: Value = server.admin("/v1/nodes?nodes=cn002").await.json().await.unwrap();
    assert_eq!(none, json!([]));

    let shown: Value = server.admin("/v1/nodes/cn001").await.json().await.unwrap();
    assert_eq!(shown["node"], node);
    assert_eq!(shown["runs"][0]["records"], failed_run(), "as they came, in order, once");
    assert_eq!(shown["runs"][0]["stages"][1]["log"], "01-syslog");
    assert_eq!(shown["runs"][0]["result"], "failure");
    let records: Value =
        server.admin(&format!("/v1/runs/{RUN}/records")).await.json().await.unwrap();
    assert_eq!(records, failed_run());

    let log = server.admin(&format!("/v1/runs/{RUN}/logs/01-syslog")).await;
    assert_eq!(log.headers()["content-type"], "text/plain; charset=utf-8");
    assert_eq!(log.headers()["x-content-type-options"], "nosniff");
    assert_eq!(log.bytes().await.unwrap(), &b"\x1b[2J\xff"[..]);
    let page = server.admin("/metrics").await.text().await.unwrap();
    for line in [
        "provost_records_total 6",
        "provost_record_repeats_total 6",
        "provost_logs_total 1",
        "provost_nodes{status=\"failed\"} 1",
        "provost_ingest_batch_seconds_count 2",
    ] {
        assert!(page.contains(line), "{line}\n{page}");
    }
    assert_eq!(server.admin("/healthz").await.status(), 200);
}

#[tokio::test]
async fn a_batch_that_is_not_one_is_refused_whole() {
    let server = Server::start().await;
    let token = server.token("cn001").await;
    let good = || record(1, json!({"phase": "service start"}));
    for (batch, why) in [
        (json!({}), "JSON array"),
        (json!([]), "empty"),
        (json!([good(), 5]), "record 1"),
        (json!([good(), record(2, json!({"phase": 7}))]), "expected a word"),
        (json!([good(), record(2, json!({"phase": "stage start"}))]), "no stage"),
        (json!([good(), record(0, json!({"phase": "service start"}))]), "no seq"),
        (json!([good(), record(u64::MAX, json!({"phase": "service start"}))]), "too large"),
        (json!([good(), record(2, json!({"phase": "service start", "node": "cn002"}))]), "cn002"),
        (json!([good(), record(2, json!({"phase": "service start", "run": "../x"}))]), "../x"),
        (json!([record(1, json!({"phase": "service start", "x": "x".repeat(300_000)}))]), "longer"),
    ] {
        let (status, body) = server.report("cn001", &token, &batch).await;
        assert_eq!(status, 422, "{batch}");
        assert!(body["error"].as_str().unwrap().contains(why), "{body} lacks {why}");
    }
    let shown: Value = server.admin("/v1/nodes/cn001").await.json().await.unwrap();
    assert_eq!(shown["runs"], json!([]), "nothing of any of them was stored");

    let deep = "[".repeat(100_000);
    let post = || server.node(Method::POST, "/v1/nodes/cn001/records").bearer_auth(&token);
    assert_eq!(refused(post().body(deep)).await, 422);
    assert_eq!(refused(post().body(vec![b' '; 9 << 20])).await, 413);
    let put = |path: &str| {
        let path = format!("/v1/nodes/cn001/runs/{path}");
        server.node(Method::PUT, &path).bearer_auth(&token)
    };
    assert_eq!(refused(put(&format!("{RUN}/logs/01-x")).body(vec![b' '; 2 << 20])).await, 413);
    assert_eq!(refused(put("..%2f..%2fx/logs/01-x").body("x")).await, 422);
    assert_eq!(refused(put(&format!("{RUN}/logs/..%2fx")).body("x")).await, 422);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_heard_also_by_one_who_sends_all_before_listening() {
    let server = Server::start().await;
    let token = server.token("cn001").await;
    let at = server.daemon.addresses().nodes;
    let status_of = move |authorization: &str, length: usize| {
        let mut stream = std::net::TcpStream::connect(at).unwrap();
        write!(
            stream,
            "POST /v1/nodes/cn001/records HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
             Authorization: {authorization}\r\nContent-Length: {length}\r\n\r\n",
        )
        .unwrap();
        stream.write_all(&vec![b' '; length]).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer[9..12].to_owned()
    };
    let both =
        move || [status_of(&format!("Bearer {token}"), 20 << 20), status_of("Bearer x", 20 << 20)];
    assert_eq!(tokio::task::spawn_blocking(both).await.unwrap(), ["413", "401"]);
}

#[tokio::test]
async fn a_store_that_fails_asks_the_node_to_come_back() {
    let server = Server::start().await;
    let token = server.token("cn001").await;
    let file = server.folder.path().join("data/provost.db");
    let db = rusqlite::Connection::open(file).unwrap();
    db.execute_batch(
        "CREATE TRIGGER full BEFORE INSERT ON record BEGIN SELECT RAISE(ABORT, 'disk'); END",
    )
    .unwrap();
    let path = "/v1/nodes/cn001/records";
    let report = || server.node(Method::POST, path).bearer_auth(&token).json(&failed_run()).send();
    let response = report().await.unwrap();
    assert_eq!(response.status(), 503);
    assert!(response.headers().contains_key("retry-after"));
    db.execute_batch("DROP TRIGGER full").unwrap();
    assert_eq!(report().await.unwrap().status(), 200);
}

#[tokio::test]
async fn only_the_socket_changes_anything() {
    let server = Server::start().await;
    let tokens = format!("http://{}/v1/tokens", server.daemon.addresses().admin.unwrap());
    let ask = server.http.post(tokens).json(&json!({"nodes": ["cn001"]}));
    let (status, body) = response(ask).await;
    assert_eq!(status, 403);
    assert!(body["hint"].as_str().unwrap().contains("admin.sock"));
    for body in
        [json!({}), json!({"nodes": []}), json!({"nodes": ["../x"]}), json!({"nodes": ["@all"]})]
    {
        let ask = server.socket.post("http://localhost/v1/tokens").json(&body);
        assert_eq!(refused(ask).await, 422, "{body}");
    }
    let all: Value = server.admin("/v1/nodes").await.json().await.unwrap();
    assert_eq!(all, json!([]));
    for path in ["/v1/nodes/nobody", "/v1/runs/x/records", "/v1/runs/x/logs/01-x", "/v1/nothing"] {
        assert_eq!(server.admin(path).await.status(), 404, "{path}");
    }
}

#[tokio::test]
async fn a_page_of_somebody_elses_reads_nothing_by_a_name_that_leads_here() {
    let server = Server::start().await;
    server.token("cn001").await;
    let url = format!("http://{}/v1/nodes", server.daemon.addresses().admin.unwrap());
    let ask = |host: &str| server.http.get(&url).header("host", host);
    assert_eq!(refused(ask("evil.example")).await, 421);
    assert_eq!(refused(ask("evil.example:8481")).await, 421);
    assert_eq!(ask("localhost:1").send().await.unwrap().status(), 200);
    let socket = server.socket.get("http://localhost/v1/nodes").header("host", "any");
    assert_eq!(socket.send().await.unwrap().status(), 200, "no browser gets at the socket");
}

/// The modes of the daemon's folder and of its sockets.
fn modes(data: &Path) -> [u32; 3] {
    ["", "admin.sock", "read.sock"]
        .map(|name| fs::metadata(data.join(name)).unwrap().mode() & 0o777)
}

/// Those where the configuration names no groups: what this machine has of the default groups gets its
/// socket.
fn usual_modes() -> [u32; 3] {
    let file = tempfile::NamedTempFile::new().unwrap();
    let gets = |group| {
        let id = provost_fs::group_id(group).unwrap();
        // Only root can give it to a group whose member it isn't.
        id.is_some_and(|id| chown(file.path(), None, Some(id)).is_ok())
    };
    let [operators, readers] = ["provost-operators", "provost-readers"].map(gets);
    let socket = |is_shared| if is_shared { 0o660 } else { 0o600 };
    let folder = if operators || readers { 0o711 } else { 0o700 };
    [folder, socket(operators), socket(readers)]
}

#[tokio::test]
async fn the_data_is_the_daemons_own() {
    let server = Server::start().await;
    let data = server.folder.path().join("data");
    assert_eq!(modes(&data), usual_modes());
    let listen: Value =
        serde_json::from_slice(&fs::read(data.join("listen.json")).unwrap()).unwrap();
    assert_eq!(listen["nodes"], server.daemon.addresses().nodes.to_string());

    let second = Daemon::start(&config(&server.folder)).await.err().unwrap();
    assert!(second.to_string().contains("another provostd"), "{second}");
    assert_eq!(server.admin("/healthz").await.status(), 200, "the first one serves on");

    // A daemon that was killed leaves its socket; the next one replaces it.
    server.daemon.stop().await;
    drop(std::os::unix::net::UnixListener::bind(data.join("admin.sock")).unwrap());
    let next = Daemon::start(&config(&server.folder)).await.unwrap();
    let alive = server.socket.get("http://localhost/healthz").send().await.unwrap();
    assert_eq!(alive.status(), 200);
    next.stop().await;
    assert!(!data.join("listen.json").exists());
}

#[tokio::test]
async fn no_local_user_reads_all_records_unless_the_configuration_lets_him() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { admin: None, ..config(&folder) };
    let server = Server::start_with(folder, &config).await;
    let data = server.folder.path().join("data");
    let listen: Value =
        serde_json::from_slice(&fs::read(data.join("listen.json")).unwrap()).unwrap();
    assert_eq!(listen.get("admin"), None, "{listen}");
    assert_eq!(modes(&data), usual_modes());
}

#[tokio::test]
async fn one_group_operates_and_another_one_only_reads() {
    skip_if(missing::root("give a socket to any group"));
    let folder = tempfile::tempdir().unwrap();
    let groups = (Some("4711".to_owned()), Some("4712".to_owned()));
    let config = Config { operators: groups.0, readers: groups.1, ..config(&folder) };
    let server = Server::start_with(folder, &config).await;
    let data = server.folder.path().join("data");
    for (name, group) in [("admin.sock", 4711), ("read.sock", 4712)] {
        let socket = fs::metadata(data.join(name)).unwrap();
        assert_eq!((socket.mode() & 0o777, socket.gid()), (0o660, group), "{name}");
    }
    assert_eq!(fs::metadata(&data).unwrap().mode() & 0o777, 0o711, "they get to the sockets");
    assert_eq!(fs::metadata(data.join("provost.db")).unwrap().mode() & 0o077 & 0o022, 0);

    let reader = reqwest::Client::builder().no_proxy().tls_certs_only([]);
    let reader = reader.unix_socket(data.join("read.sock")).build().unwrap();
    assert_eq!(reader.get("http://localhost/v1/nodes").send().await.unwrap().status(), 200);
    for path in ["/v1/tokens", "/v1/release", "/v1/remove"] {
        let ask = reader.post(format!("http://localhost{path}")).json(&json!({"nodes": ["cn001"]}));
        assert_eq!(refused(ask).await, 403, "{path}");
    }
    let ask = server.socket.post("http://localhost/v1/tokens").json(&json!({"nodes": ["cn001"]}));
    assert_eq!(ask.send().await.unwrap().status(), 200);
}
