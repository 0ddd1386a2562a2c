pub(crate) mod accounts;
pub(crate) mod changes;
pub(crate) mod enrolment;
pub(crate) mod events;
pub(crate) mod generations;
pub(crate) mod health;
pub(crate) mod jobs;
pub(crate) mod node_changes;
pub(crate) mod published_nodes;
pub(crate) mod request;
pub(crate) mod retention;
pub(crate) mod run_history;
pub(crate) mod state;
pub(crate) mod tokens;

use std::collections::BTreeSet;
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
use provost_api::admins::{self as api, Expiring, Groups, NodeIdentity, Scripts};
use provost_api::published;
use provost_bundle::Manifest;
use provost_record::Run;
use provost_steplog::wording::error_chain;
use provost_store::{Node, RunQuery, Store, StoreError, StoredRun, UploadedLog};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::task::spawn_blocking;

use crate::fleet::expiry::Expiry;
use crate::listener::refusal;
use crate::listener::refusal::Refusal;
use crate::listener::{body, host, ranges};
use crate::metrics::Metrics;
use crate::nodes::history::{History, KnownNodes};
use crate::nodes::installer::Installer;
use crate::nodes::pending::Pending;
use crate::nodes::{follow, history, host_keys};
use crate::published::PublishedFolder;
use accounts::{Logins, May};
use request::{absent, expand};
pub(crate) use state::AdminState;

/// The read-only part of the admin API, for the listener at `bound`.
pub(crate) fn read_only(api: Router, bound: SocketAddr) -> Router {
    api.layer(from_fn(accounts::over_read_only)).layer(from_fn_with_state(bound, host::check))
}

/// The read-only part, for the socket of those who may read.
pub(crate) fn over_read_socket(api: Router) -> Router {
    api.layer(from_fn(accounts::over_read_only)).layer(from_fn(host::check_forwarded))
}

/// The whole admin API, for the socket of those who operate. A browser may come by a port that ssh
/// forwards, and bring another site's requests with it.
pub(crate) fn over_socket(api: Router) -> Router {
    api.layer(from_fn(accounts::over_socket))
        .layer(from_fn(accounts::refuse_other_sites))
        .layer(from_fn(host::check_forwarded))
}

/// What the role of each admin allows, for the TLS listener, and what is `open` to all.
pub(crate) fn over_tls(logins: Arc<Logins>, api: Router, open: Router) -> Router {
    accounts::over_tls(logins, api, open).layer(map_response(refusal::in_json))
}

/// The admin API, of an actor whom a listener knows.
pub(crate) fn router(state: AdminState) -> Router {
    let audit = &state.audit;
    let add_admin = audit.change("admin add", May::All, accounts::add);
    let remove_admin = audit.change("admin remove", May::All, accounts::remove);
    Router::new()
        .route(api::NODES.0, get(list))
        .route(api::NODE.0, get(show))
        .route(api::CHANGES.0, get(node_changes::changes))
        .route(api::PUBLICATIONS.0, get(node_changes::publications))
        .route(api::FOLLOW.0, get(follow::follow))
        .route(api::RUN_RECORDS.0, get(records))
        .route(api::RUN_LOG.0, get(log))
        .route(api::EVENTS.0, get(events::stream))
        .route(api::INSTALLER.0, get(installer))
        .route(api::SCRIPTS.0, get(scripts))
        .route(api::GROUPS.0, get(groups))
        .route(api::EXPIRY.0, get(expiring))
        .route(api::HISTORY.0, get(run_history::history))
        .route(api::SSH_AUTHORITY.0, get(host_keys::authority))
        .route(api::GENERATIONS.0, get(generations::generations))
        .route(api::ADMINS.0, add_admin.get(accounts::list))
        .route(api::REMOVE_ADMIN.0, remove_admin)
        .route(api::AUDIT.0, get(accounts::list_changes))
        .route(api::HEALTH.0, get(health::health))
        .route(api::METRICS.0, get(metrics))
        .merge(changes::routes(audit))
        .merge(enrolment::routes(audit))
        .with_state(state)
        .layer(map_response(refusal::in_json))
}

type StoreState = State<Arc<dyn Store>>;
type Www = State<PublishedFolder>;

#[derive(Deserialize)]
struct Filter {
    nodes: Option<String>,
}

async fn list(
    State(known): State<Arc<KnownNodes>>,
    Query(filter): Query<Filter>,
) -> Result<Json<Vec<Node>>, Refusal> {
    let names = filter.nodes.map(|text| expand(&text)).transpose()?;
    Ok(Json(known.list(names).await?))
}

