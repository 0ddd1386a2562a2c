//! One address without a token opens what it can; the other nodes notice nothing.

use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use provost_store::{Sqlite, Token, Tokens};
use reqwest::Client;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// More than the listener serves at once.
const IDLE: usize = 9000;
const SLOW: usize = 300;
/// Another address than that of the flood.
const NODE: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
/// How much longer a plan may take than without the flood, beyond 3 times: what a loaded machine
/// adds to a request of a millisecond.
const NOISE: Duration = Duration::from_millis(20);

/// A daemon as a process of its own, with its own file descriptors.
struct Daemon {
    child: Child,
    folder: TempDir,
    nodes: SocketAddr,
}

impl Daemon {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["data", "www/plans", "www/objects/ab"] {
            fs::create_dir_all(path(name)).unwrap();
        }
        fs::write(path("www/plans/cn001.toml"), "plan").unwrap();
        let object = fs::File::create(path("www/objects/ab").join("ab".repeat(32))).unwrap();
        object.set_len(1 << 30).unwrap();
        let store = Sqlite::open(&path("data")).unwrap();
        let token = Token { node: "cn001".into(), sha256: Sha256::digest("cn001").into() };
        store.set_tokens(vec![token], provost_record::now()).await.unwrap();
        drop(store);
        let config = "data = 'data'\nwww = 'www'\nlisten = '127.0.0.1:0'\nadmin = '127.0.0.1:0'\n";
        fs::write(path("provostd.toml"), config).unwrap();
        let ready = UnixDatagram::bind(path("ready")).unwrap();
        ready.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_provostd"))
            .arg("--config")
            .arg(path("provostd.toml"))
            .env("NOTIFY_SOCKET", path("ready"))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        ready.recv(&mut [0; 100]).unwrap();
        let listen = fs::read(path("data/listen.json")).unwrap();
        let listen: serde_json::Value = serde_json::from_slice(&listen).unwrap();
        let nodes = listen["nodes"].as_str().unwrap().parse().unwrap();
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self { child, folder, nodes }
    }

    /// The median of some requests for a plan, each by a new connection from `from`.
    async fn plan_time(&self, from: IpAddr) -> Duration {
        let mut times = Vec::new();
        for _ in 0..21 {
            let client = Client::builder().no_proxy().tls_certs_only([]).local_address(from);
            let client = client.timeout(Duration::from_secs(10)).build().unwrap();
            let url = format!("http://{}/plans/cn001.toml", self.nodes);
            let begun = Instant::now();
            let plan = client.get(url).bearer_auth("cn001").send().await.unwrap();
            assert_eq!(plan.text().await.unwrap(), "plan");
            times.push(begun.elapsed());
        }
        times.sort();
        times[times.len() / 2]
    }

    /// How many connections it has.
    fn sockets(&self) -> usize {
        let files = PathBuf::from(format!("/proc/{}/fd", self.child.id()));
        let is_socket = |file: &Path| {
            fs::read_link(file).is_ok_and(|file| file.to_string_lossy().starts_with("socket:"))
        };
        let files = fs::read_dir(files).unwrap();
        files.filter(|file| is_socket(&file.as_ref().unwrap().path())).count()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        assert!(self.folder.path().exists());
    }
}

/// Lets this process have as many connections as the flood needs.
fn raise_file_limit() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn nine_thousand_idle_connections_of_one_address_delay_no_others_plan() {
    raise_file_limit();
    let daemon = Daemon::start().await;
    let quiet = daemon.plan_time(NODE).await;
    let flood: Vec<_> = (0..IDLE).map_while(|_| TcpStream::connect(daemon.nodes).ok()).collect();
    assert_eq!(flood.len(), IDLE);
    let flooded = daemon.plan_time(NODE).await;
    assert!(flooded <= 3 * quiet + NOISE, "{flooded:?} instead of {quiet:?}");
    let same = daemon.plan_time(Ipv4Addr::LOCALHOST.into()).await;
    assert!(same <= 3 * quiet + NOISE, "from the flood's own address: {same:?}");
    assert!(daemon.sockets() < 2000, "{} connections are left", daemon.sockets());
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_behind_one_address_keep_their_connections_when_a_stranger_there_opens_thousands() {
    raise_file_limit();
    let daemon = Daemon::start().await;
    let mut node = TcpStream::connect(daemon.nodes).unwrap();
    let mut plan = || {
        let authorization = "Authorization: Bearer cn001";
        write!(node, "GET /plans/cn001.toml HTTP/1.1\r\nHost: x\r\n{authorization}\r\n\r\n")
            .unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"plan") {
            let mut byte = [0];
            assert_eq!(node.read(&mut byte).unwrap(), 1, "the connection was closed");
            answer.push(byte[0]);
        }
    };
    plan();
    let flood: Vec<_> = (0..3000).map(|_| TcpStream::connect(daemon.nodes).unwrap()).collect();
    let mut oldest = &flood[0];
    oldest.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert_eq!(oldest.read(&mut [0]).unwrap(), 0, "it is closed");
    plan();
}

#[tokio::test(flavor = "multi_thread")]
async fn three_hundred_readers_at_a_byte_in_ten_seconds_lose_their_places() {
    let daemon = Daemon::start().await;
    let quiet = daemon.plan_time(NODE).await;
    let idle = daemon.sockets();
    let object = format!("/objects/ab/{}", "ab".repeat(32));
    let readers: Vec<_> = (0..SLOW)
        .map(|_| {
            let mut reader = TcpStream::connect(daemon.nodes).unwrap();
            write!(reader, "GET {object} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
            reader.read_exact(&mut [0]).unwrap();
            reader
        })
        .collect();
    let busy = daemon.plan_time(NODE).await;
    assert!(busy <= 3 * quiet + NOISE, "{busy:?} instead of {quiet:?}");
    let begun = Instant::now();
    while daemon.sockets() > idle {
        for mut reader in &readers {
            reader.set_nonblocking(true).unwrap();
            // It takes one byte, or is cut off.
            let _ = reader.read(&mut [0]);
        }
        let left = daemon.sockets() - idle;
        assert!(begun.elapsed() < Duration::from_secs(40), "{left} still have their place");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_without_a_place_is_told_at_once_when_to_come_again() {
    raise_file_limit();
    let daemon = Daemon::start().await;
    let object = format!("/objects/ab/{}", "ab".repeat(32));
    // As many as one address may have without a token, and none of them is idle.
    let readers: Vec<_> = (0..1024)
        .map(|_| {
            let mut reader = TcpStream::connect(daemon.nodes).unwrap();
            write!(reader, "GET {object} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
            reader.read_exact(&mut [0]).unwrap();
            reader
        })
        .collect();
    let mut client = TcpStream::connect(daemon.nodes).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    write!(client, "GET /plans/cn001.toml HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    let wait = answer.lines().find_map(|line| line.strip_prefix("retry-after: ")).unwrap();
    assert!((1..=60).contains(&wait.parse::<u32>().unwrap()), "{wait}");
    assert!(answer.contains("connection: close") && answer.contains("\"hint\""), "{answer}");
    drop(readers);
}
