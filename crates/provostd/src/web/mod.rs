//! The web page: nodes, their runs and scripts as `provostctl` shows them, live. It needs no
//! JavaScript; with it, an open page follows what happens.
//!
//! Each page is a type with a template ([`page::Page`]). What of all nodes a page needs is in memory
//! while somebody looks ([`fleet`]), and its content is made once for all tabs that show it ([`live`]).

pub(crate) mod action;
pub(crate) mod actions;
pub(crate) mod answer;
pub(crate) mod assets;
pub(crate) mod chart;
pub(crate) mod events;
pub(crate) mod live;
pub(crate) mod log;
pub(crate) mod log_text;
pub(crate) mod node;
pub(crate) mod node_list;
pub(crate) mod overview;
pub(crate) mod page;
pub(crate) mod published;
pub(crate) mod scripts;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, Request, State};
use axum::http::request::Parts;
use axum::http::{Response, StatusCode, header};
use axum::middleware::{Next, map_response};
use axum::response::IntoResponse;
use axum::routing::get;
use provost_store::UploadedLog;

use crate::admin::AdminState;
use crate::admin::accounts::login::NONE;
use crate::app::App;
use crate::listener::refusal::{Refusal, Refused};
use events::Events;
use log::{LogPage, LogQuery};
use node::NodePage;
use node_list::{NodeList, NodeListQuery};
use overview::Overview;
use page::Page;
use published::Published;
use scripts::{Script, Scripts};

/// The pages.
pub(crate) fn router(app: Arc<App>, admin: AdminState) -> Router {
    Router::new()
        .route("/", get(overview))
        .route("/nodes", get(nodes))
        .route("/nodes/{node}", get(node))
        .route("/nodes/{node}/logs/{run}/{name}", get(log))
        .route("/scripts", get(scripts))
        .route("/scripts/{*script}", get(script))
        .route("/published", get(published))
        .route("/events", get(events))
        .with_state(app)
        .merge(actions::router(admin))
        .layer(map_response(guarded))
}

/// What a browser may have without a login: the form for it, and what pages name.
pub(crate) fn before_login() -> Router {
    let form = async || answer::login(StatusCode::OK, None);
    files().route("/login", get(form).layer(map_response(guarded)))
}

/// To a browser that shows a page, the refusal of who isn't known is the form for a login, with what was
/// wrong with the last one.
pub(crate) async fn ask_to_log_in(request: Request, next: Next) -> Response<Body> {
    let accept = request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let shows_pages = accept.is_some_and(|accept| accept.contains("text/html"));
    let response = next.run(request).await;
    if !shows_pages || response.status() != StatusCode::UNAUTHORIZED {
        return response;
    }
    let refused = response.extensions().get::<Refused>();
    // Who only opens the page has done nothing wrong.
    let wrong = refused.map(|Refused(error)| error.as_str()).filter(|error| *error != NONE);
    guarded(answer::login(StatusCode::UNAUTHORIZED, wrong)).await
}

/// What pages name.
pub(crate) fn files() -> Router {
    Router::new().route("/static/{name}", get(assets::serve)).layer(map_response(guarded))
}

async fn guarded(mut response: Response<Body>) -> Response<Body> {
    answer::guard(response.headers_mut());
    response
}

type Shared = State<Arc<App>>;

async fn overview(State(app): Shared, parts: Parts) -> Response<Body> {
    show(app, Overview, parts).await
}

async fn nodes(
    State(app): Shared,
    query: Result<Query<NodeListQuery>, axum::extract::rejection::QueryRejection>,
    parts: Parts,
) -> Response<Body> {
    let query = query.map_err(|e| {
        Refusal::new(e.status(), e.body_text(), "follow the links of /nodes, or use its form")
    });
    match query.and_then(|Query(query)| NodeList::new(query)) {
        Ok(page) => show(app, page, parts).await,
        Err(refusal) => answer::refused(&refusal, "nodes").into_response(),
    }
}

async fn node(State(app): Shared, Path(name): Path<String>, parts: Parts) -> Response<Body> {
    show(app, NodePage { name }, parts).await
}

async fn log(
    State(app): Shared,
    Path((node, run, name)): Path<(String, String, String)>,
    query: Query<LogQuery>,
    parts: Parts,
) -> Response<Body> {
    let part = query.part;
    show(app, LogPage { node, log: UploadedLog { run, name }, part }, parts).await
}

async fn scripts(State(app): Shared, parts: Parts) -> Response<Body> {
    show(app, Scripts, parts).await
}

async fn script(State(app): Shared, Path(name): Path<String>, parts: Parts) -> Response<Body> {
    show(app, Script { name }, parts).await
}

async fn published(State(app): Shared, parts: Parts) -> Response<Body> {
    show(app, Published, parts).await
}

async fn events(State(app): Shared, parts: Parts) -> Response<Body> {
    show(app, Events, parts).await
}

async fn show(app: Arc<App>, page: impl Page, parts: Parts) -> Response<Body> {
    answer::answer(app, page, &parts).await
}