/// A node and its newest runs.
#[derive(Serialize)]
struct Shown<'a> {
    node: Node,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity: Option<NodeIdentity>,
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
    State(store): StoreState,
    State(known): State<Arc<KnownNodes>>,
    Path(name): Path<String>,
    Query(Whole { runs }): Query<Whole>,
) -> Result<Response, Refusal> {
    let node = known.node(&name).await?;
    // The status may be about an older run, where the newest is a rerun.
    let query = RunQuery { whole: runs.unwrap_or(1), brief: BRIEF_RUNS, also: node.run.clone() };
    let History { newest, uploaded, place } = known.history(&name, query).await?;
    let runs = newest.runs.iter().flat_map(|run| shown_runs(run, &uploaded)).collect();
    let identity = store.identity(&name).await?.map(enrolment::shown);
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

async fn records(State(store): StoreState, Path(run): Path<String>) -> Result<Response, Refusal> {
    node_of_run(&*store, &run).await?;
    let parts = stream::try_unfold(Some(0), move |after| {
        let (store, run) = (Arc::clone(&store), run.clone());
        async move {
            let Some(after) = after else { return Ok(None) };
            let part = store.records(&run, after).await?;
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
    State(store): StoreState,
    Path((run, name)): Path<(String, String)>,
    requested: HeaderMap,
) -> Result<Response, Refusal> {
    let node = node_of_run(&*store, &run).await?;
    let missing = || {
        let what = format!("node {node} has uploaded no log {name:?} of run {run}");
        let hint = format!(
            "logs of successful scripts are uploaded with `logs = \"all\"` under [report] in provost.toml; read it on the node: ssh {node} provost log"
        );
        absent(what, hint)
    };
    let log = UploadedLog { run: run.clone(), name: name.clone() };
    // A name that can't be a file's is that of no log.
    let known = store.logs(&node).await?.contains(&log);
    let bytes = if known { store.log(&node, &log).await? } else { None };
    // The bytes are a script's, so no client may take them for anything but text.
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    Ok((headers, ranges::in_range(&requested, bytes.ok_or_else(missing)?)).into_response())
}

async fn node_of_run(store: &dyn Store, run: &str) -> Result<String, Refusal> {
    let node = store.node_of_run(run).await?;
    node.ok_or_else(|| {
        absent(format!("unknown run {run:?}"), "list a node's runs: provostctl show NODE")
    })
}

async fn installer(State(installer): State<Installer>) -> Result<Json<api::Installer>, Refusal> {
    installer.needs().await.map(Json)
}

/// The published scripts, and the manifest that names them.
async fn scripts(State(www): Www) -> Json<Scripts> {
    let text = tokio::fs::read(www.join(published::MANIFEST)).await.ok();
    let manifest = text.and_then(|text| Manifest::parse(&text).ok());
    Json(Scripts {
        format: manifest.as_ref().map(|manifest| manifest.format),
        generation: manifest.as_ref().map(|manifest| manifest.generation),
        scripts: manifest.map(|m| m.files.into_iter().map(|file| file.path).collect()),
    })
}

/// The groups of the published site, each with its nodes, folded.
async fn groups(State(www): Www) -> Result<Json<Groups>, Refusal> {
    let groups = spawn_blocking(move || provost_publish::groups(&www, None))
        .await?
        .map_err(|e| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error_chain(&e), e.hint()))?;
    Ok(Json(Groups { groups }))
}

async fn expiring(State(expiry): State<Arc<Expiry>>) -> Result<Json<Vec<Expiring>>, Refusal> {
    Ok(Json(expiry.list().await?))
}

async fn metrics(
    State(store): StoreState,
    State(metrics): State<Arc<Metrics>>,
    State(pending): State<Arc<Pending>>,
    State(expiry): State<Arc<Expiry>>,
    State(known): State<Arc<KnownNodes>>,
) -> Result<Response, Refusal> {
    metrics.expiry.show(&expiry.list().await?);
    metrics.deliveries.queued(store.queue_lengths().await?);
    metrics.slow.set(known.slow().await? as i64);
    let begun = Instant::now();
    let statuses = known.statuses().await?;
    metrics.store_took("nodes", begun.elapsed());
    let page = metrics.page(&statuses, pending.count(), known.over_quota());
    let page = page.map_err(Refusal::bug)?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], page).into_response())
}
