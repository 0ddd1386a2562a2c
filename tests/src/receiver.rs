//! A receiver of webhooks as a web server of its own, which keeps what it got.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// A receiver that takes each message.
pub struct Receiver {
    address: String,
    bodies: Arc<Mutex<Vec<Value>>>,
}

impl Receiver {
    /// Starts one at `address`, `127.0.0.1:0` for any free port.
    pub fn start(address: &str) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let bodies = Arc::<Mutex<Vec<Value>>>::default();
        let kept = Arc::clone(&bodies);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // One that was cut off is sent again.
                if let Some(body) = take(stream) {
                    kept.lock().unwrap().push(body);
                }
            }
        });
        Self { address, bodies }
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// What it got.
    pub fn bodies(&self) -> Vec<Value> {
        self.bodies.lock().unwrap().clone()
    }
}

fn take(stream: TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(&stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).ok()?;
    let answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    (&stream).write_all(answer).ok()?;
    Some(body)
}
