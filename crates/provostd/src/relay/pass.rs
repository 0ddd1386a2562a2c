//! What a relay passes on to an upstream as it is, and the answer back: a node's plan, its beats, and
//! whatever it doesn't know itself. A plan is kept for the time in which no upstream can be reached.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use provost_record::wording::error_chain;
use serde_json::json;

use super::guard;
use super::known;
use super::shared::{Relay, away};
use super::spool::KeptPlan;
use super::upstream::{self, Answer, PATIENCE};
use crate::bundle::{Published, names, refuse_secrets};
use crate::connections::Connection;
use crate::guard as directives;
use crate::nodes_api::MAX_BATCH;
use crate::refusal::Refusal;

/// What is about one connection alone (RFC 9110, 7.6.1), or is made anew.
const OF_A_CONNECTION: [HeaderName; 8] = [
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::HOST,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
];

pub(super) async fn pass(
    State(relay): State<Arc<Relay>>,
    Extension(by): Extension<Arc<Connection>>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    // The answer is kept nowhere, and goes on over TLS alone.
    if request.uri().path().starts_with("/secrets/") && !by.is_private() {
        return Ok(refuse_secrets());
    }
    let (parts, body) = request.into_parts();
    let mut body = relay.bodies.read(body, MAX_BATCH).await?;
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let plan = Published::plan_of_path(parts.uri.path()).filter(|_| parts.method == Method::GET);
    let token = known::token(&parts.headers);
    let outgoing = upstream::Request {
        method: parts.method,
        path,
        headers: end_to_end(&parts.headers),
        body: Bytes::from(std::mem::take(&mut body.bytes)),
        patience: PATIENCE,
    };
    relay.metrics.asked();
    let answer = relay.upstreams.send(&outgoing, |_| Ok(())).await;
    let (Some(node), Some(token)) = (plan, token) else {
        return answer.map(whole).map_err(|_| away());
    };
    match answer {
        Ok(answer) => {
            note(&relay, node, token, path, &answer, &by).await;
            Ok(whole(answer))
        }
        Err(_) if relay.known.directive(node, token).is_some() => {
            by.has_token();
            kept(&relay, node, path, token, &parts.headers).await
        }
        Err(_) => Err(away()),
    }
}

/// Notes what an upstream has answered to a request for a node's plan.
async fn note(
    relay: &Relay,
    node: &str,
    token: &str,
    path: &str,
    answer: &Answer,
    by: &Connection,
) {
    match answer.status {
        StatusCode::OK | StatusCode::NOT_MODIFIED => by.has_token(),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            return relay.known.refuse(node, token);
        }
        _ => return,
    }
    relay.known.accept(&relay.spool, node, token, directive(&answer.headers)).await;
    let bundle = answer.headers.get("provost-bundle").and_then(|value| value.to_str().ok());
    if let Some(generation) = bundle.and_then(|generation| generation.parse().ok()) {
        relay.cache.name(generation);
    }
    let plan = match answer.status {
        StatusCode::OK => Some(KeptPlan {
            token: token.to_owned(),
            headers: lasting(&answer.headers).collect(),
            body: answer.body.to_vec(),
        }),
        _ => {
            let plan = relay.spool.plan(path).await.ok().flatten();
            plan.filter(|plan| plan.token == token).and_then(|plan| renewed(plan, answer))
        }
    };
    let Some(plan) = plan else { return };
    if let Err(error) = relay.spool.keep_plan(path, plan).await {
        // The one that is kept is older.
        relay.known.doubt(node);
        tracing::error!(hint = error.hint(), "keeping the plan of {node}: {}", error_chain(&error));
    }
}

/// The plan that is kept, of which an upstream has just said that it hasn't changed, with what else it
/// has said. None where that is nothing new.
fn renewed(plan: KeptPlan, answer: &Answer) -> Option<KeptPlan> {
    let mut headers: BTreeMap<_, _> = plan.headers.iter().cloned().collect();
    headers.retain(|name, _| !name.starts_with("provost-"));
    headers.extend(lasting(&answer.headers));
    let last: BTreeMap<_, _> = plan.headers.iter().cloned().collect();
    // The node may have one that this relay hasn't.
    let is_it = last.get(header::ETAG.as_str()) == headers.get(header::ETAG.as_str());
    (is_it && headers != last).then(|| KeptPlan { headers: headers.into_iter().collect(), ..plan })
}

/// The headers of an answer that hold for as long as it is kept.
fn lasting(headers: &HeaderMap) -> impl Iterator<Item = (String, String)> {
    let headers = end_to_end(headers);
    headers.into_iter().filter_map(|(name, value)| {
        let name = name.filter(|name| *name != header::DATE)?;
        Some((name.to_string(), value.to_str().ok()?.to_owned()))
    })
}

/// What a plan's headers say that the node has to do, as an answer to records says it.
fn directive(headers: &HeaderMap) -> Option<String> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let directive = text("provost-directive")?;
    let said = match text("provost-reason") {
        Some(reason) => json!({ "directive": directive, "reason": reason }),
        None => json!({ "directive": directive }),
    };
    Some(said.to_string())
}

/// What was answered last to who had this token. A node whose spooled attempts are too many is held.
async fn kept(
    relay: &Relay,
    node: &str,
    path: &str,
    token: &str,
    asked: &HeaderMap,
) -> Result<Response, Refusal> {
    let plan = relay.spool.plan(path).await?.filter(|plan| plan.token == token).ok_or_else(away)?;
    let header = |(name, value): &(String, String)| {
        Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?))
    };
    let mut headers: HeaderMap = plan.headers.iter().filter_map(header).collect();
    let standing = guard::standing(relay, node, directives::current_run(asked)).await?;
    if standing.attempts >= relay.budget.get() {
        directives::add_directive(&mut headers, &standing, relay.budget);
    }
    let has_it = match (asked.get(header::IF_NONE_MATCH), headers.get(header::ETAG)) {
        (Some(theirs), Some(tag)) => names(theirs, tag),
        _ => false,
    };
    match has_it {
        true => Ok((StatusCode::NOT_MODIFIED, headers).into_response()),
        false => Ok((StatusCode::OK, headers, plan.body).into_response()),
    }
}

/// An upstream's answer, for a node.
pub(super) fn whole(answer: Answer) -> Response {
    (answer.status, end_to_end(&answer.headers), answer.body).into_response()
}

/// The same of one whose body is still to come.
pub(super) fn streamed(response: reqwest::Response) -> Response {
    let (status, headers) = (response.status(), end_to_end(response.headers()));
    (status, headers, Body::from_stream(response.bytes_stream())).into_response()
}

/// The headers that are for the other end.
pub(super) fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    OF_A_CONNECTION.iter().for_each(|name| drop(headers.remove(name)));
    headers
}
