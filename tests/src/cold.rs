//! Nodes without a memory, as a web server sees them: each asks for the same files.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::faults::Faulty;

/// How many ask at once.
const AT_ONCE: usize = 16;

/// Asks for each of `paths` as so many `nodes` do, a connection for each request. Each answer has to be the
/// file of the folder `www`.
pub fn fetch(address: &str, paths: &[String], nodes: usize, www: &Path) {
    let files: Vec<Vec<u8>> =
        paths.iter().map(|path| std::fs::read(www.join(&path[1..])).unwrap()).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while next.fetch_add(1, Ordering::Relaxed) < nodes {
                    for (path, file) in paths.iter().zip(&files) {
                        let answer = get(address, path);
                        let body = answer.windows(4).position(|four| four == b"\r\n\r\n");
                        let body = body.map(|at| &answer[at + 4..]).unwrap_or_default();
                        let head = String::from_utf8_lossy(&answer[..answer.len().min(300)]);
                        assert!(
                            answer.get(8..13) == Some(b" 200 ") && body == file,
                            "{path}: {head}"
                        );
                    }
                }
            });
        }
    });
}

/// What `server` was asked for that is the same for all nodes.
pub fn files_asked(server: &Faulty) -> Vec<String> {
    let paths = server.exchanges().into_iter().map(|exchange| exchange.request.path);
    paths.filter(|path| !path.starts_with("/plans/") && !path.starts_with("/v1/")).collect()
}

/// A request and all of its answer. By HTTP/1.0, whose answers end with the connection.
fn get(address: &str, path: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\nhost: {address}\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}
