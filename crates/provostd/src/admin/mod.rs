pub(crate) mod accounts;
pub(crate) mod changes;
pub(crate) mod enrolment;
pub(crate) mod events;
pub(crate) mod health;
pub(crate) mod published_nodes;
pub(crate) mod request;
pub(crate) mod retention;
pub(crate) mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{from_fn, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use futures_util::stream;
use provost_bundle::Manifest;
use provost_record::Run;
use provost_record::wording::error_chain;
use provost_store::{Node, RunQuery, StoreError, StoredRun, UploadedLog};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::task::spawn_blocking;

use crate::app::App;
use crate::listener::refusal;
use crate::listener::refusal::Refusal;
use crate::listener::{body, host, ranges};
use crate::nodes::history::History;
use crate::nodes::installer::InstallerNeeds;
use crate::nodes::{follow, history};
use crate::web;
use accounts::{May, change};
use enrolment::ShownIdentity;
use request::{absent, expand};

/// The read-only part of the admin API, for the listener at `bound`.
pub(crate) fn read_only(app: Arc<App>, bound: SocketAddr) -> Router {
    router(app)
        .merge(web::files())
        .layer(from_fn(accounts::over_read_only))
        .layer(from_fn_with_state(bound, host::check))
}

/// The read-only part, for the socket of those who may read.
pub(crate) fn over_read_socket(app: Arc<App>) -> Router {
    router(app)
        .merge(web::files())
        .layer(from_fn(accounts::over_read_only))
        .layer(from_fn(host::check_forwarded))
}

/// The whole admin API, for the socket of those who operate. A browser may come by a port that ssh
/// forwards, and bring another site's requests with it.
pub(crate) fn over_socket(app: Arc<App>) -> Router {
    router(app)
        .merge(web::files())
        .layer(from_fn(accounts::over_socket))
        .layer(from_fn(accounts::refuse_other_sites))
        .layer(from_fn(host::check_forwarded))
}

/// What the role of each admin allows, for the TLS listener.
pub(crate) fn over_tls(app: Arc<App>) -> Router {
    accounts::over_tls(&app, router(Arc::clone(&app))).layer(map_response(refusal::in_json))
}

fn router(app: Arc<App>) -> Router {
    let token = change(&app, "token", May::OPERATE, changes::create_tokens);
    let release = change(&app, "release", May::OPERATE, changes::release);
    let remove = change(&app, "remove", May::OPERATE, changes::remove);
    let prune = change(&app, "prune", May::OPERATE, changes::prune);
    let join = change(&app, "join", May::OPERATE, enrolment::join);
    let open = change(&app, "enroll open", May::OPERATE, enrolment::open);
    let close = change(&app, "enroll close", May::OPERATE, enrolment::close);
    let approve = change(&app, "approve", May::OPERATE, enrolment::approve);
    let reject = change(&app, "reject", May::OPERATE, enrolment::reject);
    let revoke = change(&app, "revoke", May::OPERATE, enrolment::revoke);
    let add_admin = change(&app, "admin add", May::All, accounts::add);
    let remove_admin = change(&app, "admin remove", May::All, accounts::remove);
    let api = Router::new()
        .route("/v1/nodes", get(list))
        .route("/v1/nodes/{node}", get(show))
        .route("/v1/nodes/{node}/follow/{script}", get(follow::follow))
        .route("/v1/runs/{run}/records", get(records))
        .route("/v1/runs/{run}/logs/{name}", get(log))
        .route("/v1/events", get(events::stream))
        .route("/v1/pending", get(enrolment::pending))
        .route("/v1/installer", get(installer))
        .route("/v1/scripts", get(scripts))
        .route("/v1/groups", get(groups))
        .route("/v1/tokens", token)
        .route("/v1/release", release)
        .route("/v1/remove", remove)
        .route("/v1/prune", prune.get(changes::prunable))
        .route("/v1/join", join)
        .route("/v1/windows", open.get(enrolment::windows))
        .route("/v1/windows/close", close)
        .route("/v1/approve", approve)
        .route("/v1/reject", reject)
        .route("/v1/revoke", revoke)
        .route("/v1/generations", get(generations))
        .route("/v1/admins", add_admin.get(accounts::list))
        .route("/v1/admins/remove", remove_admin)
        .route("/v1/audit", get(accounts::list_changes))
        .route("/healthz", get(health::health))
        .route("/metrics", get(metrics))
        .with_state(Arc::clone(&app))
        .layer(map_response(refusal::in_json));
    api.merge(web::router(app))
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
    let names = filter.nodes.map(|text| expand(&text)).transpose()?;
    Ok(Json(app.nodes.list(names).await?))
}

/// A node and its newest runs.
#[derive(Serialize)]
struct Shown<'a> {
    node: Node,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity: Option<ShownIdentity>,
    runs: Vec<ShownRun<'a>>,
    /// Whether there are older runs.
    #[serde(skip_serializing_if = "is_false")]
    more: bool,
}

#[derive(Serialize)]
struct ShownRun<'a> {
    #[serde(flatten)]
    run: Run,
    records: Vec<&'a RawValue>,
    /// Whether these are its first records and the last one alone.
    #[serde(skip_serializing_if = "is_false")]
    brief: bool,
}

fn is_false(it: &bool) -> bool {
    !it
}

/// How many runs before those that are shown whole are shown in brief.
const BRIEF_RUNS: usize = 10;

#[derive(Deserialize)]
struct Whole {
    /// How many runs are shown whole.
    runs: Option<usize>,
}

async fn show(
    State(app): Shared,
    Path(name): Path<String>,
    Query(Whole { runs }): Query<Whole>,
) -> Result<Response, Refusal> {
    let node = app.nodes.node(&name).await?;
    // The status may be about an older run, where the newest is a rerun.
    let query = RunQuery { whole: runs.unwrap_or(1), brief: BRIEF_RUNS, also: node.run.clone() };
    let History { newest, uploaded, place } = app.nodes.history(&name, query).await?;
    let runs = newest.runs.iter().flat_map(|run| shown_runs(run, &uploaded)).collect();
    let identity = app.store.identity(&name).await?.map(Into::into);
    let response = Json(Shown { node, identity, runs, more: newest.more }).into_response();
    Ok(response.map(|sent| body::keep(place, sent)))
}

fn shown_runs<'a>(stored: &'a StoredRun, uploaded: &BTreeSet<UploadedLog>) -> Vec<ShownRun<'a>> {
    let of_service = |run: Run| {
        let records = stored.reports.iter().filter(|r| r.record.service == run.service);
        ShownRun { records: records.map(|r| &*r.json).collect(), run, brief: stored.is_brief }
    };
    history::runs_of(stored, uploaded).into_iter().map(of_service).collect()
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
        (header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8")),
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

async fn installer(State(app): Shared) -> Result<Json<InstallerNeeds>, Refusal> {
    app.installer.needs().await.map(Json)
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

async fn metrics(State(app): Shared) -> Result<Response, Refusal> {
    app.metrics.deliveries.queued(app.store.queue_lengths().await?);
    let begun = Instant::now();
    let statuses = app.store.statuses().await?;
    app.metrics.store_took("nodes", begun.elapsed());
    let page = app.metrics.page(&statuses, app.pending.count()).map_err(|e| {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, e.to_string(), "report this as a bug")
    })?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], page).into_response())
}
