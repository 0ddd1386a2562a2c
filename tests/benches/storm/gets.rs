//! What is published, fetched over and over from provostd and from nginx.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use provost_tests::WebServer;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::simulated::Management;
use crate::table;
use crate::usage::{Usage, with_children};

/// How many clients fetch at once, each by one connection.
const CLIENTS: usize = 64;
/// For how long.
const TIME: Duration = Duration::from_secs(2);
/// What each fetches, in turn: what all nodes of a cold start ask for alike.
const PATHS: [&str; 3] = ["/manifest.toml", "/manifest.toml.minisig", "/packs/newest.tar.zst"];

/// What came of it.
struct Gets {
    count: usize,
    /// Of the server.
    processor: Duration,
}

/// Prints both.
pub(crate) fn compare(management: &Management) {
    let folder = tempfile::tempdir().unwrap();
    let (www, daemon) = (management.www(), management.address());
    for folder in [folder.path(), www.parent().unwrap()] {
        // nobody has to get through.
        std::fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
    }
    if let Some(missing) = WebServer::missing() {
        println!("static GETs aren't compared with nginx: {missing}");
        return;
    }
    let nginx = WebServer::start(folder.path(), &www, &daemon);
    let ours = get(&daemon, management.daemons()[0]);
    let theirs = get(nginx.address(), nginx.pid());
    let of_one = |gets: &Gets| gets.processor.as_secs_f64() * 1e6 / gets.count as f64;
    println!("{:<28}{:>10}{:>10} {:<6}{:>6}", "", "provostd", "nginx", "", "ratio");
    let rate = |gets: &Gets| gets.count as f64 / TIME.as_secs_f64();
    table::line("static GETs", "/s", rate(&ours), rate(&theirs));
    table::line("processor, the server's", "us/GET", of_one(&ours), of_one(&theirs));
}

fn get(address: &str, pid: u32) -> Gets {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let pids = with_children(pid);
    let before = Usage::of_all(&pids);
    let until = Instant::now() + TIME;
    let count = runtime.block_on(async {
        let clients: Vec<_> =
            (0..CLIENTS).map(|_| tokio::spawn(client(address.to_owned(), until))).collect();
        let mut count = 0;
        for client in clients {
            count += client.await.unwrap().unwrap();
        }
        count
    });
    Gets { count, processor: Usage::of_all(&pids).since(&before).processor }
}

/// Sends one request after the other. Returns how many were answered.
async fn client(address: String, until: Instant) -> std::io::Result<usize> {
    let connect = async || {
        let stream = TcpStream::connect(&address).await?;
        stream.set_nodelay(true)?;
        Ok::<_, std::io::Error>(BufReader::with_capacity(64 << 10, stream))
    };
    let mut stream = connect().await?;
    let mut count = 0;
    while Instant::now() < until {
        let path = PATHS[count % PATHS.len()];
        let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        let head = String::from_utf8_lossy(&head).to_lowercase();
        assert!(head.starts_with("http/1.1 200 "), "{path}: {head}");
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
        let mut body = vec![0; length.and_then(|length| length.parse().ok()).unwrap()];
        stream.read_exact(&mut body).await?;
        count += 1;
        if head.contains("connection: close") {
            stream = connect().await?;
        }
    }
    Ok(count)
}
