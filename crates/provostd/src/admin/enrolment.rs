//! What admins do about nodes' identities.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use jiff::Timestamp;
use provost_api::admins::{
    self as api, Approved, CloseRequest, Closed, KeyRequest, NewJoin, NodeIdentity, NodesRequest,
    PendingNode, Rejected, Revoked, TimeRequest, Window,
};
use provost_bundle::Fingerprint;
use provost_plan::nodes::fold;
use provost_record::now;
use provost_store::{Identity, Join, Network, NotPending};

use super::accounts::{AuditLog, May};
use super::published_nodes;
use super::request::{after, expand, read_json, short};
use super::state::AdminState;
use crate::listener::refusal::Refusal;
use crate::listener::token;
use crate::nodes::enrolment::Enrolment;

type Shared = State<Arc<Enrolment>>;

/// A request about nodes, and one about a key.
const NODES: &str = r#"{"nodes": ["cn[001-004]"], "forMs": 1800000}"#;
const JOIN: &str = "compare the command with: provostctl join --help";
const PENDING: &str = "copy it from: provostctl pending";
const KEY: &str = r#"{"node": "cn001", "key": "SHA256:…"}"#;

/// The routes of enrolment.
pub(super) fn routes(audit: &AuditLog) -> Router<AdminState> {
    let open = audit.change("enroll open", May::OPERATE, open);
    Router::new()
        .route(api::PENDING.0, get(pending))
        .route(api::JOIN.0, audit.change("join", May::OPERATE, join))
        .route(api::WINDOWS.0, open.get(windows))
        .route(api::CLOSE_WINDOWS.0, audit.change("enroll close", May::OPERATE, close))
        .route(api::APPROVE.0, audit.change("approve", May::OPERATE, approve))
        .route(api::REJECT.0, audit.change("reject", May::OPERATE, reject))
        .route(api::REVOKE.0, audit.change("revoke", May::OPERATE, revoke))
}

/// Reads a request for some time: the nodes, which are published, the end, and the network.
async fn read_time(
    www: &Path,
    body: Body,
) -> Result<(Vec<String>, Timestamp, Option<Network>), Refusal> {
    let request: TimeRequest = read_json(body, NODES).await?;
    let nodes = expand(&request.nodes.join(","))?;
    let nodes = published_nodes::checked(www, nodes).await?;
    published_nodes::check_tls(www).await?;
    let until = after(now(), request.for_ms);
    let from = request.from.as_deref().map(|from| parse::<Network>(from, JOIN)).transpose()?;
    Ok((nodes, until, from))
}

fn parse<T: FromStr<Err: std::fmt::Display>>(text: &str, hint: &str) -> Result<T, Refusal> {
    text.parse()
        .map_err(|e: T::Err| Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, e.to_string(), hint))
}

pub(crate) async fn join(
    State(enrolment): Shared,
    body: Body,
) -> Result<Json<Vec<NewJoin>>, Refusal> {
    let (nodes, until, from) = read_time(&enrolment.www, body).await?;
    tracing::info!("join tokens until {until} for {}", short(&nodes));
    let new = |node| Ok::<_, Refusal>(NewJoin { node, token: token::random()? });
    let new = nodes.into_iter().map(new).collect::<Result<Vec<_>, _>>()?;
    let since = now();
    let stored = |new: &NewJoin| Join {
        node: new.node.clone(),
        sha256: token::digest(&new.token),
        since,
        until,
        from,
    };
    enrolment.store.set_joins(new.iter().map(stored).collect()).await?;
    Ok(Json(new))
}

pub(crate) async fn open(State(enrolment): Shared, body: Body) -> Result<Json<Window>, Refusal> {
    let (nodes, until, _) = read_time(&enrolment.www, body).await?;
    tracing::info!("enrolment is open until {until} for {}", short(&nodes));
    enrolment.store.open_windows(nodes.clone(), until).await?;
    enrolment.wake(&nodes);
    let without_effect = fold(&enrolment.without_effect(&nodes).await?);
    Ok(Json(Window { nodes: fold(&nodes), until, without_effect }))
}

/// The windows that are open to their nodes, those with the same end together.
pub(crate) async fn windows(State(enrolment): Shared) -> Result<Json<Vec<Window>>, Refusal> {
    let windows = enrolment.store.windows(now()).await?;
    let nodes: Vec<String> = windows.iter().map(|(node, _)| node.clone()).collect();
    // Of a node that has an identity or has booted, it is closed.
    let closed: HashSet<String> = enrolment.without_effect(&nodes).await?.into_iter().collect();
    let mut by_end: BTreeMap<Timestamp, Vec<String>> = BTreeMap::new();
    for (node, until) in windows.into_iter().filter(|(node, _)| !closed.contains(node)) {
        by_end.entry(until).or_default().push(node);
    }
    let shown = |(until, nodes): (Timestamp, Vec<String>)| Window {
        nodes: fold(&nodes),
        until,
        without_effect: String::new(),
    };
    Ok(Json(by_end.into_iter().map(shown).collect()))
}

