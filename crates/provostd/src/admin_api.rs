use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use futures_util::stream;
use jiff::{SignedDuration, Timestamp};
use provost_bundle::Manifest;
use provost_plan::nodes;
use provost_record::wording::error_chain;
use provost_record::{Run, Stage, now, runs};
use provost_store::{Node, Pruned, Released, StoreError, StoredRun, UploadedLog};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::task::{JoinError, spawn_blocking};

use crate::app::App;
use crate::installer::InstallerNeeds;
use crate::refusal::{self, Refusal};
use crate::{body, events, follow, health, host, published_nodes, ranges, retention, tokens};

/// The longest request, in bytes: a hundred thousand names.
const MAX_REQUEST: usize = 4 * 1024 * 1024;

/// How many names a message has.
const MAX_FOLDED: usize = 512;

/// The read-only part of the admin API, for the listener at `bound`.
pub(crate) fn read_only(app: Arc<App>, bound: SocketAddr) -> Router {
    over_read_socket(app).layer(axum::middleware::from_fn_with_state(bound, host::check))
}

/// The read-only part, for the socket of those who may read.
pub(crate) fn over_read_socket(app: Arc<App>) -> Router {
    let refused = || post(only_over_the_socket);
    router(app, refused(), refused(), refused(), refused())
}

/// The whole admin API.
pub(crate) fn whole(app: Arc<App>) -> Router {
    router(app, post(create_tokens), post(release), post(remove), post(prune))
}

fn router(
    app: Arc<App>,
    tokens: MethodRouter<Arc<App>>,
    release: MethodRouter<Arc<App>>,
    remove: MethodRouter<Arc<App>>,
    prune: MethodRouter<Arc<App>>,
) -> Router {
    Router::new()
        .route("/v1/nodes", get(list))
        .route("/v1/nodes/{node}", get(show))
        .route("/v1/nodes/{node}/follow/{script}", get(follow::follow))
        .route("/v1/runs/{run}/records", get(records))
        .route("/v1/runs/{run}/logs/{name}", get(log))
        .route("/v1/events", get(events::stream))
        .route("/v1/pending", get(async |State(app): Shared| Json(app.pending.list())))
        .route("/v1/installer", get(installer))
        .route("/v1/scripts", get(scripts))
        .route("/v1/groups", get(groups))
        .route("/v1/tokens", tokens)
        .route("/v1/release", release)
        .route("/v1/remove", remove)
        .route("/v1/prune", prune.get(prunable))
        .route("/v1/generations", get(generations))
        .route("/healthz", get(health::health))
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
    let mut nodes = match filter.nodes {
        Some(text) => app.store.nodes_named(expand(&text)?).await?,
        None => app.store.nodes().await?,
    };
    app.beats.show(&mut nodes);
    app.over_quota.show(&mut nodes);
    app.plain_http.show(&mut nodes);
    Ok(Json(nodes))
}

/// A node and its newest runs.
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
    let mut node = app.store.node(&name).await?.ok_or_else(|| Refusal::unknown_node(&name))?;
    app.beats.show(std::slice::from_mut(&mut node));
    app.over_quota.show(std::slice::from_mut(&mut node));
    app.plain_http.show(std::slice::from_mut(&mut node));
    // Fails only where the semaphore is closed, which nothing does.
    let permit = Arc::clone(&app.histories).acquire_owned().await.ok();
    let stored = app.store.runs(&name).await?;
    let uploaded: BTreeSet<UploadedLog> = app.store.logs(&name).await?.into_iter().collect();
    let runs = stored.iter().flat_map(|run| shown_runs(run, &uploaded)).collect();
    let response = Json(Shown { node, runs }).into_response();
    Ok(response.map(|sent| body::keep(permit, sent)))
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
    node_of_run(&app, &run).await?;
    let parts = stream::try_unfold(Some(0), move |after| {
        let (app, run) = (Arc::clone(&app), run.clone());
        async move {
            let Some(after) = after else { return Ok(None) };
            let part = app.store.records(&run, after).await?;
            let mut text = String::new();
            for (_, json) in &part {
                text.push(if after == 0 && text.is_empty() { '[' } else { ',' });
                text.push_str(json.get());
            }
            let last = part.last().map(|(seq, _)| *seq);
            if last.is_none() {
                text.push_str(if after == 0 { "[]" } else { "]" });
            }
            Ok::<_, StoreError>(Some((text, last)))
        }
    });
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    Ok((kind, Body::from_stream(parts)).into_response())
}

