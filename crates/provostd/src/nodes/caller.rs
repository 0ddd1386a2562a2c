//! Who sends a request about a node: only that node may. It proves it by its identity, a key, or by its
//! token.

use axum::http::{HeaderMap, StatusCode};
use provost_bundle::Fingerprint;
use provost_record::now;
use provost_store::KeyDigest;

use super::pending::Lack;
use crate::admin::tokens;
use crate::app::App;
use crate::listener::connections::Connection;
use crate::listener::refusal::Refusal;

/// A node that has proved who it is.
pub(crate) struct Caller {
    /// Whether it has to renew its identity.
    pub(crate) is_due: bool,
}

/// Accepts a request only from `node`. Its connection then counts as a node's.
pub(crate) async fn check(
    app: &App,
    headers: &HeaderMap,
    node: &str,
    by: &Connection,
) -> Result<Caller, Refusal> {
    let caller = match by.key() {
        Some(key) => by_key(app, headers, node, by, key).await?,
        None => by_token(app, headers, node, by).await?,
    };
    by.has_token();
    app.pending.remove(node);
    Ok(caller)
}

async fn by_token(
    app: &App,
    headers: &HeaderMap,
    node: &str,
    by: &Connection,
) -> Result<Caller, Refusal> {
    tokens::check(app, headers, node, by).await?;
    Ok(Caller { is_due: false })
}

/// The store is asked for each request, so that a key which is revoked ends on open connections too.
async fn by_key(
    app: &App,
    headers: &HeaderMap,
    node: &str,
    by: &Connection,
    key: KeyDigest,
) -> Result<Caller, Refusal> {
    let (at, fingerprint) = (now(), Fingerprint(key));
    let enrol = format!("provostctl join {node}, and start the node again with that token");
    let identity = app.store.identity_of_key(key).await?;
    let (error, hint, why) = match identity {
        Some(identity) if identity.revoked.is_some() => (
            format!("the identity {fingerprint} of {} was revoked", identity.node),
            format!(
                "if {node} may come back, remove STATE/id and STATE/id.crt there, and: provostctl join {node}"
            ),
            Lack::Revoked,
        ),
        Some(identity) if identity.node != node => {
            app.pending.add(node, by.address(), Lack::OtherNodesKey);
            return Err(Refusal::new(
                StatusCode::FORBIDDEN,
                format!("the identity is {}'s, and the request is about {node:?}", identity.node),
                "use the node's own identity: a node can report only about itself",
            ));
        }
        Some(identity) if identity.until <= at => (
            format!("the identity {fingerprint} of {node} has ended at {}", identity.until),
            enrol,
            Lack::Ended,
        ),
        Some(identity) => return Ok(Caller { is_due: app.enrolment.is_due(identity.until, at) }),
        None => (format!("the key {fingerprint} is no node's identity"), enrol, Lack::UnknownKey),
    };
    if why != Lack::Revoked && tokens::bearer(headers).is_some() {
        return by_token(app, headers, node, by).await;
    }
    app.pending.add(node, by.address(), why);
    Err(Refusal::new(StatusCode::UNAUTHORIZED, error, hint))
}
