//! What an admin may change on the page. A page asks first; the change itself is that of the API, with its
//! entry in the audit log.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Extension, Path, Request, State};
use axum::http::{Response, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Redirect};
use axum::routing::get;
use provost_store::Store;
use serde_json::{Value, json};

use super::action::{Action, of_node};
use super::answer;
use super::page::render;
use crate::admin::accounts::{Actor, May};
use crate::admin::{AdminState, changes};
use crate::listener::refusal::Refusal;

/// The longest answer of the API, in bytes: it is about one node.
const MAX_ANSWER: usize = 64 * 1024;

#[derive(Template)]
#[template(path = "action.html")]
struct Confirmation {
    title: String,
    what: &'static str,
    back: String,
    next: Option<String>,
}

/// The pages that ask, and the changes.
pub(super) fn router(admin: AdminState) -> Router {
    let audit = &admin.audit;
    let go_on = audit.change("continue", May::OPERATE, changes::go_on);
    let release = audit.change("release", May::OPERATE, changes::release);
    let remove = audit.change("remove", May::OPERATE, changes::remove);
    let made = |action: Action| {
        from_fn(move |path: Path<String>, request, next| make(action, path, request, next))
    };
    let ask = |action: Action| get(move |state, path, actor| confirm(action, state, path, actor));
    Router::new()
        .route(
            "/nodes/{node}/continue",
            ask(Action::Continue).merge(go_on.layer(made(Action::Continue))),
        )
        .route(
            "/nodes/{node}/release",
            ask(Action::Release).merge(release.layer(made(Action::Release))),
        )
        .route(
            "/nodes/{node}/remove",
            ask(Action::Remove).merge(remove.layer(made(Action::Remove))),
        )
        .with_state(admin)
}

/// Asks whether it is meant.
async fn confirm(
    action: Action,
    State(store): State<Arc<dyn Store>>,
    Path(node): Path<String>,
    Extension(actor): Extension<Actor>,
) -> Response<Body> {
    let content = async {
        actor.check(action.word(), May::OPERATE)?;
        if store.node(&node).await?.is_none() {
            return Err(Refusal::unknown_node(&node));
        }
        let next = matches!(action, Action::Release)
            .then(|| format!("To go on from the step that failed: provostctl continue {node}"));
        let (title, what, back) = (action.title(&node), action.what(), of_node(&node));
        render(&Confirmation { title, what, back, next })
    };
    match content.await {
        Ok(content) => answer::still(&action.title(&node), "nodes", &content, &actor),
        Err(refusal) => answer::refused(&refusal, "nodes"),
    }
}

/// Makes a request of the API out of a form's, and a page of its answer.
async fn make(
    action: Action,
    Path(node): Path<String>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let (mut head, _) = request.into_parts();
    head.headers.remove(header::CONTENT_LENGTH);
    let body = json!({ "nodes": [node] }).to_string();
    let response = next.run(Request::from_parts(head, Body::from(body))).await;
    if response.status().is_success() {
        return Redirect::to(&action.then(&node)).into_response();
    }
    let status = response.status();
    let bytes = to_bytes(response.into_body(), MAX_ANSWER).await.unwrap_or_default();
    let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
    answer::refused(&Refusal::new(status, text("error"), text("hint")), "nodes")
}
