//! What admins change of nodes.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use jiff::{SignedDuration, Timestamp};
use provost_api::admins::{
    self as api, BootsRequest, Named, NodesRequest, Released, TokensRequest,
};
use provost_record::{Service, now};
use provost_store::{PruneScope, Pruned, RunQuery, Store};
use serde_json::json;
use tokio::task::spawn_blocking;

use super::accounts::{AuditLog, May};
use super::request::{absent, expand, read_json, short};
use super::retention::Pruner;
use super::state::AdminState;
use super::{published_nodes, tokens};
use crate::fleet::Fleet;
use crate::listener::refusal::Refusal;
use crate::nodes::history;
use crate::nodes::history::KnownNodes;
use crate::nodes::pending::Pending;
use crate::notify::program::Hook;
use crate::published::PublishedFolder;

/// The event of a hook that continues a node.
const CONTINUE: &str = "continue";
/// Among how many of a node's newest runs its last kickstart or boot is looked for.
const LATEST: usize = 100;

/// A request about nodes.
const EXAMPLE: &str = r#"{"nodes": ["cn[001-004]"]}"#;

type StoreState = State<Arc<dyn Store>>;
type FleetState = State<Arc<Fleet>>;

/// The routes of these changes.
pub(super) fn routes(audit: &AuditLog) -> Router<AdminState> {
    let prune = audit.change("prune", May::OPERATE, prune);
    Router::new()
        .route(api::TOKENS.0, audit.change("token", May::OPERATE, create_tokens))
        .route(api::RELEASE.0, audit.change("release", May::OPERATE, release))
        .route(api::REMOVE.0, audit.change("remove", May::OPERATE, remove))
        .route(api::BOOTS.0, audit.change("boot", May::OPERATE, note_boots))
        .route(api::PRUNE.0, prune.get(prunable))
}

/// The nodes that a request names.
async fn read_nodes(body: Body) -> Result<Vec<String>, Refusal> {
    let request: NodesRequest = read_json(body, EXAMPLE).await?;
    expand(&request.nodes.join(","))
}

async fn create_tokens(
    State(store): StoreState,
    State(www): State<PublishedFolder>,
    State(fleet): FleetState,
    body: Body,
) -> Result<Response, Refusal> {
    let request: TokensRequest = read_json(body, EXAMPLE).await?;
    let mut nodes = expand(&request.nodes.join(","))?;
    if !request.force {
        let checked = spawn_blocking(move || published_nodes::check(&www, nodes)).await?;
        nodes = checked.map_err(|unknown| {
            let unknown = short(&unknown);
            let hint = format!(
                "correct the name; or name it in site.toml and publish; or: provostctl token --force {unknown}"
            );
            absent(format!("no token was created: {unknown} isn't in what is published"), hint)
        })?;
    }
    if request.missing {
        nodes = store.without_token(nodes).await?;
    }
    tracing::info!("new tokens for {}", short(&nodes));
    let milliseconds = |ms| SignedDuration::from_millis(i64::try_from(ms).unwrap_or(i64::MAX));
    let overlap = request.overlap_ms.map(milliseconds);
    let names = nodes.clone();
    let created = tokens::create(&*store, nodes, overlap, now()).await?;
    fleet.touch(&names);
    Ok(Json(created).into_response())
}

pub(crate) async fn release(
    State(store): StoreState,
    State(fleet): FleetState,
    body: Body,
) -> Result<Json<Vec<Released>>, Refusal> {
    let nodes = read_nodes(body).await?;
    let all = short(&nodes);
    // Not cut to a second: a run may have begun in the same one.
    let released = store.release(nodes, Timestamp::now()).await?.map_err(|unknown| {
        let unknown = short(&unknown);
        absent(
            format!("no node was released: unknown {unknown}"),
            "list all nodes: provostctl nodes",
        )
    })?;
    tracing::info!("released {all}");
    fleet.touch(&released.iter().map(|released| released.node.clone()).collect::<Vec<_>>());
    let shown = |r: provost_store::Released| Released { node: r.node, attempts: r.attempts };
    Ok(Json(released.into_iter().map(shown).collect()))
}

