use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::{Stream, stream};
use provost_store::Event as StoreEvent;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::app::App;

#[derive(Deserialize)]
pub(crate) struct Wanted {
    /// Whether beats are events, too.
    #[serde(default)]
    beats: bool,
}

/// A stream of what is stored from now on: one `record` event per record, one `lost` event per lost
/// node, one `claim` event per claim that is accepted. A client that reads too slowly gets a `missed`
/// event with the number of events that were dropped, where it is known. With `?beats=true` there is also a `beat` event per
/// beat, with `node` alone.
pub(crate) async fn stream(
    State(app): State<Arc<App>>,
    Query(wanted): Query<Wanted>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let beats = wanted.beats.then(|| app.beats.news());
    let start = (app.store.events(), beats, app.stop.clone());
    let events = stream::unfold(start, |(mut records, mut beats, mut stop)| async {
        let record = tokio::select! {
            record = records.recv() => record,
            beat = next(&mut beats) => {
                let event = match beat {
                    Ok(node) => Event::default().event("beat").data(json!({ "node": *node }).to_string()),
                    Err(missed) => self::missed(missed),
                };
                return Some((Ok(event), (records, beats, stop)));
            }
            () = stop.wait() => return None,
        };
        let event = match record {
            Ok(StoreEvent::Record(json)) => Event::default().event("record").data(json.get()),
            Ok(StoreEvent::Lost(lost)) => {
                Event::default().event("lost").data(json!(*lost).to_string())
            }
            Ok(StoreEvent::Claim(claim)) => {
                Event::default().event("claim").data(json!(*claim).to_string())
            }
            Ok(StoreEvent::Missed) => Event::default().event("missed").data("{}"),
            Err(RecvError::Lagged(missed)) => self::missed(missed),
            Err(RecvError::Closed) => return None,
        };
        Some((Ok(event), (records, beats, stop)))
    });
    // Also shows the client that the daemon is alive: a comment every 15 s.
    Sse::new(events).keep_alive(KeepAlive::default())
}

/// The node of the next beat; or how many were missed. Without `beats` it never comes.
async fn next(beats: &mut Option<broadcast::Receiver<Arc<str>>>) -> Result<Arc<str>, u64> {
    match beats {
        Some(beats) => match beats.recv().await {
            Ok(node) => Ok(node),
            Err(RecvError::Lagged(missed)) => Err(missed),
            // The daemon ends.
            Err(RecvError::Closed) => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}

fn missed(missed: u64) -> Event {
    Event::default().event("missed").data(json!({ "missed": missed }).to_string())
}
