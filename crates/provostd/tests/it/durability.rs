//! What was acknowledged is there, whatever becomes of the daemon and of its disk.

use std::fs;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use provost_store::{Sqlite, Token, Tokens};
use provost_tests::{missing, skip_if};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// How often the daemon is killed.
const KILLS: usize = 50;
/// How long the daemon may take to serve and to answer.
const MINUTE: Duration = Duration::from_secs(60);
/// How many nodes report at once.
const NODES: usize = 12;

fn name(node: usize) -> String {
    format!("cn{node:03}")
}

fn run(node: usize) -> String {
    format!("01980000-0000-7000-8000-{node:012}")
}

/// The record of a run that goes on and on.
fn record(node: usize, seq: usize) -> Value {
    let phase = match seq {
        1 => json!({"phase": "service start"}),
        n if n % 2 == 0 => json!({"phase": "stage start", "stage": format!("s{n}")}),
        n => json!({"phase": "stage end", "stage": format!("s{}", n - 1), "result": "success"}),
    };
    let mut record = json!({"timestamp": "2026-11-20T17:00:00Z", "service": "boot",
        "node": name(node), "run": run(node), "seq": seq});
    record.as_object_mut().unwrap().extend(phase.as_object().unwrap().clone());
    record
}

/// A daemon's folder, in which nodes have their names as tokens.
async fn ground() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    tokens(&folder.path().join("data")).await;
    let config = "data = 'data'\nwww = 'www'\nlisten = '127.0.0.1:0'\nadmin = '127.0.0.1:0'\n\
                  [quota]\nreserve_mib = 1\n";
    fs::write(folder.path().join("provostd.toml"), config).unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    folder
}

async fn tokens(data: &Path) {
    let store = Sqlite::open(data).unwrap();
    let token = |node| Token { node: name(node), sha256: Sha256::digest(name(node)).into() };
    let tokens = (0..NODES).map(token).collect();
    store.set_tokens(tokens, provost_record::now()).await.unwrap();
}

/// A daemon as a process of its own.
struct Daemon {
    child: Child,
    data: PathBuf,
    http: Client,
}

impl Daemon {
    /// Starts it by a command to which its own is added, and waits until it serves.
    fn start(folder: &Path, by: &[&str]) -> Self {
        let ready = folder.join("ready");
        let _ = fs::remove_file(&ready);
        let socket = UnixDatagram::bind(&ready).unwrap();
        socket.set_read_timeout(Some(MINUTE)).unwrap();
        let provostd = env!("CARGO_BIN_EXE_provostd");
        let words = [by, &[provostd, "--config"]].concat();
        let child = Command::new(words[0])
            .args(&words[1..])
            .arg(folder.join("provostd.toml"))
            .env("NOTIFY_SOCKET", &ready)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let serves = socket.recv(&mut [0; 100]);
        serves.unwrap_or_else(|e| panic!("{by:?} with provostd doesn't serve: {e}"));
        // Also where the folder is one that only the daemon sees.
        let data = PathBuf::from(format!("/proc/{}/root", child.id()))
            .join(folder.join("data").strip_prefix("/").unwrap());
        let http = Client::builder().timeout(MINUTE).no_proxy().tls_certs_only([]).build().unwrap();
        Self { child, data, http }
    }

    fn url(&self, listener: &str, path: &str) -> String {
        let listen = fs::read(self.data.join("listen.json")).unwrap();
        let listen: Value = serde_json::from_slice(&listen).unwrap();
        format!("http://{}{path}", listen[listener].as_str().unwrap())
    }

    fn post(&self, node: usize, batch: &[Value]) -> reqwest::RequestBuilder {
        let url = self.url("nodes", &format!("/v1/nodes/{}/records", name(node)));
        self.http.post(url).bearer_auth(name(node)).json(batch)
    }

