//! The web page: nodes, their runs and scripts as `provostctl` shows them, live. It needs no
//! JavaScript; with it, an open page follows what happens.
//!
//! Each page is a type with a template ([`page::Page`]). What of all nodes a page needs is in memory
//! while somebody looks ([`fleet`]), and its content is made once for all tabs that show it ([`live`]).

mod answer;
mod assets;
mod chart;
mod events;
mod fleet;
mod live;
mod log;
mod log_text;
mod node;
mod node_list;
mod open_pages;
mod overview;
mod page;
mod published;
mod recent;
mod scripts;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, Response, Uri};
use axum::response::IntoResponse;
use axum::routing::get;
use provost_store::UploadedLog;

pub(crate) use fleet::Fleet;
pub(crate) use open_pages::OpenPages;
pub(crate) use recent::Recent;

use self::events::Events;
use self::log::{LogPage, LogQuery};
use self::node::NodePage;
use self::node_list::{NodeList, NodeListQuery};
use self::overview::Overview;
use self::page::Page;
use self::published::Published;
use self::scripts::{Script, Scripts};
use crate::app::App;
use crate::refusal::Refusal;

/// The pages.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(overview))
        .route("/nodes", get(nodes))
        .route("/nodes/{node}", get(node))
        .route("/nodes/{node}/logs/{run}/{name}", get(log))
        .route("/scripts", get(scripts))
        .route("/scripts/{*script}", get(script))
        .route("/published", get(published))
        .route("/events", get(events))
        .route("/static/{name}", get(assets::serve))
        .with_state(app)
        .layer(axum::middleware::map_response(async |mut response: Response<Body>| {
            answer::guard(response.headers_mut());
            response
        }))
}

type Shared = State<Arc<App>>;

async fn overview(State(app): Shared, uri: Uri, headers: HeaderMap) -> Response<Body> {
    show(app, Overview, uri, headers).await
}

async fn nodes(
    State(app): Shared,
    query: Result<Query<NodeListQuery>, axum::extract::rejection::QueryRejection>,
    uri: Uri,
    headers: HeaderMap,
) -> Response<Body> {
    let query = query.map_err(|e| {
        Refusal::new(e.status(), e.body_text(), "follow the links of /nodes, or use its form")
    });
    match query.and_then(|Query(query)| NodeList::new(query)) {
        Ok(page) => show(app, page, uri, headers).await,
        Err(refusal) => answer::refused(&refusal, "nodes").into_response(),
    }
}

async fn node(
    State(app): Shared,
    Path(name): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Response<Body> {
    show(app, NodePage { name }, uri, headers).await
}

async fn log(
    State(app): Shared,
    Path((node, run, name)): Path<(String, String, String)>,
    query: Query<LogQuery>,
    uri: Uri,
    headers: HeaderMap,
) -> Response<Body> {
    let part = query.part;
    show(app, LogPage { node, log: UploadedLog { run, name }, part }, uri, headers).await
}

async fn scripts(State(app): Shared, uri: Uri, headers: HeaderMap) -> Response<Body> {
    show(app, Scripts, uri, headers).await
}

async fn script(
    State(app): Shared,
    Path(name): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Response<Body> {
    show(app, Script { name }, uri, headers).await
}

async fn published(State(app): Shared, uri: Uri, headers: HeaderMap) -> Response<Body> {
    show(app, Published, uri, headers).await
}

async fn events(State(app): Shared, uri: Uri, headers: HeaderMap) -> Response<Body> {
    show(app, Events, uri, headers).await
}

async fn show(app: Arc<App>, page: impl Page, uri: Uri, headers: HeaderMap) -> Response<Body> {
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    answer::answer(app, page, path, &headers).await
}
