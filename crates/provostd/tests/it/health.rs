//! A daemon that can't do all its work says so, and serves on what it can.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use crate::server::{Server, config, response};
use provost_store::{Sqlite, Token, Tokens};
use provost_tests::{missing, skip_if};
use reqwest::Client;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const RUN: &str = "01980000-0000-7000-8000-000000000001";

#[tokio::test]
async fn a_database_with_a_page_that_was_overwritten_is_not_healthy() {
    let server = Server::start().await;
    let token = server.token("cn001").await;
    let batch: Vec<_> = (1..=500)
        .map(|seq| {
            json!({"timestamp": "2026-11-20T17:00:00Z", "phase": "service start",
                "service": "run", "node": "cn001", "run": RUN, "seq": seq})
        })
        .collect();
    assert_eq!(server.report("cn001", &token, &json!(batch)).await.0, 200);
    assert_eq!(server.admin("/healthz").await.status(), 200);
    // A result counts for a hundred times what the check took, so the daemon that is asked about
    // the damage must not have checked before.
    let server = server.restart().await;
    let file = server.folder.path().join("data/provost.db");
    let pages = fs::metadata(&file).unwrap().len() / 4096;
    let file = fs::File::options().write(true).open(file).unwrap();
    (3..pages).for_each(|page| file.write_all_at(&[0xa5; 4096], page * 4096).unwrap());
    let url = format!("http://{}/healthz", server.daemon.addresses().admin.unwrap());
    let (status, body) = response(server.http.get(url)).await;
    assert_eq!(status, 503, "{body}");
    assert_eq!(body["status"], "failed");
    assert!(body["hint"].as_str().unwrap().contains("restore it from a backup"), "{body}");
}

#[tokio::test]
async fn an_upload_that_a_kill_interrupted_is_removed_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("data/logs/cn001").join(RUN);
    fs::create_dir_all(&logs).unwrap();
    let left = [logs.join(".tmpAbCdEf"), folder.path().join("data/.tmpGhIjKl")];
    for file in &left {
        fs::write(file, "half a log").unwrap();
        let minute = SystemTime::now() - Duration::from_secs(60);
        fs::File::options().write(true).open(file).unwrap().set_modified(minute).unwrap();
    }
    fs::write(logs.join("01-x.log"), "a log").unwrap();
    let config = config(&folder);
    let server = Server::start_with(folder, &config).await;
    let begun = Instant::now();
    while left.iter().any(|file| file.exists()) {
        assert!(begun.elapsed() < Duration::from_secs(30), "{left:?}");
        tokio::task::yield_now().await;
    }
    assert!(logs.join("01-x.log").exists());
    server.daemon.stop().await;
}

/// A daemon as a process of its own.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Starts a daemon whose data is on a full disk. Returns it, and the address of its nodes' listener,
/// which no file says.
fn start_on_full_disk(folder: &Path) -> (Process, String) {
    let data = folder.join("data");
    let script = format!(
        "cp -a {0} {0}.old && mount -t tmpfs -o size=1m none {0} && chmod 700 {0} && \
         cp -a {0}.old/. {0} && ! cat /dev/zero > {0}/filler 2> /dev/null && exec \"$@\"",
        data.display()
    );
    let mut daemon = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"])
        .args([env!("CARGO_BIN_EXE_provostd"), "--config"])
        .arg(folder.join("provostd.toml"))
        .env_remove("NOTIFY_SOCKET")
        .stderr(Stdio::piped())
        .spawn()
        .map(Process)
        .unwrap();
    let mut lines = BufReader::new(daemon.0.stderr.take().unwrap()).lines();
    let mut before = String::new();
    loop {
        let line = lines.next().unwrap_or_else(|| panic!("it doesn't serve: {before}")).unwrap();
        if let Some((_, rest)) = line.split_once("nodes at http://") {
            let address = rest.split([',', ' ']).next().unwrap().to_owned();
            std::thread::spawn(move || lines.for_each(drop));
            return (daemon, address);
        }
        before.push_str(&line);
    }
}

#[tokio::test]
async fn a_daemon_whose_disk_is_full_starts_and_serves_what_is_published() {
    skip_if(missing::user_namespaces());
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["data", "www/plans"] {
        fs::create_dir_all(path(name)).unwrap();
    }
    fs::write(path("www/manifest.toml"), "manifest").unwrap();
    fs::write(path("www/plans/cn001.toml"), "plan").unwrap();
    fs::write(path("data/provostd.lock"), "").unwrap();
    let store = Sqlite::open(&path("data")).unwrap();
    let token = Token { node: "cn001".into(), sha256: Sha256::digest("cn001").into() };
    store.set_tokens(vec![token], provost_record::now()).await.unwrap();
    drop(store);
    let config = "data = 'data'\nwww = 'www'\nlisten = '127.0.0.1:0'\nadmin = '127.0.0.1:0'\n\
                  [quota]\nreserve_mib = 0\n";
    fs::write(path("provostd.toml"), config).unwrap();
    let (daemon, nodes) = start_on_full_disk(folder.path());
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = || Client::builder().no_proxy().tls_certs_only([]);
    let http = client().build().unwrap();
    let data = format!("/proc/{}/root{}", daemon.0.id(), path("data").display());

    let get = async |path: &str| {
        let get = http.get(format!("http://{nodes}{path}")).bearer_auth("cn001");
        get.send().await.unwrap().text().await.unwrap()
    };
    assert_eq!(get("/manifest.toml").await, "manifest");
    assert_eq!(get("/plans/cn001.toml").await, "plan");
    let records = json!([{"timestamp": "2026-11-20T17:00:00Z", "phase": "service start",
        "service": "run", "node": "cn001", "run": RUN, "seq": 1, "pad": "x".repeat(100_000)}]);
    let post = || {
        let url = format!("http://{nodes}/v1/nodes/cn001/records");
        http.post(url).bearer_auth("cn001").json(&records)
    };
    let (status, body) = response(post()).await;
    assert_eq!(status, 503, "{body}");
    assert!(body["hint"].as_str().unwrap().starts_with("make room on"), "{body}");
    let socket = client().unix_socket(format!("{data}/admin.sock")).build().unwrap();
    let health = || socket.get("http://localhost/healthz");
    let (status, body) = response(health()).await;
    assert_eq!(status, 503, "{body}");
    assert!(body["hint"].as_str().unwrap().starts_with("make room on"), "{body}");

    fs::write(format!("{data}/filler"), "").unwrap();
    let after: (u16, Value) = response(post()).await;
    assert_eq!(after.0, 200, "by itself, when there is room: {after:?}");
}
