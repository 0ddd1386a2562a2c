//! What admins change of nodes.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use jiff::{SignedDuration, Timestamp};
use provost_api::admins::{
    self as api, BootsRequest, Named, NodesRequest, Released, TokensRequest,
};
use provost_record::now;
use provost_store::{PruneScope, Pruned, Store};
use tokio::task::spawn_blocking;

use super::accounts::{AuditLog, May};
use super::request::{absent, expand, read_json, short};
use super::retention::Pruner;
use super::state::AdminState;
use super::{published_nodes, tokens};
use crate::fleet::Fleet;
use crate::listener::refusal::Refusal;
use crate::nodes::history::KnownNodes;
use crate::nodes::pending::Pending;
use crate::published::PublishedFolder;

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
            "list all nodes: provostctl nodes",
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

/// What of the history would be removed now.
async fn prunable(State(pruner): State<Arc<Pruner>>) -> Result<Json<Pruned>, Refusal> {
    Ok(Json(pruner.prunable().await?))
}

async fn prune(State(pruner): State<Arc<Pruner>>) -> Result<Json<Pruned>, Refusal> {
    Ok(Json(pruner.prune(PruneScope::Everywhere).await?))
}
