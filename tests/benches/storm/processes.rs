//! Nodes in processes of their own: one hasn't enough file descriptors for ten thousand.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;

use crate::simulated::{Share, Storm};

/// The argument of a process that simulates a share of the nodes.
pub(crate) const SHARE: &str = "--share";

/// What a process prints once its nodes are there, and what it then waits for.
const READY: &str = "ready\n";
const GO: &[u8] = b"go\n";

/// Boots each of `shares` in a process of its own, all at the same time; a few of the nodes are apart.
pub(crate) fn boot(mut shares: Vec<Share>) -> Storm {
    let apart = Share::take_apart(&mut shares);
    shares.push(apart);
    let mut processes: Vec<(Child, BufReader<ChildStdout>)> =
        shares.into_iter().map(start).collect();
    for (_, out) in &mut processes {
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert_eq!(line, READY, "a process of nodes has failed");
    }
    for (process, _) in &mut processes {
        process.stdin.take().unwrap().write_all(GO).unwrap();
    }
    let readers: Vec<_> = processes.into_iter().map(|of| thread::spawn(|| finish(of))).collect();
    let mut storm = Storm::default();
    readers.into_iter().for_each(|reader| storm.add(reader.join().unwrap()));
    storm
}

fn start(share: Share) -> (Child, BufReader<ChildStdout>) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let command = command.arg(SHARE).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut json = serde_json::to_vec(&share).unwrap();
    json.push(b'\n');
    process.stdin.as_mut().unwrap().write_all(&json).unwrap();
    let out = BufReader::new(process.stdout.take().unwrap());
    (process, out)
}

fn finish((mut process, mut out): (Child, BufReader<ChildStdout>)) -> Storm {
    let mut json = Vec::new();
    out.read_to_end(&mut json).unwrap();
    let status = process.wait().unwrap();
    assert!(status.success(), "a process of nodes has failed: {status}");
    serde_json::from_slice(&json).unwrap()
}

/// What such a process does.
pub(crate) fn simulate() {
    let mut lines = std::io::stdin().lines();
    let share: Share = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    let mut out = std::io::stdout();
    out.write_all(READY.as_bytes()).unwrap();
    out.flush().unwrap();
    lines.next().unwrap().unwrap();
    let storm = share.boot(1);
    serde_json::to_writer(out, &storm).unwrap();
}