pub(crate) async fn remove(
    State(known): State<Arc<KnownNodes>>,
    State(fleet): FleetState,
    State(pending): State<Arc<Pending>>,
    body: Body,
) -> Result<Json<Vec<Named>>, Refusal> {
    let nodes = read_nodes(body).await?;
    known.remove(&nodes).await?.map_err(|unknown| {
        let unknown = short(&unknown);
        absent(
            format!("no node was removed: unknown {unknown}"),
            "list all nodes: provostctl nodes; one that has never reported may be in site.toml alone",
        )
    })?;
    fleet.touch(&nodes);
    tracing::info!("removed {}", short(&nodes));
    nodes.iter().for_each(|node| pending.remove(node));
    Ok(Json(nodes.into_iter().map(|node| Named { node }).collect()))
}

/// Notes that nodes were sent a boot by ssh, so that nobody takes the status that they have for its outcome.
async fn note_boots(State(store): StoreState, body: Body) -> Result<Json<Vec<Named>>, Refusal> {
    let request: BootsRequest = read_json(body, EXAMPLE).await?;
    let at = (!request.withdrawn).then(Timestamp::now);
    let known = store.note_boot_sent(expand(&request.nodes.join(","))?, at).await?;
    Ok(Json(known.into_iter().map(|node| Named { node }).collect()))
}

/// Has nodes run what they left unfinished, by the program that the site has for it.
pub(crate) async fn go_on(
    State(store): StoreState,
    State(hook): State<Option<Arc<Hook>>>,
    body: Body,
) -> Result<StatusCode, Refusal> {
    let nodes = read_nodes(body).await?;
    let all = short(&nodes);
    let by_hand = format!("provostctl continue {all}");
    let Some(hook) = hook else {
        let error = format!("continuing {all}: provostd can't log in to nodes");
        let hint = format!("{by_hand}; or set on_continue under [hooks] of provostd.toml");
        return Err(Refusal::new(StatusCode::NOT_FOUND, error, hint));
    };
    for node in nodes {
        let command = unfinished(&*store, &node).await?;
        store.note_boot_sent(vec![node.clone()], Some(Timestamp::now())).await?;
        let message = json!({ "event": CONTINUE, "nodes": node, "count": 1, "command": command });
        let variables = [
            ("PROVOST_EVENT", CONTINUE),
            ("PROVOST_NODES", &node),
            ("PROVOST_COUNT", "1"),
            ("PROVOST_COMMAND", command),
        ];
        if let Err(failure) = hook.run(&variables, message.to_string().into_bytes()).await {
            store.note_boot_sent(vec![node.clone()], None).await?;
            let line = failure.line.map(|line| format!(": {line}")).unwrap_or_default();
            let error = format!("continuing {node}: {}{line}", failure.why);
            let hint =
                format!("see what it printed in provostd's log; or from your machine: {by_hand}");
            return Err(Refusal::new(StatusCode::BAD_GATEWAY, error, hint));
        }
    }
    tracing::info!("continued {all}");
    Ok(StatusCode::ACCEPTED)
}

/// The command that runs what the last kickstart or boot of `node` left unfinished.
async fn unfinished(store: &dyn Store, node: &str) -> Result<&'static str, Refusal> {
    if store.node(node).await?.is_none() {
        return Err(Refusal::unknown_node(node));
    }
    let query = RunQuery { brief: LATEST, ..RunQuery::newest(1) };
    let stored = store.runs(node, query).await?.runs;
    let mut runs = stored.iter().flat_map(|run| history::runs_of(run, &BTreeSet::new()));
    let last = runs.find_map(|run| {
        let service = Service::ALL.into_iter().find(|service| service.as_str() == run.service);
        service?.continue_command()
    });
    Ok(last.or_else(|| Service::Boot.continue_command()).unwrap_or_default())
}

/// What of the history would be removed now.
async fn prunable(State(pruner): State<Arc<Pruner>>) -> Result<Json<Pruned>, Refusal> {
    Ok(Json(pruner.prunable().await?))
}

async fn prune(State(pruner): State<Arc<Pruner>>) -> Result<Json<Pruned>, Refusal> {
    Ok(Json(pruner.prune(PruneScope::Everywhere).await?))
}
