use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::{Stream, StreamExt as _, stream};
use provost_store::{Event as StoreEvent, Store};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::listener::Stop;
use crate::nodes::beats::Beats;

#[derive(Deserialize)]
pub(crate) struct Wanted {
    /// Whether beats are events, too.
    #[serde(default)]
    beats: bool,
}

/// A stream of what is stored from now on: one `record` event per record, one `lost` event per lost
/// node, one `claim` event per claim that is accepted. A client that reads too slowly gets a `missed`
/// event, it isn't known for how many. With `?beats=true` there is also a `beat` event per beat, with `node` alone.
pub(crate) async fn stream(
    State(store): State<Arc<dyn Store>>,
    State(beats): State<Arc<Beats>>,
    State(stop): State<Stop>,
    Query(wanted): Query<Wanted>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let beats = wanted.beats.then(|| beats.news());
    let start = (store.events(), beats, stop);
    let events = stream::unfold(start, |(mut stored, mut beats, mut stop)| async {
        let events = tokio::select! {
            event = stored.recv() => match event {
                Ok(event) => told(event).await,
                Err(RecvError::Lagged(_)) => vec![missed()],
                Err(RecvError::Closed) => return None,
            },
            beat = next(&mut beats) => vec![match beat {
                Some(node) => Event::default().event("beat").data(json!({ "node": *node }).to_string()),
                None => missed(),
            }],
            () = stop.wait() => return None,
        };
        Some((stream::iter(events).map(Ok), (stored, beats, stop)))
    });
    // Also shows the client that the daemon is alive: a comment every 15 s.
    Sse::new(events.flatten()).keep_alive(KeepAlive::default())
}

/// What a client is told of an event of the store.
async fn told(event: StoreEvent) -> Vec<Event> {
    let named = |name: &str, data: serde_json::Value| {
        vec![Event::default().event(name).data(data.to_string())]
    };
    match event {
        StoreEvent::Records(arrivals) => match arrivals.texts().await {
            Ok(texts) => {
                let record =
                    |json: &Arc<RawValue>| Event::default().event("record").data(json.get());
                texts.iter().map(record).collect()
            }
            Err(_) => vec![missed()],
        },
        StoreEvent::Lost(lost) => named("lost", json!(*lost)),
        StoreEvent::Claim(claim) => named("claim", json!(*claim)),
        StoreEvent::Job(_) => Vec::new(),
        StoreEvent::Missed => vec![missed()],
    }
}

/// The node of the next beat; none if some were missed. Without `beats` it never comes.
async fn next(beats: &mut Option<broadcast::Receiver<Arc<str>>>) -> Option<Arc<str>> {
    match beats {
        Some(beats) => match beats.recv().await {
            Ok(node) => Some(node),
            Err(RecvError::Lagged(_)) => None,
            // The daemon ends.
            Err(RecvError::Closed) => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}

fn missed() -> Event {
    Event::default().event("missed").data("{}")
}
