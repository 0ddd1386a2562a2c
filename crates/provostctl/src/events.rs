use std::collections::HashSet;
use std::pin::Pin;

use eventsource_stream::{Event, EventStreamError, Eventsource};
use futures_util::{Stream, StreamExt};
use provost_record::wording::error_chain;
use reqwest::Response;
use serde::Deserialize;

type EventStream = Pin<Box<dyn Stream<Item = Result<Event, EventStreamError<reqwest::Error>>>>>;

/// The daemon's stream of events, filtered by nodes.
pub(crate) struct Events {
    stream: EventStream,
    nodes: HashSet<String>,
}

#[derive(Deserialize)]
struct OfNode {
    node: Option<String>,
}

impl Events {
    pub(crate) fn new(response: Response, nodes: HashSet<String>) -> Self {
        Self { stream: Box::pin(response.bytes_stream().eventsource()), nodes }
    }

    /// Waits for an event of the nodes, or one about missed events. The error is why there won't be
    /// more.
    pub(crate) async fn next(&mut self) -> Result<(), String> {
        loop {
            match self.stream.next().await {
                Some(Ok(event)) if self.concerns(&event) => return Ok(()),
                Some(Ok(_)) => {}
                Some(Err(e)) => {
                    return Err(format!("reading provostd's events: {}", error_chain(&e)));
                }
                None => return Err("reading provostd's events: provostd has stopped".into()),
            }
        }
    }

    /// An event without a node is about missed events, which may be of any node.
    fn concerns(&self, event: &Event) -> bool {
        let node = serde_json::from_str::<OfNode>(&event.data).ok().and_then(|of| of.node);
        node.is_none_or(|node| self.nodes.contains(&node))
    }
}
