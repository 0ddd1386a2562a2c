//! What runs did and how nodes stood over time, and how storms ended.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use provost_api::admins as api;
use provost_store::StormResult;
use serde::Deserialize;

use crate::fleet::history::{Column, History, Range};
use crate::listener::refusal::Refusal;

#[derive(Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    range: Range,
}

pub(super) async fn history(
    State(history): State<Arc<History>>,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Result<Json<api::History>, Refusal> {
    let Query(Asked { range }) = asked.map_err(|e| {
        Refusal::new(e.status(), e.body_text(), "choose one: hour, day, week, year")
    })?;
    let columns = history.look(range).await?;
    Ok(Json(api::History {
        range: range.name().to_owned(),
        step_seconds: range.columns().0.unsigned_abs(),
        points: columns.columns.iter().map(point).collect(),
        storms: columns.storms.iter().map(storm).collect(),
    }))
}

fn point(column: &Column) -> api::HistoryPoint {
    let Column { at, runs, nodes } = column;
    api::HistoryPoint {
        at: *at,
        began: runs.began,
        succeeded: runs.succeeded,
        failed: runs.failed,
        p50_ms: runs.boots.percentile(50),
        p95_ms: runs.boots.percentile(95),
        nodes: nodes.iter().map(|(status, count)| (status.to_string(), *count)).collect(),
    }
}

fn storm(result: &StormResult) -> api::StormResult {
    let StormResult { storm, ended } = result;
    api::StormResult {
        began: storm.began,
        ended: *ended,
        nodes: storm.nodes,
        succeeded: storm.succeeded,
        failed: storm.failed,
        lost: storm.lost,
    }
}