    async fn records(&self, node: usize) -> Vec<Value> {
        let url = self.url("admin", &format!("/v1/runs/{}/records", run(node)));
        self.http.get(url).send().await.unwrap().json().await.unwrap()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Reports until the daemon is gone, and tells each acknowledgement.
async fn report(
    post: reqwest::RequestBuilder,
    node: usize,
    mut acked: usize,
    acknowledged: mpsc::UnboundedSender<()>,
) -> (usize, usize) {
    loop {
        let batch: Vec<_> = (acked + 1..=acked + 1 + acked % 4).map(|n| record(node, n)).collect();
        let sent = post.try_clone().unwrap().json(&batch).send().await;
        let answer: Value = match sent {
            Ok(response) if response.status() == StatusCode::OK => match response.json().await {
                Ok(answer) => answer,
                Err(_) => return (node, acked),
            },
            // A node would come back; what was acknowledged counts all the same.
            Ok(refused) if refused.status() == StatusCode::SERVICE_UNAVAILABLE => {
                eprintln!("{}: {}", name(node), refused.text().await.unwrap_or_default());
                return (node, acked);
            }
            Ok(refused) => panic!("{refused:?}"),
            Err(error) if error.is_timeout() => panic!("the daemon doesn't answer: {error:?}"),
            Err(_) => return (node, acked),
        };
        acked = answer["acked"].as_u64().unwrap() as usize;
        let _ = acknowledged.send(());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_that_is_killed_while_nodes_report_loses_nothing_acknowledged() {
    let folder = ground().await;
    let mut acked = [0; NODES];
    for kill in 0..KILLS {
        let daemon = Daemon::start(folder.path(), &["env"]);
        let (acknowledged, mut acks) = mpsc::unbounded_channel();
        let mut nodes = JoinSet::new();
        for (node, acked) in acked.into_iter().enumerate() {
            nodes.spawn(report(daemon.post(node, &[]), node, acked, acknowledged.clone()));
        }
        // What only the nodes hold is closed when the last of them stops, so nobody waits for ever.
        drop(acknowledged);
        // Another moment each time, with others' records under way.
        for _ in 0..(kill * 7) % 41 {
            if acks.recv().await.is_none() {
                break; // Why they stopped is seen below.
            }
        }
        drop(daemon);
        while let Some(ended) = nodes.join_next().await {
            let (node, last) = ended.unwrap();
            acked[node] = last;
        }
    }
    assert!(acked.iter().sum::<usize>() > KILLS, "they have reported something: {acked:?}");

    let daemon = Daemon::start(folder.path(), &["env"]);
    for (node, acked) in acked.into_iter().enumerate() {
        let records = if acked == 0 { Vec::new() } else { daemon.records(node).await };
        assert!(records.len() >= acked, "{node}: {} of {acked}", records.len());
        let expected: Vec<_> = (1..=records.len()).map(|seq| record(node, seq)).collect();
        assert!(records == expected, "{node}: each once, in order");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_is_full_refuses_and_goes_on_when_there_is_room() {
    skip_if(missing::user_namespaces());
    let folder = ground().await;
    // A disk of its own, that only the daemon sees; what is there moves onto it.
    let data = folder.path().join("data");
    let script = format!(
        "cp -a {0} {0}.old && mount -t tmpfs -o size=6m none {0} && chmod 700 {0} && \
         cp -a {0}.old/. {0} && exec \"$@\"",
        data.display()
    );
    let by = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"];
    let daemon = Daemon::start(folder.path(), &by);
    let first: Vec<_> = (1..=3).map(|seq| record(0, seq)).collect();
    assert_eq!(daemon.post(0, &first).send().await.unwrap().status(), 200);

    // Fill it: with what nodes send, then the last bytes.
    let upload = async |number| {
        let path = format!("/v1/nodes/{}/runs/{}/logs/{number:02}-x", name(0), run(0));
        let put = daemon.http.put(daemon.url("nodes", &path)).bearer_auth(name(0));
        let response = put.body(vec![b'x'; 1 << 20]).send().await.unwrap();
        (response.status(), response.json::<Value>().await.unwrap_or_default())
    };
    let mut number = 1;
    let refused = loop {
        let (status, body) = upload(number).await;
        if status != StatusCode::NO_CONTENT {
            assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
            break body;
        }
        number += 1;
        assert!(number < 20, "it is never full");
    };
    assert!(refused["hint"].as_str().unwrap().starts_with("make room on"), "{refused}");
    let filler = daemon.data.join("filler");
    assert!(fs::write(&filler, vec![0; 6 << 20]).is_err(), "it is full now");

    // Records come until what the store has still in hand is used up as well.
    let mut acked = 3;
    let refused = loop {
        let mut big = record(0, acked + 1);
        big["pad"] = json!("x".repeat(100_000));
        let response = daemon.post(0, &[big]).send().await.unwrap();
        match response.status() {
            StatusCode::OK => acked += 1,
            status => {
                assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
                assert!(response.headers().contains_key("retry-after"));
                break response.json::<Value>().await.unwrap();
            }
        }
        assert!(acked < 200, "it is never full");
    };
    assert!(refused["hint"].as_str().unwrap().starts_with("make room on"), "{refused}");
    assert_eq!(daemon.records(0).await.len(), acked, "what was acknowledged can be read");

    fs::remove_file(&filler).unwrap();
    let next = [record(0, acked + 1)];
    assert_eq!(daemon.post(0, &next).send().await.unwrap().status(), 200, "by itself");
    let seqs: Vec<_> = daemon.records(0).await.iter().map(|r| r["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=acked as u64 + 1).collect::<Vec<_>>());
}
