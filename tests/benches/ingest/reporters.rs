//! Clients that report as nodes do, at the least cost: their requests are made before the time begins.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::thread;

use provost_record::{Outcome, Phase, Record};

use crate::{RECORDS, RUNS};

/// As many nodes report at the same moment.
const AT_ONCE: usize = 64;

/// The records of some nodes.
pub(crate) struct Reports {
    /// The runs of each, with the node's number.
    runs: Vec<(usize, Vec<String>)>,
}

impl Reports {
    /// Of so many nodes, from a number on.
    pub(crate) fn new(nodes: usize, first: usize) -> Self {
        // Runs of a node follow each other, of all nodes in turn.
        let of = |run: usize| (first..first + nodes).map(move |node| (node, records(node, run)));
        Self { runs: (0..RUNS).flat_map(of).collect() }
    }

    /// The texts of all records.
    pub(crate) fn records(&self) -> Vec<String> {
        self.runs.iter().flat_map(|(_, records)| records.iter().cloned()).collect()
    }

    /// The requests of each run, in order, of so many records each.
    pub(crate) fn requests(&self, batch: usize, tokens: &[&str]) -> Vec<Vec<Vec<u8>>> {
        let request = |node: usize, records: &[String]| {
            let (name, token) = (name(node), tokens[node]);
            let body = format!("[{}]", records.join(","));
            let length = body.len();
            let head = format!(
                "POST /v1/nodes/{name}/records HTTP/1.1\r\nhost: management\r\nauthorization: Bearer {token}\r\n\
                 content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
            );
            [head, body].concat().into_bytes()
        };
        let of_run = |(node, records): &(usize, Vec<String>)| {
            records.chunks(batch).map(|records| request(*node, records)).collect()
        };
        self.runs.iter().map(of_run).collect()
    }
}

/// Sends the requests of each run, one after the other, of several runs at once.
pub(crate) fn send_all(server: &str, runs: Vec<Vec<Vec<u8>>>) {
    let runs = Mutex::new(runs.into_iter());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let mut stream = TcpStream::connect(server).unwrap();
                stream.set_nodelay(true).unwrap();
                let next = || runs.lock().unwrap().next();
                while let Some(requests) = next() {
                    requests.iter().for_each(|request| send(&mut stream, request));
                }
            });
        }
    });
}

/// Sends a request, which has to be acknowledged.
fn send(stream: &mut TcpStream, request: &[u8]) {
    stream.write_all(request).unwrap();
    let (mut answer, mut room) = (Vec::new(), [0; 4096]);
    // The answer is one JSON object, of one line.
    while !answer.ends_with(b"}") {
        let read = stream.read(&mut room).unwrap();
        answer.extend_from_slice(&room[..read]);
        assert!(read > 0, "{}", String::from_utf8_lossy(&answer));
    }
    let is_good =
        answer.starts_with(b"HTTP/1.1 200") && answer.windows(7).any(|w| w == b"\"acked\"");
    assert!(is_good, "{}", String::from_utf8_lossy(&answer));
}

fn name(node: usize) -> String {
    format!("n{:04}", node + 1)
}

/// What a node reports of a run whose scripts all succeed.
fn records(node: usize, run: usize) -> Vec<String> {
    let id = format!("01980000-0000-7{run:03x}-8000-{node:012x}");
    let record = |seq: usize| {
        let is_start = seq.is_multiple_of(2);
        let record = match seq {
            1 => Record { attempt: Some(1), ..Record::new(Phase::ServiceStart) },
            RECORDS => {
                let result = Some(Outcome::Success);
                Record { result, duration_ms: Some(8203), ..Record::new(Phase::ServiceEnd) }
            }
            _ if is_start => Record { limit_ms: Some(1_860_000), ..Record::new(Phase::StageStart) },
            _ => Record {
                result: Some(Outcome::Success),
                commands: 3,
                duration_ms: Some(212),
                user_ms: Some(11),
                system_ms: Some(7),
                max_rss_kib: Some(3456),
                ..Record::new(Phase::StageEnd)
            },
        };
        let stage = (1 < seq && seq < RECORDS).then(|| match seq / 2 {
            1 => "fetch".to_owned(),
            script => format!("script{:02}", script % 28),
        });
        let (service, node, run) = ("boot".to_owned(), name(node), id.clone());
        let record = Record { stage, service, node, run, seq: seq as u64, ..record };
        serde_json::to_string(&record).unwrap()
    };
    (1..=RECORDS).map(record).collect()
}
