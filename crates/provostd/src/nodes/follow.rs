//! The log of a step that runs, as its node's beats bring it.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, Query, State};
use provost_store::Store;
use serde::Deserialize;
use tokio::time::timeout;

use super::beats::Beats;
use crate::listener::Stop;
use crate::listener::refusal::Refusal;
use provost_api::Followed;

/// How long a request waits for more of the log.
const WAIT: Duration = Duration::from_secs(5);

#[derive(Deserialize)]
pub(crate) struct From {
    /// How much of the log the reader has, in bytes.
    #[serde(default)]
    from: u64,
}

/// Waits for what the log of `script` on `node` grows by. The answer comes sooner if there is some,
/// if the step has ended, or if there is no beat of it.
pub(crate) async fn follow(
    State(store): State<Arc<dyn Store>>,
    State(beats): State<Arc<Beats>>,
    State(mut stop): State<Stop>,
    Path((node, script)): Path<(String, String)>,
    Query(From { from }): Query<From>,
) -> Result<Json<Followed>, Refusal> {
    if store.node(&node).await?.is_none() {
        return Err(Refusal::unknown_node(&node));
    }
    let mut news = beats.news();
    let more = async {
        loop {
            let followed = beats.follow(&node, &script, from);
            if followed.run.is_none() || followed.ended || !followed.pieces.is_empty() {
                return;
            }
            // One that was missed may be of this node.
            while news.recv().await.is_ok_and(|name| *name != *node) {}
        }
    };
    tokio::select! {
        _ = timeout(WAIT, more) => {}
        () = stop.wait() => {}
    }
    Ok(Json(beats.follow(&node, &script, from)))
}
