use std::convert::Infallible;
use std::sync::Arc;

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::{Stream, stream};
use provost_store::Event as StoreEvent;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;

use crate::app::App;

/// A stream of what is stored from now on: one `record` event per record, one `lost` event per lost
/// node, one `claim` event per claim that is accepted. A client that reads too slowly gets a `missed`
/// event with the number of events that were dropped.
pub(crate) fn stream(app: &Arc<App>) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<>> {
    let start = (app.store.events(), app.stop.clone());
    let events = stream::unfold(start, |(mut records, mut stop)| async {
        let record = tokio::select! {
            record = records.recv() => record,
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
            Err(RecvError::Lagged(missed)) => {
                Event::default().event("missed").data(json!({ "missed": missed }).to_string())
            }
            Err(RecvError::Closed) => return None,
        };
        Some((Ok(event), (records, stop)))
    });
    // Also shows the client that the daemon is alive: a comment every 15 s.
    Sse::new(events).keep_alive(KeepAlive::default())
}
