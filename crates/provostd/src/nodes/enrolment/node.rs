//! What a node asks for: a certificate for its key.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use provost_api::nodes::EnrolmentPending;
use provost_api::{AuthFailure, headers as api, published};
use provost_bundle::Fingerprint;
use provost_plan::{Plan, is_node_name};
use provost_record::now;
use provost_steplog::wording::error_chain;
use provost_store::{Enrolled, EnrolmentRefusal, EnrolmentRequest, KEYS_OF_CLIENT, KEYS_OF_NODE};
use tokio::time::Instant;

use super::Enrolment;
use super::csr;
use super::csr::ProvedKey;
use crate::listener::bodies::Bodies;
use crate::listener::connections::Connection;
use crate::listener::refusal::Refusal;
use crate::listener::token;

/// The longest that a request is held which has to wait for an admin. A node takes no longer silence.
const MOST_WAIT: Duration = Duration::from_secs(10);
/// The variable of a plan that has its node's address, as in xCAT's environment.
const ADDRESS: &str = "IPADDR";

/// `POST /v1/nodes/NODE/enroll`: a request for a certificate, with a join token or without. The
/// answer is the certificate, PEM; or 202, where an admin has to approve it. With `Prefer: wait=10`
/// (RFC 7240) the request waits for that.
pub(crate) async fn enroll(
    State(enrolment): State<Arc<Enrolment>>,
    State(bodies): State<Arc<Bodies>>,
    Extension(by): Extension<Arc<Connection>>,
    Path(node): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let body = bodies.read(body, csr::MAX).await?;
    if !by.is_private() {
        return Err(Refusal::new(
            StatusCode::FORBIDDEN,
            "nodes enrol over TLS only",
            "use the port that `provostd ca show` names",
        ));
    }
    let planned = planned_address(&enrolment, &node).await.inspect_err(|refusal| {
        if refusal.status == StatusCode::NOT_FOUND {
            let why = AuthFailure::Unpublished;
            enrolment.pending.add(&node, by.address(), why, &refusal.hint);
        }
    })?;
    let proved = ProvedKey::of_request(&body.bytes)?;
    let key = proved.fingerprint;
    let request = |at: Timestamp| EnrolmentRequest {
        node: node.clone(),
        key: key.0,
        join: token::bearer(&headers).map(token::digest),
        by: by.address(),
        planned,
        is_proven: by.key() == Some(key.0),
        until: enrolment.until(at),
    };
    let mut heard = enrolment.changed.subscribe();
    let end = Instant::now() + wait(&headers);
    let (until, is_new) = loop {
        // Not cut to a second: a short time may be over in the same one.
        match enrolment.store.enrol(request(now()), Timestamp::now()).await? {
            Enrolled::Identity { until, is_new } => break (until, is_new),
            Enrolled::Refused(why) => {
                let refusal = refusal(&node, &key, by.address(), &why);
                if let Some(why) = shown_as(&why) {
                    enrolment.pending.add(&node, by.address(), why, &refusal.hint);
                }
                return Err(refusal);
            }
            Enrolled::Pending if Instant::now() < end => {
                let rest = end.saturating_duration_since(Instant::now());
                Enrolment::wait(&mut heard, &node, rest).await;
            }
            Enrolled::Pending => {
                enrolment.pending.tell.tell_key(&node, &key.to_string());
                let mut response = pending(&node, &key);
                if enrolment.takes_window(&node).await? {
                    let window = HeaderValue::from_static(api::WINDOW);
                    response.headers_mut().insert(api::IDENTITY, window);
                }
                return Ok(response);
            }
        }
    };
    if is_new {
        tracing::info!("{node} at {} has the identity {key} now", by.address());
    }
    enrolment.pending.let_in(&node, by.address());
    let certificate = certificate(&enrolment, &node, &proved, until)?;
    let text = format!("node: {node}\nkey: {key}\nuntil: {until}\n{certificate}");
    let kind = HeaderValue::from_static("application/x-pem-file");
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

fn certificate(
    enrolment: &Enrolment,
    node: &str,
    proved: &ProvedKey,
    until: Timestamp,
) -> Result<String, Refusal> {
    let failed =
        |error: String, hint: String| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error, hint);
    let Some(authority) = &enrolment.authority else {
        let what = "this provostd has no authority to sign certificates";
        return Err(failed(what.to_owned(), "restart provostd, and read its log".to_owned()));
    };
    let certificate = authority.node(node, &proved.public_key, until);
    certificate.map_err(|e| failed(error_chain(&e), e.hint()))
}

