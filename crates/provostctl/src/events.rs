use std::collections::HashSet;

use reqwest::Response;
use serde::Deserialize;

/// The longest line of a stream of events, in bytes: a record's and some.
const MAX_LINE: usize = 1024 * 1024;

/// The daemon's stream of events, of which only those of some nodes count.
pub(crate) struct Events {
    stream: Response,
    buffer: Vec<u8>,
    nodes: HashSet<String>,
}

#[derive(Deserialize)]
struct OfNode {
    node: Option<String>,
}

impl Events {
    pub(crate) fn new(stream: Response, nodes: HashSet<String>) -> Self {
        Self { stream, buffer: Vec::new(), nodes }
    }

    /// Waits until something of the nodes is told, or may have been missed. `Err` says why there
    /// won't be more.
    pub(crate) async fn next(&mut self) -> Result<(), String> {
        loop {
            while let Some(end) = self.buffer.iter().position(|b| *b == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                if self.counts(&line) {
                    return Ok(());
                }
            }
            if self.buffer.len() > MAX_LINE {
                return Err("provostd sent a line without an end".into());
            }
            match self.stream.chunk().await {
                Ok(Some(chunk)) => self.buffer.extend_from_slice(&chunk),
                Ok(None) => return Err("provostd has ended".into()),
                Err(error) => return Err(format!("the connection to provostd is lost: {error}")),
            }
        }
    }

    /// What isn't of a node counts: it says that events were missed.
    fn counts(&self, line: &[u8]) -> bool {
        let Some(data) = line.strip_prefix(b"data:") else { return false };
        let node = serde_json::from_slice::<OfNode>(data).ok().and_then(|of| of.node);
        node.is_none_or(|node| self.nodes.contains(&node))
    }
}
