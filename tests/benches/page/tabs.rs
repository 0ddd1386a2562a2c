//! Pages that are open and follow what happens, without a browser: it is the server's part that is measured.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread::JoinHandle;

use provost_tests::Cluster;

/// A tab.
pub(crate) struct Tab {
    stream: TcpStream,
    reader: Option<JoinHandle<()>>,
}

impl Tab {
    /// Opens the page at `path`, and waits until it has its first content.
    pub(crate) fn open(cluster: &Cluster, path: &str) -> Self {
        let mut stream = TcpStream::connect(cluster.daemon().admin()).unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let (mut first, mut head) = ([0; 1024], Vec::new());
        while !head.windows(14).any(|part| part == b"event: content") {
            let n = stream.read(&mut first).unwrap();
            assert!(n > 0, "{path}: {}", String::from_utf8_lossy(&head));
            head.extend_from_slice(&first[..n]);
        }
        let mut rest = stream.try_clone().unwrap();
        let reader = std::thread::spawn(move || {
            let mut buffer = vec![0; 64 << 10];
            while rest.read(&mut buffer).is_ok_and(|n| n > 0) {}
        });
        Self { stream, reader: Some(reader) }
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        self.stream.shutdown(Shutdown::Both).unwrap();
        self.reader.take().unwrap().join().unwrap();
    }
}
