//! The least that a management node could do: it has what is published in memory, and acknowledges
//! what it never stores.

use std::collections::HashMap;
use std::net::TcpListener as StdListener;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use ct_codecs::{Base64, Encoder};
use rustix::process::{Resource, getrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// The argument of a process that serves, with what is published. Its listener is its standard input.
pub(crate) const SERVE: &str = "--null-server";
/// Connections that a node has at once, at most.
const CONNECTIONS: usize = 4;

/// A server in as many processes as have enough file descriptors, which share one listener.
pub(crate) struct NullServer {
    port: u16,
    processes: Vec<Child>,
}

type Files = HashMap<String, Vec<u8>>;

impl NullServer {
    /// Serves what is published in `www` to so many nodes.
    pub(crate) fn start(www: &Path, nodes: usize) -> Self {
        let listener = StdListener::bind("0.0.0.0:0").unwrap();
        // As provostd has it: std's own is short.
        rustix::net::listen(&listener, 4096).unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX) as usize;
        let processes = (nodes * CONNECTIONS).div_ceil(files);
        let start = |_| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            let listener = OwnedFd::from(listener.try_clone().unwrap());
            command.arg(SERVE).arg(www).stdin(Stdio::from(listener)).spawn().unwrap()
        };
        Self { port, processes: (0..processes).map(start).collect() }
    }

    /// Where it listens, at all addresses.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for NullServer {
    fn drop(&mut self) {
        for process in &mut self.processes {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }
}

/// What each of its processes does.
pub(crate) fn serve_all(www: &Path) {
    let mut files = Files::new();
    read_all(www, "", &mut files);
    let files = Arc::new(files);
    let listener = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::from_std(StdListener::from(listener)).unwrap();
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            tokio::spawn(serve(stream, Arc::clone(&files)));
        }
    });
}

fn read_all(www: &Path, below: &str, files: &mut Files) {
    for entry in std::fs::read_dir(www.join(below)).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        // Followed where it is a link, as the newest pack is.
        if www.join(&path).is_dir() {
            read_all(www, &path, files);
        } else {
            files.insert(format!("/{path}"), std::fs::read(www.join(&path)).unwrap());
        }
    }
}

/// Answers one request after the other, until the node closes the connection.
async fn serve(stream: TcpStream, files: Arc<Files>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        let head = String::from_utf8_lossy(&head).to_lowercase();
        let path = head.split(' ').nth(1).unwrap_or_default();
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
        let mut body = vec![0; length.and_then(|length| length.parse().ok()).unwrap_or(0)];
        stream.read_exact(&mut body).await?;
        let acknowledged = (!body.is_empty()).then(|| {
            let body = String::from_utf8_lossy(&body);
            let last = body.rsplit("\"seq\":").next().unwrap_or_default();
            let seq: String = last.chars().take_while(char::is_ascii_digit).collect();
            format!("{{\"acked\":{seq},\"directive\":\"proceed\"}}").into_bytes()
        });
        let answer = acknowledged.as_ref().or_else(|| files.get(path));
        let status = if answer.is_some() { "200 OK" } else { "404 Not Found" };
        let answer = answer.map_or(&[][..], Vec::as_slice);
        // As provostd sends it along.
        let signature = files.get(&format!("{path}.minisig")).map_or_else(String::new, |bytes| {
            format!("provost-signature: {}\r\n", Base64::encode_to_string(bytes).unwrap())
        });
        let length = answer.len();
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{signature}\r\n");
        stream.write_all(&[head.as_bytes(), answer].concat()).await?;
    }
}
