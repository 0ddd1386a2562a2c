//! How a relay does, for admins: `/healthz` and `/metrics`. The rest of the admin API is the management
//! node's.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use jiff::Timestamp;
use provost_record::wording::error_chain;
use serde::Serialize;

use super::shared::Relay;
use super::spool::Spooled;
use crate::health::{LEAST_ROOM, room};
use crate::refusal::{self, Refusal};

pub(super) fn router(relay: Arc<Relay>) -> Router {
    Router::new()
        .route("/healthz", get(health))
        .route("/metrics", get(metrics))
        .fallback(elsewhere)
        .with_state(relay)
        .layer(axum::middleware::map_response(refusal::in_json))
}

/// `/healthz`.
#[derive(Serialize)]
struct Health {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// What no management node has taken yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    spooled: Option<Spooled>,
    upstreams: Vec<ShownUpstream>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownUpstream {
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    unreachable_since: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Answers 200 if nodes can report here, else 503 with the reason. That no upstream can be reached is
/// no reason.
async fn health(State(relay): State<Arc<Relay>>) -> Response {
    let shown = relay.upstreams.list().map(|(url, away)| {
        let (since, why) = away.map(|away| (away.since, away.why)).unzip();
        ShownUpstream { url: url.to_string(), unreachable_since: since, error: why }
    });
    let upstreams = shown.collect();
    let data = relay.data.display();
    let make_room = || format!("make room on the file system of {data}");
    let (spooled, failed) = match relay.spool.spooled().await {
        Ok(spooled) => match room(&relay.data) {
            Ok(room) if room < LEAST_ROOM => {
                let error = format!("the disk is full: {} KiB are free for {data}", room / 1024);
                (Some(spooled), Some((error, make_room())))
            }
            _ => (Some(spooled), None),
        },
        Err(error) => (None, Some((error_chain(&error), error.hint().to_owned()))),
    };
    let (code, status) = match failed {
        None => (StatusCode::OK, "ok"),
        Some(_) => (StatusCode::SERVICE_UNAVAILABLE, "failed"),
    };
    let (error, hint) = failed.unzip();
    (code, Json(Health { status, error, hint, spooled, upstreams })).into_response()
}

async fn metrics(State(relay): State<Arc<Relay>>) -> Result<Response, Refusal> {
    let spooled = relay.spool.spooled().await?;
    let unreachable = relay.upstreams.list().filter(|(_, away)| away.is_some()).count();
    let page = relay.metrics.page(&spooled, unreachable).map_err(|e| {
        let what = format!("writing the metrics: {e}");
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, what, "report this as a bug")
    })?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], page).into_response())
}

async fn elsewhere(State(relay): State<Arc<Relay>>) -> Refusal {
    let urls: Vec<String> = relay.upstreams.list().map(|(url, _)| url.to_string()).collect();
    let hint = format!("ask the provostd behind it: {}", urls.join(", "));
    Refusal::new(
        StatusCode::NOT_FOUND,
        "this is a relay, which only knows /healthz and /metrics",
        hint,
    )
}
