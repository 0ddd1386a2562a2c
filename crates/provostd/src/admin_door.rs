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

use crate::installer::Needs;
use crate::refusal::{self, Refusal};
use crate::{App, events, host, tokens};

/// The longest request, in bytes: a hundred thousand names.
const MAX_REQUEST: usize = 4 * 1024 * 1024;

/// What admins may read at the address `bound`, and no more.
pub(crate) fn reading(app: Arc<App>, bound: SocketAddr) -> Router {
    let refused = || post(only_over_the_socket);
    router(app, refused(), refused())
        .layer(axum::middleware::from_fn_with_state(bound, host::check))
}

/// All that admins may do.
pub(crate) fn whole(app: Arc<App>) -> Router {
    router(app, post(make_tokens), post(release))
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
        let wanted: HashSet<String> = expand(&text)?.into_iter().collect();
        all.retain(|node| wanted.contains(&node.name));
    }
    Ok(Json(all))
}

/// A node and all that it ran.
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
        absent(format!("no node is called {name:?}"), "`provostctl nodes` lists all nodes")
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
        let hint =
            format!("only failed scripts' logs are uploaded; ssh {} provost log", stored.node);
        absent(what, hint)
    };
    let log = UploadedLog { run: run.clone(), name: name.clone() };
    // A name that can't be a file's is a log that isn't there.
    let known = app.store.logs(&stored.node).await?.contains(&log);
    let bytes = if known { app.store.log(&stored.node, &log).await? } else { None };
    // Its bytes are a script's: whatever they are, they are nothing but text to whoever shows them.
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/plain")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    Ok((headers, bytes.ok_or_else(missing)?).into_response())
}

async fn stored_run(app: &App, run: &str) -> Result<StoredRun, Refusal> {
    let stored = app.store.run(run).await?;
    stored.ok_or_else(|| {
        absent(format!("no run has the id {run:?}"), "`provostctl show NODE` names a node's runs")
    })
}

/// Which nodes something is to be done with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    nodes: Vec<String>,
}

impl Wanted {
    async fn read(app: &App, body: Body) -> Result<Vec<String>, Refusal> {
        let body = app.bodies.read(body, MAX_REQUEST).await?;
        let wanted: Self = serde_json::from_slice(&body.bytes).map_err(|e| {
            invalid(format!("the body: {e}"), "send {\"nodes\": [\"cn[001-004]\"]}")
        })?;
        expand(&wanted.nodes.join(","))
    }
}

async fn installer(State(app): Shared) -> Result<Json<Needs>, Refusal> {
    Needs::of(&app).await.map(Json)
}

async fn make_tokens(State(app): Shared, body: Body) -> Result<Response, Refusal> {
    let nodes = Wanted::read(&app, body).await?;
    tracing::info!("new tokens for {}", nodes::fold(&nodes));
    Ok(Json(tokens::make(&*app.store, nodes, now()).await?).into_response())
}

/// A node that was released, and how many attempts are forgotten.
#[derive(Serialize)]
struct ShownRelease {
    node: String,
    attempts: u32,
}

async fn release(State(app): Shared, body: Body) -> Result<Json<Vec<ShownRelease>>, Refusal> {
    let nodes = Wanted::read(&app, body).await?;
    let all = nodes::fold(&nodes);
    let released = app.store.release(nodes, now()).await?.map_err(|unknown| {
        let unknown = nodes::fold(&unknown);
        absent(
            format!("nothing is released: no node is called {unknown}"),
            "`provostctl nodes` lists all nodes",
        )
    })?;
    tracing::info!("released {all}");
    let shown = |r: Released| ShownRelease { node: r.node, attempts: r.attempts };
    Ok(Json(released.into_iter().map(shown).collect()))
}

async fn only_over_the_socket() -> Refusal {
    Refusal::new(
        StatusCode::FORBIDDEN,
        "this door changes nothing",
        "use the socket: provostctl --admin unix:DATA/admin.sock, on the management node",
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
