use std::collections::{BTreeSet, HashSet};
use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use provost_plan::nodes;
use provost_record::{Run, Stage, now, runs};
use provost_store::{Node, Released, StoredRun, UploadedLog};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::app::App;
use crate::installer::InstallerNeeds;
use crate::refusal::{self, Refusal};
use crate::{events, host, tokens};

/// The longest request, in bytes: a hundred thousand names.
const MAX_REQUEST: usize = 4 * 1024 * 1024;

/// The read-only part of the admin API, for the listener at `bound`.
pub(crate) fn read_only(app: Arc<App>, bound: SocketAddr) -> Router {
    let refused = || post(only_over_the_socket);
    router(app, refused(), refused())
        .layer(axum::middleware::from_fn_with_state(bound, host::check))
}

/// The whole admin API.
pub(crate) fn whole(app: Arc<App>) -> Router {
    router(app, post(create_tokens), post(release))
}

fn router(
    app: Arc<App>,
    tokens: MethodRouter<Arc<App>>,
    release: MethodRouter<Arc<App>>,
) -> Router {
    Router::new()
        .route("/v1/nodes", get(list))
        .route("/v1/nodes/{node}", get(show))
        .route("/v1/runs/{run}/records", get(records))
        .route("/v1/runs/{run}/logs/{name}", get(log))
        .route("/v1/events", get(async |State(app): Shared| events::stream(&app)))
        .route("/v1/installer", get(installer))
        .route("/v1/tokens", tokens)
        .route("/v1/release", release)
        .route("/healthz", get(health))
        .route("/metrics", get(metrics))
        .with_state(app)
        .layer(axum::middleware::map_response(refusal::in_json))
}

type Shared = State<Arc<App>>;

#[derive(Deserialize)]
struct Filter {
    nodes: Option<String>,
}

async fn list(
    State(app): Shared,
    Query(filter): Query<Filter>,
) -> Result<Json<Vec<Node>>, Refusal> {
    let mut all = app.store.nodes().await?;
    if let Some(text) = filter.nodes {
        let names: HashSet<String> = expand(&text)?.into_iter().collect();
        all.retain(|node| names.contains(&node.name));
    }
    Ok(Json(all))
}

/// A node and all of its runs.
#[derive(Serialize)]
struct Shown<'a> {
    node: Node,
    runs: Vec<ShownRun<'a>>,
}

#[derive(Serialize)]
struct ShownRun<'a> {
    #[serde(flatten)]
    run: Run,
    records: Vec<&'a RawValue>,
}

async fn show(State(app): Shared, Path(name): Path<String>) -> Result<Response, Refusal> {
    let node = app.store.node(&name).await?.ok_or_else(|| {
        absent(format!("unknown node {name:?}"), "list all nodes: provostctl nodes")
    })?;
    let stored = app.store.runs(&name).await?;
    let uploaded: BTreeSet<UploadedLog> = app.store.logs(&name).await?.into_iter().collect();
    let runs = stored.iter().flat_map(|run| shown_runs(run, &uploaded)).collect();
    Ok(Json(Shown { node, runs }).into_response())
}

fn shown_runs<'a>(stored: &'a StoredRun, uploaded: &BTreeSet<UploadedLog>) -> Vec<ShownRun<'a>> {
    let of_service = |mut run: Run| {
        for (index, stage) in run.stages.iter_mut().enumerate() {
            let name = Stage::log_name(index, &stage.stage, stage.attempt);
            let log = UploadedLog { run: run.run.clone(), name };
            stage.log = uploaded.contains(&log).then_some(log.name);
        }
        let records = stored.reports.iter().filter(|r| r.record.service == run.service);
        ShownRun { records: records.map(|r| &*r.json).collect(), run }
    };
    runs(stored.reports.iter().map(|r| &r.record)).into_iter().map(of_service).collect()
}

async fn records(State(app): Shared, Path(run): Path<String>) -> Result<Response, Refusal> {
    let stored = stored_run(&app, &run).await?;
    let records: Vec<&RawValue> = stored.reports.iter().map(|r| &*r.json).collect();
    Ok(Json(records).into_response())
}

