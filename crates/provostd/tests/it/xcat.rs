//! The ports for nodes that still run xCAT's own scripts. Each address of the loopback's network
//! is a node's.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::server::{Server, config};
use provostd::{Config, XcatConfig};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

/// Longer than anything takes that isn't held up.
const LONG: Duration = Duration::from_secs(60);
/// More than all buffers on the way, in bytes.
const ENDLESS: usize = 64 * 1024 * 1024;
const RUN: &str = "01980000-0000-7000-8000-000000000001";

fn address(n: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 1, n)
}

/// A daemon with the status port, and plans of the nodes cn001 … of so many addresses.
async fn with_nodes(count: u8, dns: bool) -> Server {
    let folder = tempfile::tempdir().unwrap();
    let monitor = Some(([127, 0, 0, 1], 0).into());
    let xcat = XcatConfig { monitor, dns, ..Default::default() };
    let config = Config { xcat, ..config(&folder) };
    let server = Server::start_with(folder, &config).await;
    for n in 1..=count {
        plan(&server, "plans", &format!("cn{n:03}"), &format!("IPADDR = \"{}\"", address(n)));
    }
    server
}

fn plan(server: &Server, folder: &str, node: &str, env: &str) {
    let text = format!(
        "generation = 7\nformat = 1\nnode = \"{node}\"\n[env]\n{env}\n[[postscripts]]\n\
         script = \"t\"\nargs = [\"a b\"]\n"
    );
    server.www(&format!("{folder}/{node}.toml"), &text);
}

async fn connect(server: &Server, from: Ipv4Addr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(IpAddr::V4(from), 0)).unwrap();
    socket.connect(server.daemon.addresses().monitor.unwrap()).await.unwrap()
}

/// Says one line once the server is ready. Returns all that it says then.
async fn say(server: &Server, from: Ipv4Addr, line: &[u8]) -> io::Result<String> {
    let mut stream = BufReader::new(connect(server, from).await);
    let mut ready = String::new();
    stream.read_line(&mut ready).await?;
    assert_eq!(ready, "ready\n");
    stream.write_all(line).await?;
    let mut answer = String::new();
    tokio::time::timeout(LONG, stream.read_to_string(&mut answer)).await.expect("an answer")?;
    Ok(answer)
}

