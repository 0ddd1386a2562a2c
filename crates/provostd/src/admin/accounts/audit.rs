//! Each change is noted before it is made, and its result after it: what can't be noted isn't made.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::handler::Handler;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{MethodRouter, post};
use jiff::Timestamp;
use provost_plan::nodes;
use provost_steplog::wording::error_chain;
use provost_store::{AuditEntry, Store};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::watch;

use super::actor::{Actor, May};
use crate::admin::request::MAX_REQUEST;
use crate::listener::bodies::Bodies;
use crate::listener::refusal::{Refusal, Refused};

/// The changes that make room or take rights away: with SQLite, they are made and noted on a full disk too.
const RESERVED: [&str; 4] = ["prune", "remove", "revoke", "admin remove"];

/// What notes changes.
#[derive(Clone)]
pub(crate) struct AuditLog {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) bodies: Arc<Bodies>,
}

/// What a route changes, as the command of provostctl that does it, and who may.
#[derive(Clone)]
struct Change {
    log: AuditLog,
    action: &'static str,
    needs: May,
}

/// The entry of a change, among the extensions of its request.
#[derive(Clone, Copy)]
pub(crate) struct AuditId(pub(crate) i64);

/// The result of a change that goes on after its answer, among the extensions of that.
#[derive(Clone)]
pub(crate) struct LaterResult(pub(crate) watch::Receiver<Option<String>>);

impl LaterResult {
    async fn wait(mut self) -> String {
        let result = self.0.wait_for(Option::is_some).await.ok().and_then(|result| result.clone());
        result.unwrap_or_else(|| "failed: it was cut off".to_owned())
    }
}

impl AuditLog {
    /// A route that changes something.
    pub(crate) fn change<H, T, S>(
        &self,
        action: &'static str,
        needs: May,
        handler: H,
    ) -> MethodRouter<S>
    where
        H: Handler<T, S>,
        T: 'static,
        S: Clone + Send + Sync + 'static,
    {
        let change = Change { log: self.clone(), action, needs };
        post(handler).layer(from_fn_with_state(change, keep))
    }
}

async fn keep(
    State(Change { log, action, needs }): State<Change>,
    Extension(actor): Extension<Actor>,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let (head, body) = request.into_parts();
    if let Err(refusal) = actor.check(action, needs) {
        log.bodies.drain(body).await;
        return Err(refusal);
    }
    let bytes = log.bodies.read(body, MAX_REQUEST).await?.bytes;
    let entry = AuditEntry {
        at: Timestamp::now(),
        who: actor.who().to_owned(),
        from: actor.from().to_owned(),
        action: action.to_owned(),
        request: shown(&bytes),
        result: None,
    };
    let noted = log.store.note_change(entry, RESERVED.contains(&action)).await;
    let id = noted.map_err(|error| {
        let refusal = Refusal::from(error);
        let error = format!("nothing was changed, because it can't be noted: {}", refusal.error);
        Refusal { error, ..refusal }
    })?;
    // A task of its own: a client that goes away doesn't cut a change off.
    let made = tokio::spawn(async move {
        let mut request = Request::from_parts(head, Body::from(bytes));
        request.extensions_mut().insert(AuditId(id));
        let response = next.run(request).await;
        let refused = response.extensions().get::<Refused>();
        let result = match refused {
            Some(Refused { error, .. }) => format!("refused: {error}"),
            None if response.status().is_success() => "done".to_owned(),
            None => format!("refused: {}", response.status()),
        };
        match response.extensions().get::<LaterResult>().cloned() {
            Some(later) => {
                tokio::spawn(async move { log.note(id, later.wait().await, action, &actor).await });
            }
            None => log.note(id, result, action, &actor).await,
        }
        response
    });
    Ok(made.await?)
}

impl AuditLog {
    async fn note(&self, id: i64, result: String, action: &str, actor: &Actor) {
        if let Err(error) = self.store.note_result(id, result).await {
            let who = actor.who();
            tracing::warn!("noting the result of {action} by {who}: {}", error_chain(&error));
        }
    }
}

/// What was asked for, with the nodes folded; null if it can't be read.
fn shown(body: &[u8]) -> Box<RawValue> {
    let mut request: Value = serde_json::from_slice(body).unwrap_or_default();
    if let Some(list) = request.get_mut("nodes") {
        let names: Option<Vec<&str>> =
            list.as_array().and_then(|names| names.iter().map(Value::as_str).collect());
        if let Some(Ok(names)) = names.map(|names| nodes::expand(&names.join(","))) {
            *list = nodes::fold(&names).into();
        }
    }
    RawValue::from_string(request.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_noted_with_its_nodes_folded() {
        let shown = |body: &str| shown(body.as_bytes()).get().to_owned();
        let nodes = r#"{"nodes": ["cn002", "cn[003-004]"], "force": true}"#;
        assert_eq!(shown(nodes), r#"{"force":true,"nodes":"cn[002-004]"}"#);
        assert_eq!(shown(r#"{"nodes": ["cn[002"]}"#), r#"{"nodes":["cn[002"]}"#);
        for odd in ["", "no", "{", r#"{"nodes": 1"#] {
            assert_eq!(shown(odd), "null", "{odd}");
        }
        assert_eq!(shown(r#"{"nodes": [1]}"#), r#"{"nodes":[1]}"#);
    }
}