async fn log(
    State(app): Shared,
    Path((run, name)): Path<(String, String)>,
) -> Result<Response, Refusal> {
    let stored = stored_run(&app, &run).await?;
    let missing = || {
        let what = format!("node {} has uploaded no log {name:?} of run {run}", stored.node);
        let hint = format!(
            "only the logs of failed scripts are uploaded; read it on the node: ssh {} provost log",
            stored.node
        );
        absent(what, hint)
    };
    let log = UploadedLog { run: run.clone(), name: name.clone() };
    // A name that can't be a file's is that of no log.
    let known = app.store.logs(&stored.node).await?.contains(&log);
    let bytes = if known { app.store.log(&stored.node, &log).await? } else { None };
    // The bytes are a script's, so no client may take them for anything but text.
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/plain")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    Ok((headers, bytes.ok_or_else(missing)?).into_response())
}

async fn stored_run(app: &App, run: &str) -> Result<StoredRun, Refusal> {
    let stored = app.store.run(run).await?;
    stored.ok_or_else(|| {
        absent(format!("unknown run {run:?}"), "list a node's runs: provostctl show NODE")
    })
}

/// The nodes that a request is about.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodesRequest {
    nodes: Vec<String>,
}

impl NodesRequest {
    async fn read(app: &App, body: Body) -> Result<Vec<String>, Refusal> {
        let body = app.bodies.read(body, MAX_REQUEST).await?;
        let request: Self = serde_json::from_slice(&body.bytes).map_err(|e| {
            invalid(format!("the body: {e}"), "send {\"nodes\": [\"cn[001-004]\"]}")
        })?;
        expand(&request.nodes.join(","))
    }
}

async fn installer(State(app): Shared) -> Result<Json<InstallerNeeds>, Refusal> {
    InstallerNeeds::of(&app).await.map(Json)
}

async fn create_tokens(State(app): Shared, body: Body) -> Result<Response, Refusal> {
    let nodes = NodesRequest::read(&app, body).await?;
    tracing::info!("new tokens for {}", nodes::fold(&nodes));
    Ok(Json(tokens::create(&*app.store, nodes, now()).await?).into_response())
}

/// A node that was released, and how many attempts were forgotten.
#[derive(Serialize)]
struct ShownRelease {
    node: String,
    attempts: u32,
}

async fn release(State(app): Shared, body: Body) -> Result<Json<Vec<ShownRelease>>, Refusal> {
    let nodes = NodesRequest::read(&app, body).await?;
    let all = nodes::fold(&nodes);
    let released = app.store.release(nodes, now()).await?.map_err(|unknown| {
        let unknown = nodes::fold(&unknown);
        absent(
            format!("no node was released: unknown {unknown}"),
            "list all nodes: provostctl nodes",
        )
    })?;
    tracing::info!("released {all}");
    let shown = |r: Released| ShownRelease { node: r.node, attempts: r.attempts };
    Ok(Json(released.into_iter().map(shown).collect()))
}

async fn only_over_the_socket() -> Refusal {
    Refusal::new(
        StatusCode::FORBIDDEN,
        "this listener is read-only",
        "use the socket on the management node: provostctl --admin unix:DATA/admin.sock",
    )
}

async fn health(State(app): Shared) -> Result<Response, Refusal> {
    app.store.node("").await?;
    Ok(Json(serde_json::json!({ "status": "ok" })).into_response())
}

async fn metrics(State(app): Shared) -> Result<Response, Refusal> {
    let page = app.metrics.page(&app.store.nodes().await?).map_err(|e| {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, e.to_string(), "report this as a bug")
    })?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], page).into_response())
}

fn expand(text: &str) -> Result<Vec<String>, Refusal> {
    nodes::expand(text).map_err(|e| invalid(e.to_string(), e.hint()))
}

fn invalid(error: String, hint: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, error, hint)
}

fn absent(error: String, hint: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, error, hint)
}