/// The next claim among the events.
async fn next_claim(events: &mut reqwest::Response) -> Value {
    loop {
        let event = events.chunk().await.unwrap().unwrap();
        let event = String::from_utf8(event.to_vec()).unwrap();
        // Others say that the daemon lives.
        if let Some(data) = event.strip_prefix("event: claim\ndata: ") {
            return serde_json::from_str(data.trim()).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_node_says_is_its_status() {
    let server = with_nodes(2, false).await;
    let mut events = server.admin("/v1/events").await;
    for (line, status) in [
        ("installstatus installing\n", "installing"),
        ("next\n", "booting"),
        ("installstatus postbooting\n", "postbooting"),
        ("installstatus booted\n", "booted"),
        ("installstatus netbooting\r\n", "netbooting"),
        ("installstatus failed disk is full\n", "failed"),
    ] {
        assert_eq!(say(&server, address(1), line.as_bytes()).await.unwrap(), "done\n", "{line}");
        let node = server.node_object("cn001").await;
        assert_eq!(node["status"], status, "{node}");
        assert_eq!(node["claimedBy"], "127.0.1.1");
        let data = next_claim(&mut events).await;
        assert_eq!((&data["node"], &data["status"]), (&json!("cn001"), &json!(status)));
    }
    assert_eq!(server.node_object("cn001").await["errorMessage"], "disk is full");
    assert_eq!(say(&server, address(1), b"hpcbootstatus gpfs=active\n").await.unwrap(), "done\n");
    assert_eq!(server.node_object("cn001").await["appstatus"], json!({"gpfs": "active"}));

    // What changes nothing is done all the same.
    for line in ["unlocktftpdir", "installmonitor"] {
        assert_eq!(
            say(&server, address(1), format!("{line}\n").as_bytes()).await.unwrap(),
            "done\n"
        );
    }
    for word in ["defined", "unknown", "alive", "unreachable", "powering-off", "shell"] {
        let line = format!("installstatus {word}\n");
        assert_eq!(say(&server, address(1), line.as_bytes()).await.unwrap(), "done\n", "{word}");
    }
    assert_eq!(say(&server, address(1), b"syncfiles\n").await.unwrap(), "syncfiles done\n");
    assert_eq!(server.node_object("cn001").await["status"], "failed");
    assert_eq!(server.node_object("cn002").await["status"], "defined", "only its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_of_a_node_that_reports_with_a_token_hides_no_failure_and_reads_no_plan() {
    let server = with_nodes(1, false).await;
    let token = server.token("cn001").await;
    let record = |seq, more: Value| {
        let mut record = json!({"timestamp": "2026-11-20T17:00:00Z", "service": "boot",
            "node": "cn001", "run": RUN, "seq": seq});
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([record])
    };
    server.report("cn001", &token, &record(1, json!({"phase": "service start"}))).await;
    assert_eq!(say(&server, address(1), b"installstatus booted\n").await.unwrap(), "done\n");
    assert_eq!(server.node_object("cn001").await["status"], "netbooting");
    let end = json!({"phase": "service end", "result": "failure", "cause": "interrupted"});
    server.report("cn001", &token, &record(2, end)).await;
    let node = server.node_object("cn001").await;
    assert_eq!((&node["status"], &node["cause"]), (&json!("failed"), &json!("interrupted")));
    // Any user of the node can say so from its address, and hides no failure by it.
    for line in ["installstatus booted\n", "next\n", "hpcbootstatus gpfs=active\n"] {
        assert_eq!(say(&server, address(1), line.as_bytes()).await.unwrap(), "done\n");
        assert_eq!(server.node_object("cn001").await, node, "{line}");
    }
    // Nor does he read its plan's secrets.
    assert_eq!(say(&server, address(1), b"getpostscript\n").await.unwrap(), "");
    // Nothing of it comes to the node's plan, which asks for a token as ever.
    let plan = server.node(Method::GET, "/plans/cn001.toml").send().await.unwrap();
    assert_eq!(plan.status(), 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_are_heard_beside_silent_ones() {
    let server = with_nodes(250, false).await;
    let silent = futures_util::future::join_all((1..=50).map(|n| connect(&server, address(n))));
    let silent = silent.await;
    // Each reads a byte at a time, if that.
    let mut slow = connect(&server, address(1)).await;
    slow.write_all(b"instal").await.unwrap();
    let server = std::sync::Arc::new(server);
    let mut nodes = JoinSet::new();
    for n in 51..=250_u8 {
        let server = std::sync::Arc::clone(&server);
        nodes.spawn(async move {
            let line = if n.is_multiple_of(2) {
                "installstatus booted\n"
            } else {
                "installstatus failed\n"
            };
            say(&server, address(n), line.as_bytes()).await.unwrap()
        });
    }
    while let Some(answer) = nodes.join_next().await {
        assert_eq!(answer.unwrap(), "done\n");
    }
    let mut all: Vec<Value> = server.admin("/v1/nodes").await.json().await.unwrap();
    all.retain(|node| node["status"] != "defined");
    assert_eq!(all.len(), 200);
    for node in &all {
        let n: u8 = node["name"].as_str().unwrap()[2..].parse().unwrap();
        assert_eq!(node["status"], if n.is_multiple_of(2) { "booted" } else { "failed" }, "{node}");
    }
    drop(silent);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_leaves_connections_to_the_others() {
    let server = with_nodes(1, false).await;
    let greeted = || async {
        let mut stream = connect(&server, address(1)).await;
        stream.read_exact(&mut [0; 6]).await.ok().map(|_| stream)
    };
    let mut all = Vec::new();
    for _ in 0..100 {
        all.extend(greeted().await);
    }
    assert_eq!(all.len(), 64);
    // Those that have gone make room.
    all.clear();
    while greeted().await.is_none() {}
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_request_gets_no_answer() {
    let server = with_nodes(1, false).await;
    for line in
        [&b"installstatus\n"[..], b"GET / HTTP/1.1\n", b"\n", b"\0\xff\xfe\n", b"rm -rf /\n"]
    {
        let answer = say(&server, address(1), line).await;
        // A connection that is closed before all was read is reset.
        assert!(answer.as_ref().map_or(true, String::is_empty), "{line:?}: {answer:?}");
    }
    let mut endless = connect(&server, address(1)).await;
    let piece = vec![b'x'; 64 * 1024];
    let mut sent = 0;
    while sent < ENDLESS && endless.write_all(&piece).await.is_ok() {
        sent += piece.len();
    }
    assert!(sent < ENDLESS, "it is cut off");
    let node = server.node_object("cn001").await;
    assert_eq!(node["status"], "defined", "nothing was stored: {node}");

    // A stranger gets a plain end, without a word and without a wait.
    let mut answer = Vec::new();
    connect(&server, Ipv4Addr::new(127, 0, 2, 1)).await.read_to_end(&mut answer).await.unwrap();
    assert_eq!(answer, b"");
    assert_eq!(say(&server, address(1), b"next\n").await.unwrap(), "done\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publish_tells_the_addresses_anew() {
    let server = with_nodes(1, false).await;
    plan(&server, "next", "cn009", "IPADDR = \"127.0.1.1\"");
    say(&server, address(1), b"installstatus booted\n").await.unwrap();
    let www = server.folder.path().join("www");
    std::fs::rename(www.join("plans"), www.join("before")).unwrap();
    std::fs::rename(www.join("next"), www.join("plans")).unwrap();
    say(&server, address(1), b"installstatus failed\n").await.unwrap();
    assert_eq!(server.node_object("cn001").await["status"], "booted");
    assert_eq!(server.node_object("cn009").await["status"], "failed");

    // What is no plan, or can't be read, is nobody's, and keeps nobody out.
    server.www("plans/broken.toml", "generation = ");
    std::fs::create_dir(www.join("plans/folder.toml")).unwrap();
    assert_eq!(say(&server, address(1), b"installstatus booted\n").await.unwrap(), "done\n");

    // An address of two nodes is neither's.
    plan(&server, "plans", "cn010", "IPADDR = \"127.0.1.1\"");
    let mut answer = Vec::new();
    connect(&server, address(1)).await.read_to_end(&mut answer).await.unwrap();
    assert_eq!(answer, b"");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_looked_up_only_if_that_is_asked_for() {
    for dns in [false, true] {
        let server = with_nodes(0, dns).await;
        // What every hosts file has.
        plan(&server, "plans", "localhost", "");
        let mut stream = connect(&server, Ipv4Addr::LOCALHOST).await;
        let mut ready = [0; 6];
        let answered = stream.read_exact(&mut ready).await.is_ok();
        assert_eq!(answered, dns);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_gets_its_own_mypostscript() {
    let server = with_nodes(1, false).await;
    plan(&server, "plans", "cn002", "IPADDR = \"127.0.1.2\"\nNOTE = \"it's `id`\\nso\"");
    let script = say(&server, address(2), b"getpostscript\n").await.unwrap();
    let script = script.strip_suffix("#END OF SCRIPT\n").unwrap();
    assert!(script.contains("\nNODE=cn002\n"), "{script}");
    assert!(script.contains("\nNOTE=$'it\\047s `id`\\012so'\n"), "{script}");
    assert!(script.contains("-start-here\nt 'a b'\n# node-postscripts-end-here\n"), "{script}");
}
