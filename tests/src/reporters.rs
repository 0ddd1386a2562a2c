//! Nodes that report without the node's program.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::Cluster;

/// Nodes with tokens.
pub struct Reporters {
    address: String,
    tokens: Vec<(String, String)>,
}

impl Reporters {
    /// Creates the tokens of `names`, a folded set.
    pub fn new(cluster: &Cluster, names: &str) -> Self {
        let out = cluster.ctl(&["token", "--force", names]).expect(0).stdout;
        let pair = |line: &str| line.split_once(' ').map(|(n, t)| (n.to_owned(), t.to_owned()));
        let address = cluster.daemon().nodes();
        Self { address, tokens: out.lines().filter_map(pair).collect() }
    }

    /// The same nodes, which report at another daemon.
    pub fn at(&self, address: &str) -> Self {
        Self { address: address.to_owned(), tokens: self.tokens.clone() }
    }

    /// The name of the node with this number.
    pub fn name(&self, number: usize) -> &str {
        &self.tokens[number].0
    }

    /// A connection for many requests.
    pub fn connect(&self) -> Wire<'_> {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        Wire { nodes: self, stream: BufReader::new(stream) }
    }

    /// The id of that node's run with the number `run`.
    pub fn run(number: usize, run: usize) -> String {
        format!("0198{run:04x}-0000-7000-8000-{number:012}")
    }

    /// A whole record of a boot, of what only that record has.
    pub fn record(node: &str, run: &str, seq: usize, own: Value) -> Value {
        let mut all = json!({"timestamp": "2026-11-20T17:00:00Z", "service": "boot",
            "node": node, "run": run, "seq": seq});
        all.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        all
    }

    /// Sends the records of a run of the node with this number; `first` is the seq of the first.
    pub fn send(&self, number: usize, first: usize, records: &[Value]) {
        self.connect().send(number, 0, first, records);
    }

    /// A boot that succeeds.
    pub fn boots(&self, number: usize) {
        self.send(number, 1, &[begins(), fetched(), ends("success", "")]);
    }

    /// A boot that fails in `mount_scratch`.
    pub fn fails(&self, number: usize, message: &str) {
        self.send(number, 1, &failing(message));
    }
}

/// A connection to the listener of nodes.
pub struct Wire<'a> {
    nodes: &'a Reporters,
    stream: BufReader<TcpStream>,
}

impl Wire<'_> {
    /// Sends records of the node's run with the number `run`.
    #[track_caller]
    pub fn send(&mut self, number: usize, run: usize, first: usize, records: &[Value]) {
        let (node, id) = (self.nodes.name(number), Reporters::run(number, run));
        let records = (first..)
            .zip(records)
            .map(|(seq, record)| Reporters::record(node, &id, seq, record.clone()));
        self.post(number, &Value::from_iter(records).to_string());
    }

    /// Sends a report of the node, an array of records as JSON.
    #[track_caller]
    pub fn post(&mut self, number: usize, body: &str) {
        let answer = self.try_post(number, body).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }

    /// The same to a daemon that may refuse it, or be gone. Returns its answer.
    pub fn try_post(&mut self, number: usize, body: &str) -> io::Result<String> {
        self.try_post_to("records", number, body)
    }

    /// The same to another path of the node's API.
    pub fn try_post_to(&mut self, path: &str, number: usize, body: &str) -> io::Result<String> {
        let (node, token) = &self.nodes.tokens[number];
        let request = format!(
            "POST /v1/nodes/{node}/{path} HTTP/1.1\r\nHost: provostd\r\nAuthorization: Bearer \
             {token}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let (mut head, mut length) = (String::new(), 0);
        while self.stream.read_line(&mut head)? > 2 {
            let line = head.lines().last().unwrap_or_default().to_lowercase();
            if let Some(n) = line.strip_prefix("content-length:") {
                length = n.trim().parse().unwrap();
            }
        }
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer)?;
        Ok(head + &String::from_utf8_lossy(&answer))
    }
}

/// The record of a run's beginning.
pub fn begins() -> Value {
    json!({"phase": "service start", "attempt": 1})
}

/// That of what was fetched.
pub fn fetched() -> Value {
    json!({"phase": "stage end", "stage": "fetch", "result": "success", "bundle": 1, "plan": 1,
        "durationMs": 40})
}

/// That of a run's end; `message` is of a failure.
pub fn ends(result: &str, message: &str) -> Value {
    match result {
        "success" => json!({"phase": "service end", "result": result, "durationMs": 5000}),
        _ => json!({"phase": "service end", "result": result, "durationMs": 8000, "cause": "exit",
            "exitCode": 32, "errorMessage": message, "hint": "check the file server"}),
    }
}

/// Those of a run that fails in `mount_scratch`.
pub fn failing(message: &str) -> [Value; 5] {
    let step = json!({"phase": "stage end", "stage": "mount_scratch", "result": "failure",
        "cause": "exit", "exitCode": 32, "errorMessage": message, "durationMs": 4000,
        "hint": "check the file server"});
    let begin = json!({"phase": "stage start", "stage": "mount_scratch"});
    [begins(), fetched(), begin, step, ends("failure", message)]
}
