//! What is asked and said of admins and of their changes.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, Query, State};
use axum::http::StatusCode;
use jiff::Timestamp;
use provost_api::UnknownRole;
use provost_api::admins::{AdminName, AdminRequest, NewAdmin};
use provost_record::now;
use provost_store::{Admin, AuditEntry, Store};
use serde::Deserialize;

use super::actor::{Actor, May};
use crate::admin::request::{after, read_json};
use crate::listener::refusal::Refusal;
use crate::listener::token;

type StoreState = State<Arc<dyn Store>>;

/// An example of each request, for who sends another.
const ADD: &str = r#"{"name": "lee", "role": "operate", "forMs": 86400000}"#;
const REMOVE: &str = r#"{"name": "lee"}"#;

/// The longest name of an admin, in bytes.
const MAX_NAME: usize = 64;

/// `POST /v1/admins`.
pub(crate) async fn add(State(store): StoreState, body: Body) -> Result<Json<NewAdmin>, Refusal> {
    let AdminRequest { name, role, for_ms } = read_json(body, ADD).await?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._@-".contains(c);
    if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(is_plain) {
        return Err(Refusal::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            format!("{name:?} can't be the name of an admin"),
            format!("use {MAX_NAME} letters, digits, `.`, `_`, `@` and `-` at most"),
        ));
    }
    let role = role.as_str().parse().map_err(|unknown: UnknownRole| {
        Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, unknown.to_string(), format!("send {ADD}"))
    })?;
    let created = now();
    let until = after(created, for_ms);
    let (admin, token) = (Admin { name, role, created, until }, token::random()?);
    if !store.add_admin(admin.clone(), token::digest(&token)).await? {
        let name = admin.name;
        return Err(Refusal::new(
            StatusCode::CONFLICT,
            format!("there is an admin {name} already"),
            format!("end that one's token first: provostctl admin remove {name}"),
        ));
    }
    tracing::info!("new admin {}: {role} until {until}", admin.name);
    Ok(Json(NewAdmin { admin, token }))
}

/// `POST /v1/admins/remove`.
pub(crate) async fn remove(
    State(store): StoreState,
    body: Body,
) -> Result<Json<AdminName>, Refusal> {
    let request: AdminName = read_json(body, REMOVE).await?;
    if !store.remove_admin(&request.name).await? {
        let error = format!("unknown admin {:?}", request.name);
        return Err(Refusal::new(StatusCode::NOT_FOUND, error, "list them: provostctl admin list"));
    }
    tracing::info!("removed the admin {}", request.name);
    Ok(Json(request))
}

/// `GET /v1/admins`.
pub(crate) async fn list(
    State(store): StoreState,
    Extension(actor): Extension<Actor>,
) -> Result<Json<Vec<Admin>>, Refusal> {
    actor.check("the list of admins", May::OPERATE)?;
    Ok(Json(store.admins().await?))
}

#[derive(Deserialize)]
pub(crate) struct Since {
    since: Option<Timestamp>,
}

/// `GET /v1/audit`.
pub(crate) async fn audit(
    State(store): StoreState,
    Extension(actor): Extension<Actor>,
    Query(asked): Query<Since>,
) -> Result<Json<Vec<AuditEntry>>, Refusal> {
    actor.check("the audit log", May::OPERATE)?;
    Ok(Json(store.changes(asked.since.unwrap_or(Timestamp::MIN)).await?))
}
