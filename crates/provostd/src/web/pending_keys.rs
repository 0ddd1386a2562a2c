//! One key that waits: what is known of it, and the answer of an admin, who approves or rejects it.

use askama::Template;
use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::http::{Response, Uri};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Redirect};
use axum::routing::get;
use jiff::Timestamp;
use serde_json::json;

use super::answer;
use super::form::{self, Fields};
use super::page::render;
use super::pending::Row;
use crate::admin::accounts::{Actor, AuditLog, May};
use crate::admin::request::absent;
use crate::admin::{AdminState, enrolment};
use crate::listener::refusal::Refusal;

/// Where the menu has it.
const SECTION: &str = "nodes";
const PAGE: &str = "/pending";

#[derive(Template)]
#[template(path = "pending_key.html")]
struct Content {
    row: Row,
    /// Whether the admin may decide.
    decides: bool,
    /// Whether other keys ask for the same name.
    rivals: usize,
}

/// The page of a key, and the two answers.
pub(super) fn router(admin: AdminState) -> Router {
    let audit = admin.audit.clone();
    let made = |word: &'static str, audit: AuditLog| {
        from_fn(move |actor: Extension<Actor>, request: Request, next: Next| {
            make(word, audit.clone(), actor, request, next)
        })
    };
    let approve = audit.change("approve", May::OPERATE, enrolment::approve);
    let reject = audit.change("reject", May::OPERATE, enrolment::reject);
    Router::new()
        .route("/pending/key", get(show))
        .route("/pending/approve", approve.layer(made("approve", audit.clone())))
        .route("/pending/reject", reject.layer(made("reject", audit)))
        .with_state(admin)
}

async fn show(
    State(admin): State<AdminState>,
    uri: Uri,
    Extension(actor): Extension<Actor>,
) -> Response<Body> {
    let fields = Fields::parse(uri.query().unwrap_or_default());
    let (node, key) = (fields.value("node"), fields.value("key"));
    let content = async {
        let mut of_node = admin.enrolment.waiting().await?;
        of_node.retain(|one| Some(&*one.node) == node && one.key.is_some());
        let keys = of_node.len();
        let found = of_node.into_iter().find(|one| one.key.as_deref() == key);
        let found = found.ok_or_else(|| {
            let error = "this key doesn't wait any more".to_owned();
            absent(error, "list those that do: /pending; what was decided: provostctl audit")
        })?;
        let row = Row::new(found, Timestamp::now());
        let decides = actor.may() >= May::OPERATE;
        render(&Content { row, decides, rivals: keys.saturating_sub(1) })
    };
    let content: Result<String, Refusal> = content.await;
    match content {
        Ok(content) => {
            let title = format!("Key of {}", node.unwrap_or_default());
            answer::still(&title, SECTION, &content, &actor)
        }
        Err(refusal) => answer::refused(&refusal, SECTION),
    }
}

/// Makes a request of the API out of a form's, and leads back to the list.
async fn make(
    word: &'static str,
    audit: AuditLog,
    Extension(actor): Extension<Actor>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    if let Err(refusal) = actor.check(word, May::OPERATE) {
        audit.bodies.drain(body).await;
        return answer::refused(&refusal, SECTION);
    }
    let fields = match Fields::read(&audit.bodies, body).await {
        Ok(fields) => fields,
        Err(refusal) => return answer::refused(&refusal, SECTION),
    };
    // Always by its fingerprint: another key may ask meanwhile.
    let (node, key) = (fields.value("node"), fields.value("key").unwrap_or_default());
    let body = json!({ "node": node.unwrap_or_default(), "key": key });
    let response = next.run(form::with_json(head, &body)).await;
    match response.status().is_success() {
        true => Redirect::to(PAGE).into_response(),
        false => form::refused(response, SECTION).await,
    }
}