async fn log(
    State(app): Shared,
    Path((run, name)): Path<(String, String)>,
    requested: HeaderMap,
) -> Result<Response, Refusal> {
    let node = node_of_run(&app, &run).await?;
    let missing = || {
        let what = format!("node {node} has uploaded no log {name:?} of run {run}");
        let hint = format!(
            "only the logs of failed scripts are uploaded; read it on the node: ssh {node} provost log"
        );
        absent(what, hint)
    };
    let log = UploadedLog { run: run.clone(), name: name.clone() };
    // A name that can't be a file's is that of no log.
    let known = app.store.logs(&node).await?.contains(&log);
    let bytes = if known { app.store.log(&node, &log).await? } else { None };
    // The bytes are a script's, so no client may take them for anything but text.
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/plain")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    Ok((headers, ranges::in_range(&requested, bytes.ok_or_else(missing)?)).into_response())
}

async fn node_of_run(app: &App, run: &str) -> Result<String, Refusal> {
    let node = app.store.node_of_run(run).await?;
    node.ok_or_else(|| {
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
        let request: Self = read_json(app, body).await?;
        expand(&request.nodes.join(","))
    }
}

async fn read_json<T: DeserializeOwned>(app: &App, body: Body) -> Result<T, Refusal> {
    let body = app.bodies.read(body, MAX_REQUEST).await?;
    serde_json::from_slice(&body.bytes)
        .map_err(|e| invalid(format!("the body: {e}"), "send {\"nodes\": [\"cn[001-004]\"]}"))
}

async fn installer(State(app): Shared) -> Result<Json<InstallerNeeds>, Refusal> {
    InstallerNeeds::of(&app).await.map(Json)
}

/// The names of the published scripts; null where nothing is published here.
async fn scripts(State(app): Shared) -> Json<serde_json::Value> {
    let text = tokio::fs::read(app.www.join("manifest.toml")).await.ok();
    let manifest = text.and_then(|text| Manifest::parse(&text).ok());
    let names = manifest
        .map(|manifest| manifest.files.into_iter().map(|file| file.path).collect::<Vec<String>>());
    Json(serde_json::json!({ "scripts": names }))
}

/// The groups of the published site, each with its nodes, folded.
async fn groups(State(app): Shared) -> Result<Json<serde_json::Value>, Refusal> {
    let www = app.www.clone();
    let read = spawn_blocking(move || provost_bundle::groups(&www, None)).await;
    let failed = |e: &dyn std::error::Error, hint| {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error_chain(e), hint)
    };
    let groups = read
        .map_err(|e| failed(&e, "report this as a bug".to_owned()))?
        .map_err(|e| failed(&e, e.hint()))?;
    Ok(Json(serde_json::json!({ "groups": groups })))
}

/// For which nodes tokens are created, and what becomes of those that they have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct TokensRequest {
    nodes: Vec<String>,
    /// Only for those that have none.
    #[serde(default)]
    missing: bool,
    /// For how long the old ones count, if the new ones aren't used before; without it, no more.
    overlap_ms: Option<u64>,
    /// Also for names that aren't published.
    #[serde(default)]
    force: bool,
}

async fn create_tokens(State(app): Shared, body: Body) -> Result<Response, Refusal> {
    let request: TokensRequest = read_json(&app, body).await?;
    let mut nodes = expand(&request.nodes.join(","))?;
    if !request.force {
        let (www, names) = (app.www.clone(), nodes);
        let checked = spawn_blocking(move || published_nodes::check(&www, names)).await;
        let failed = |e: JoinError| {
            let hint = "report this as a bug";
            Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, e.to_string(), hint)
        };
        nodes = checked.map_err(failed)?.map_err(|unknown| {
            let unknown = short(&unknown);
            let hint = format!(
                "correct the name; or name it in site.toml and publish; or: provostctl token --force {unknown}"
            );
            absent(format!("no token was created: {unknown} isn't in what is published"), hint)
        })?;
    }
    if request.missing {
        nodes = app.store.without_token(nodes).await?;
    }
    tracing::info!("new tokens for {}", short(&nodes));
    let milliseconds = |ms| SignedDuration::from_millis(i64::try_from(ms).unwrap_or(i64::MAX));
    let overlap = request.overlap_ms.map(milliseconds);
    Ok(Json(tokens::create(&*app.store, nodes, overlap, now()).await?).into_response())
}

