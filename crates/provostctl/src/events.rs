use std::collections::HashSet;
use std::pin::Pin;

use eventsource_stream::{Event, EventStreamError, Eventsource};
use futures_util::{Stream, StreamExt};
use provost_steplog::wording::error_chain;
use reqwest::Response;
use serde::Deserialize;

type EventStream = Pin<Box<dyn Stream<Item = Result<Event, EventStreamError<reqwest::Error>>>>>;

/// The daemon's stream of events, filtered by nodes.
pub(crate) struct Events {
    stream: EventStream,
    /// None for all nodes.
    nodes: Option<HashSet<String>>,
}

#[derive(Deserialize)]
struct OfNode {
    node: Option<String>,
}

impl Events {
    pub(crate) fn new(response: Response, nodes: Option<HashSet<String>>) -> Self {
        Self { stream: Box::pin(response.bytes_stream().eventsource()), nodes }
    }

    /// Waits for an event of the nodes, and returns the node's name; none for one about missed events,
    /// which may be of any node. The error is why there won't be more.
    pub(crate) async fn next(&mut self) -> Result<Option<String>, String> {
        loop {
            match self.stream.next().await {
                Some(Ok(event)) => {
                    let of = serde_json::from_str::<OfNode>(&event.data).ok();
                    let Some(node) = of.and_then(|of| of.node) else { return Ok(None) };
                    if self.nodes.as_ref().is_none_or(|nodes| nodes.contains(&node)) {
                        return Ok(Some(node));
                    }
                }
                Some(Err(e)) => {
                    return Err(format!("reading provostd's events: {}", error_chain(&e)));
                }
                None => return Err("reading provostd's events: provostd has stopped".into()),
            }
        }
    }
}
