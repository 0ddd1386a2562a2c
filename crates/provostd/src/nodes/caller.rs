//! Who sends a request about a node: only that node may. It proves it by its identity, a key, or by its
//! token.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode};
use provost_api::{AuthFailure, published};
use provost_bundle::Fingerprint;
use provost_plan::is_node_name;
use provost_record::now;
use provost_store::{KeyDigest, Store};

use super::addresses::Addresses;
use super::enrolment::Enrolment;
use super::pending::Pending;
use crate::listener::bodies::{Bodies, HeldBody};
use crate::listener::connections::Connection;
use crate::listener::refusal::Refusal;
use crate::listener::token::{bearer, digest};
use crate::published::PublishedFolder;

/// What tells whose a request is.
pub(crate) struct Callers {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) enrolment: Arc<Enrolment>,
    pub(crate) pending: Arc<Pending>,
    pub(crate) bodies: Arc<Bodies>,
    /// Whether nodes' tokens count by plain HTTP.
    pub(crate) plain_tokens: bool,
    pub(crate) www: PublishedFolder,
    pub(crate) addresses: Arc<Addresses>,
}

/// A node that has proved who it is.
pub(crate) struct Caller {
    /// Whether it has proved it by its identity, and not by a token.
    has_identity: bool,
    /// Whether it has to renew its identity.
    pub(crate) is_due: bool,
}

impl Callers {
    /// Accepts a request only from `node`. Its connection then counts as a node's.
    pub(crate) async fn check(
        &self,
        headers: &HeaderMap,
        node: &str,
        by: &Connection,
    ) -> Result<Caller, Refusal> {
        let caller = match by.key() {
            Some(key) => self.by_key(headers, node, by, key).await?,
            None => self.by_token(headers, node, by).await?,
        };
        by.has_token();
        self.pending.let_in(node, by.address());
        self.addresses.note(node, by.address());
        Ok(caller)
    }

    /// The body, of at most `most` bytes, of a request that only `node` itself may send.
    pub(crate) async fn read(
        &self,
        headers: &HeaderMap,
        node: &str,
        by: &Connection,
        body: Body,
        most: usize,
    ) -> Result<HeldBody<'_>, Refusal> {
        self.read_of(self.check(headers, node, by).await, body, most).await
    }

    /// The same of a request for which a token isn't enough: others may have read it.
    pub(crate) async fn read_by_identity(
        &self,
        headers: &HeaderMap,
        node: &str,
        by: &Connection,
        body: Body,
        most: usize,
    ) -> Result<HeldBody<'_>, Refusal> {
        let checked = match self.check(headers, node, by).await {
            Ok(caller) if !caller.has_identity => {
                let error =
                    format!("{node} has proved itself by a token, and this takes an identity");
                Err(Refusal::new(StatusCode::FORBIDDEN, error, self.join(node).await))
            }
            checked => checked,
        };
        self.read_of(checked, body, most).await
    }

    async fn read_of(
        &self,
        checked: Result<Caller, Refusal>,
        body: Body,
        most: usize,
    ) -> Result<HeldBody<'_>, Refusal> {
        if let Err(refusal) = checked {
            self.bodies.drain(body).await;
            return Err(refusal);
        }
        self.bodies.read(body, most).await
    }

    /// One that has no valid token is pending.
    async fn by_token(
        &self,
        headers: &HeaderMap,
        node: &str,
        by: &Connection,
    ) -> Result<Caller, Refusal> {
        let refuse = |why, status, error: String, hint: &str| {
            self.pending.add(node, by.address(), why, hint);
            Err(Refusal::new(status, error, hint))
        };
        let unknown = async |why, error: &str| {
            let hint = match by.is_private() || !self.plain_tokens {
                true => self.join(node).await,
                false => {
                    "create a token (provostctl token NODE), and write it to the node's token_file"
                        .to_owned()
                }
            };
            refuse(why, StatusCode::UNAUTHORIZED, error.to_owned(), &hint)
        };
        let Some(token) = bearer(headers) else {
            return unknown(AuthFailure::Missing, "the request has no token").await;
        };
        match self.store.token_owner(digest(token), now()).await? {
            Some(owner) if owner == node && !by.is_private() && !self.plain_tokens => refuse(
                AuthFailure::PlainHttp,
                StatusCode::FORBIDDEN,
                format!("the token of {node} came by plain HTTP, where it doesn't count here"),
                "name TLS to the nodes: provostctl publish … --tls \"$(provostd ca show --tls)\"; or \
                 set `allowed = true` under [tokens] of provostd.toml",
            ),
            Some(owner) if owner == node => Ok(Caller { has_identity: false, is_due: false }),
            Some(owner) => refuse(
                AuthFailure::OtherNodes,
                StatusCode::FORBIDDEN,
                format!("the token is {owner}'s, and the request is about {node:?}"),
                "use the node's own token: a node can report only about itself",
            ),
            None => unknown(AuthFailure::Unknown, "the token is unknown").await,
        }
    }

    /// The store is asked for each request, so that a key which is revoked ends on open connections too.
    async fn by_key(
        &self,
        headers: &HeaderMap,
        node: &str,
        by: &Connection,
        key: KeyDigest,
    ) -> Result<Caller, Refusal> {
        let (at, fingerprint) = (now(), Fingerprint(key));
        let identity = self.store.identity_of_key(key).await?;
        let (error, hint, why) = match identity {
            Some(identity) if identity.revoked.is_some() => (
                format!("the identity {fingerprint} of {} was revoked", identity.node),
                format!(
                    "if {node} may come back, remove STATE/id and STATE/id.crt there, and: provostctl join {node}"
                ),
                AuthFailure::Revoked,
            ),
            Some(identity) if identity.node != node => {
                let hint = "use the node's own identity: a node can report only about itself";
                self.pending.add(node, by.address(), AuthFailure::OtherNodesKey, hint);
                let whose = identity.node;
                let error = format!("the identity is {whose}'s, and the request is about {node:?}");
                return Err(Refusal::new(StatusCode::FORBIDDEN, error, hint));
            }
            Some(identity) if identity.until <= at => (
                format!("the identity {fingerprint} of {node} has ended at {}", identity.until),
                self.join(node).await,
                AuthFailure::Ended,
            ),
            Some(identity) => {
                let is_due = self.enrolment.is_due(identity.until, at);
                return Ok(Caller { has_identity: true, is_due });
            }
            None => (
                format!("the key {fingerprint} is no node's identity"),
                self.join(node).await,
                AuthFailure::UnknownKey,
            ),
        };
        if why != AuthFailure::Revoked && bearer(headers).is_some() {
            return self.by_token(headers, node, by).await;
        }
        self.pending.add(node, by.address(), why, &hint);
        Err(Refusal::new(StatusCode::UNAUTHORIZED, error, hint))
    }

    /// How a node gets an identity: only one that is published does.
    async fn join(&self, node: &str) -> String {
        let plan = self.www.join(published::plan(node));
        if !is_node_name(node) || !tokio::fs::try_exists(plan).await.unwrap_or(true) {
            return format!("name it in site.toml and publish, then: provostctl join {node}");
        }
        let window = match self.enrolment.takes_window(node).await {
            Ok(true) => format!("provostctl enroll open {node}; or "),
            _ => String::new(),
        };
        format!("{window}provostctl join {node}, and start the node again with that token")
    }
}