/// A node that was released, and how many attempts were forgotten.
#[derive(Serialize)]
struct ShownRelease {
    node: String,
    attempts: u32,
}

async fn release(State(app): Shared, body: Body) -> Result<Json<Vec<ShownRelease>>, Refusal> {
    let nodes = NodesRequest::read(&app, body).await?;
    let all = short(&nodes);
    // Not cut to a second: a run may have begun in the same one.
    let released = app.store.release(nodes, Timestamp::now()).await?.map_err(|unknown| {
        let unknown = short(&unknown);
        absent(
            format!("no node was released: unknown {unknown}"),
            "list all nodes: provostctl nodes",
        )
    })?;
    tracing::info!("released {all}");
    let shown = |r: Released| ShownRelease { node: r.node, attempts: r.attempts };
    Ok(Json(released.into_iter().map(shown).collect()))
}

/// A node that was removed.
#[derive(Serialize)]
struct ShownRemoval {
    node: String,
}

async fn remove(State(app): Shared, body: Body) -> Result<Json<Vec<ShownRemoval>>, Refusal> {
    let nodes = NodesRequest::read(&app, body).await?;
    app.store.remove(nodes.clone()).await?.map_err(|unknown| {
        let unknown = short(&unknown);
        absent(
            format!("no node was removed: unknown {unknown}"),
            "list all nodes: provostctl nodes",
        )
    })?;
    app.beats.remove(&nodes);
    tracing::info!("removed {}", short(&nodes));
    nodes.iter().for_each(|node| app.pending.remove(node));
    Ok(Json(nodes.into_iter().map(|node| ShownRemoval { node }).collect()))
}

/// What of the history would be removed now.
async fn prunable(State(app): Shared) -> Result<Json<Pruned>, Refusal> {
    Ok(Json(app.store.prunable(app.retention, Timestamp::now()).await?))
}

async fn prune(State(app): Shared) -> Result<Json<Pruned>, Refusal> {
    Ok(Json(retention::prune(&app).await?))
}

/// The newest generations that nodes have reported.
#[derive(Serialize)]
struct ShownGenerations<'a> {
    /// The published folder that this daemon serves.
    www: &'a std::path::Path,
    bundle: u64,
    plans: BTreeMap<String, u64>,
}

/// No site has published so often: a greater number is a node's mistake, or malice.
const MAX_GENERATION: u64 = 1 << 40;

async fn generations(State(app): Shared) -> Result<Response, Refusal> {
    let plausible = |generation: &u64| (1..=MAX_GENERATION).contains(generation);
    let seen = app.store.seen().await?;
    let bundle = seen.iter().map(|(_, seen)| seen.bundle).filter(plausible).max();
    let plans = seen.into_iter().map(|(node, seen)| (node, seen.plan));
    Ok(Json(ShownGenerations {
        www: &app.www,
        bundle: bundle.unwrap_or_default(),
        plans: plans.filter(|(_, plan)| plausible(plan)).collect(),
    })
    .into_response())
}

async fn only_over_the_socket() -> Refusal {
    Refusal::new(
        StatusCode::FORBIDDEN,
        "this listener is read-only",
        "use the socket on the management node: provostctl --admin unix:DATA/admin.sock",
    )
}

async fn metrics(State(app): Shared) -> Result<Response, Refusal> {
    let page = app.metrics.page(&app.store.nodes().await?).map_err(|e| {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, e.to_string(), "report this as a bug")
    })?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], page).into_response())
}

/// Names as one text; of many only the first are
/// named.
fn short(names: &[String]) -> String {
    match names.len().checked_sub(MAX_FOLDED) {
        None | Some(0) => nodes::fold(names),
        Some(more) => format!("{} and {more} more", nodes::fold(&names[..MAX_FOLDED])),
    }
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