/// The address of a node's plan, if it has one. Who is neither published nor known is refused, so that
/// strangers can't fill the store with names.
async fn planned_address(enrolment: &Enrolment, node: &str) -> Result<Option<IpAddr>, Refusal> {
    let unknown = || {
        let hint = format!("name it in site.toml and publish; or: provostctl token --force {node}");
        let what = format!("the node {node:?} isn't in what is published");
        Refusal::new(StatusCode::NOT_FOUND, what, hint)
    };
    if !is_node_name(node) {
        return Err(unknown());
    }
    let plan = tokio::fs::read(enrolment.www.join(published::plan(node))).await;
    match plan {
        Ok(text) => Ok(Plan::parse(&text).ok().as_ref().and_then(address_of)),
        Err(_) => match enrolment.store.node(node).await? {
            Some(_) => Ok(None),
            None => Err(unknown()),
        },
    }
}

/// The address that a plan says its node has.
pub(crate) fn address_of(plan: &Plan) -> Option<IpAddr> {
    // Some sites write it with the length of its network.
    plan.env.get(ADDRESS)?.split('/').next()?.trim().parse().ok()
}

/// For how long the client wants to wait.
fn wait(headers: &HeaderMap) -> Duration {
    let wait = || headers.get("prefer")?.to_str().ok()?.strip_prefix("wait=")?.parse().ok();
    Duration::from_secs(wait().unwrap_or_default()).min(MOST_WAIT)
}

fn pending(node: &str, key: &Fingerprint) -> Response {
    let hint = format!("provostctl approve {node} {key}");
    let body = axum::Json(EnrolmentPending { pending: true, key: key.to_string(), hint });
    (StatusCode::ACCEPTED, body).into_response()
}

/// As what a node that is refused is shown as pending; a second key is shown by itself.
fn shown_as(why: &EnrolmentRefusal) -> Option<AuthFailure> {
    Some(match why {
        EnrolmentRefusal::Revoked(_) => AuthFailure::Revoked,
        EnrolmentRefusal::OtherNodes(_) => AuthFailure::OtherNodesKey,
        EnrolmentRefusal::Rejected => AuthFailure::Rejected,
        EnrolmentRefusal::SecondKey => return None,
        EnrolmentRefusal::TooManyOfNode | EnrolmentRefusal::TooManyOfClient(_) => {
            AuthFailure::TooMany
        }
        EnrolmentRefusal::UnknownJoin => AuthFailure::UnknownJoin,
        EnrolmentRefusal::SpentJoin(_) => AuthFailure::SpentJoin,
        EnrolmentRefusal::EndedJoin(_) => AuthFailure::EndedJoin,
        EnrolmentRefusal::ElsewhereJoin(_) => AuthFailure::ElsewhereJoin,
    })
}

fn refusal(node: &str, key: &Fingerprint, by: IpAddr, why: &EnrolmentRefusal) -> Refusal {
    let second = |at: &Timestamp| Timestamp::from_second(at.as_second()).unwrap_or(*at);
    let join = || format!("make a new one: provostctl join {node}");
    let (error, hint) = match why {
        EnrolmentRefusal::Revoked(at) => (
            format!("the key {key} was revoked at {}", second(at)),
            format!(
                "if {node} may come back, remove STATE/id and STATE/id.crt there, and: provostctl join {node}"
            ),
        ),
        EnrolmentRefusal::OtherNodes(other) => (
            format!("the key {key} is {other}'s"),
            format!(
                "remove STATE/id and STATE/id.crt on {node}, and from the image that both were made of"
            ),
        ),
        EnrolmentRefusal::Rejected => (
            format!("an admin has rejected the key {key}"),
            format!("provostctl approve {node} {key}"),
        ),
        EnrolmentRefusal::SecondKey => (
            format!("{node} has another key, which came first; this one is {key}"),
            format!("if this one is right: provostctl approve {node} {key}"),
        ),
        EnrolmentRefusal::TooManyOfNode => (
            format!(
                "{KEYS_OF_NODE} keys of {node} wait for an admin already, and this one is {key}"
            ),
            join(),
        ),
        EnrolmentRefusal::TooManyOfClient(client) => (
            format!(
                "{KEYS_OF_CLIENT} keys from {client} wait for an admin already, and this one is {key}"
            ),
            join(),
        ),
        EnrolmentRefusal::UnknownJoin => {
            (format!("the join token isn't {node}'s, or another one has taken its place"), join())
        }
        EnrolmentRefusal::SpentJoin(at) => {
            (format!("the join token was used at {}, by another key", second(at)), join())
        }
        EnrolmentRefusal::EndedJoin(at) => {
            (format!("the join token has ended at {}", second(at)), join())
        }
        EnrolmentRefusal::ElsewhereJoin(from) => (
            format!("the join token is valid from {from} only, and the request comes from {by}"),
            format!(
                "correct {ADDRESS} of {node} in site.toml and publish, or the --from of: provostctl join {node}"
            ),
        ),
    };
    match why {
        // It may pass while the node waits.
        EnrolmentRefusal::TooManyOfNode | EnrolmentRefusal::TooManyOfClient(_) => {
            Refusal::new(StatusCode::TOO_MANY_REQUESTS, error, hint).after(MOST_WAIT)
        }
        _ => Refusal::new(StatusCode::FORBIDDEN, error, hint),
    }
}