pub(crate) async fn close(State(enrolment): Shared, body: Body) -> Result<Json<Closed>, Refusal> {
    let request: CloseRequest = read_json(body, NODES).await?;
    let nodes = request.nodes.map(|nodes| expand(&nodes.join(","))).transpose()?;
    let closed = enrolment.store.close_windows(nodes, now()).await?;
    tracing::info!("enrolment is closed for {}", short(&closed));
    Ok(Json(Closed { nodes: fold(&closed) }))
}

/// Reads which key of a node is meant.
async fn read_key(body: Body) -> Result<(String, Option<Fingerprint>), Refusal> {
    let KeyRequest { node, key } = read_json(body, KEY).await?;
    Ok((node, key.as_deref().map(|key| parse(key, PENDING)).transpose()?))
}

pub(crate) async fn approve(
    State(enrolment): Shared,
    body: Body,
) -> Result<Json<Approved>, Refusal> {
    let (node, key) = read_key(body).await?;
    let (at, named) = (now(), key.map(|key| key.0));
    let until = enrolment.until(at);
    let approved = enrolment.store.approve(&node, named, until, at).await?;
    let key = Fingerprint(approved.map_err(|why| not_pending(&node, "approve", why))?);
    tracing::info!("approved {key} as {node}'s identity until {until}");
    enrolment.wake(std::slice::from_ref(&node));
    Ok(Json(Approved { node, key: key.to_string(), until }))
}

pub(crate) async fn reject(
    State(enrolment): Shared,
    body: Body,
) -> Result<Json<Rejected>, Refusal> {
    let (node, key) = read_key(body).await?;
    let rejected = enrolment.store.reject(&node, key.map(|key| key.0)).await?;
    let key = Fingerprint(rejected.map_err(|why| not_pending(&node, "reject", why))?);
    tracing::info!("rejected {key}, which asked to be {node}'s identity");
    enrolment.wake(std::slice::from_ref(&node));
    Ok(Json(Rejected { node, key: key.to_string() }))
}

fn not_pending(node: &str, verb: &str, why: NotPending) -> Refusal {
    let (status, error, hint) = match why {
        NotPending::None => (
            StatusCode::NOT_FOUND,
            format!("no such key of {node} is pending"),
            "list all: provostctl pending".to_owned(),
        ),
        NotPending::Many(keys) => {
            let keys: Vec<_> = keys.into_iter().map(|key| Fingerprint(key).to_string()).collect();
            (
                StatusCode::CONFLICT,
                format!("{} keys of {node} are pending: {}", keys.len(), keys.join(", ")),
                format!("name the one that its console shows: provostctl {verb} {node} SHA256:…"),
            )
        }
        NotPending::OtherNodes(other) => (
            StatusCode::CONFLICT,
            format!("the key is {other}'s"),
            format!(
                "remove STATE/id and STATE/id.crt on {node}, and from the image that both were made of"
            ),
        ),
    };
    Refusal::new(status, error, hint)
}

pub(crate) async fn revoke(
    State(enrolment): Shared,
    body: Body,
) -> Result<Json<Vec<Revoked>>, Refusal> {
    let request: NodesRequest = read_json(body, NODES).await?;
    let nodes = expand(&request.nodes.join(","))?;
    let revoked = enrolment.store.revoke(nodes.clone(), now()).await?.map_err(|unknown| {
        Refusal::new(
            StatusCode::NOT_FOUND,
            format!("no node was revoked: unknown {}", short(&unknown)),
            "list all nodes: provostctl nodes",
        )
    })?;
    tracing::info!("revoked {}", short(&nodes));
    enrolment.wake(&nodes);
    let keys: BTreeMap<String, String> = revoked
        .into_iter()
        .map(|identity| (identity.node, Fingerprint(identity.key).to_string()))
        .collect();
    let shown = |node: String| Revoked { key: keys.get(&node).cloned(), node };
    Ok(Json(nodes.into_iter().map(shown).collect()))
}

/// A node's identity, as it is shown.
pub(crate) fn shown(identity: Identity) -> NodeIdentity {
    let Identity { key, since, until, revoked, .. } = identity;
    NodeIdentity { key: Fingerprint(key).to_string(), since, until, revoked }
}

/// The nodes that can't get on, and the keys that wait for an admin, by node.
pub(crate) async fn pending(State(enrolment): Shared) -> Result<Json<Vec<PendingNode>>, Refusal> {
    Ok(Json(enrolment.waiting().await?))
}
