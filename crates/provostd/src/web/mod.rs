//! The web page: nodes, their runs and scripts as `provostctl` shows them, live. It needs no
//! JavaScript; with it, an open page follows what happens.
//!
//! Each page is a type with a template ([`page::Page`]). What of all nodes a page needs is in memory
//! while somebody looks ([`fleet`]), and its content is made once for all tabs that show it ([`live`]).

pub(crate) mod action;
pub(crate) mod actions;
pub(crate) mod answer;
pub(crate) mod assets;
pub(crate) mod confirmation;
pub(crate) mod events;
pub(crate) mod flame;
pub(crate) mod form;
pub(crate) mod hint;
pub(crate) mod histogram;
pub(crate) mod history;
pub(crate) mod job;
pub(crate) mod jobs;
pub(crate) mod live;
pub(crate) mod log;
pub(crate) mod log_text;
pub(crate) mod map;
pub(crate) mod node;
pub(crate) mod node_about;
pub(crate) mod node_list;
mod numbers;
pub(crate) mod overview;
pub(crate) mod page;
pub(crate) mod pending;
pub(crate) mod pending_keys;
pub(crate) mod percent;
pub(crate) mod plan;
pub(crate) mod published;
pub(crate) mod refused;
pub(crate) mod run_axis;
pub(crate) mod running;
pub(crate) mod script;
pub(crate) mod scripts;
pub(crate) mod source;
pub(crate) mod tone;
pub(crate) mod why;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRef, Path, Query, State};
use axum::http::request::Parts;
use axum::http::{Response, StatusCode};
use axum::middleware::map_response_with_state;
use axum::response::IntoResponse;
use axum::routing::get;
use provost_store::{Store, UploadedLog};
use serde::Deserialize;

use crate::admin::AdminState;
use crate::admin::accounts::{Actor, May};
use crate::admin::jobs::carried::Jobs;
use crate::fleet::Fleet;
use crate::fleet::history::Range;
use crate::listener::refusal::Refusal;
use crate::nodes::beats::Beats;
use crate::nodes::enrolment::Enrolment;
use crate::nodes::history::KnownNodes;
use assets::Assets;
use events::Events;
use job::JobPage;
use jobs::JobList;
use live::Pages;
use log::{LogPage, LogQuery};
use node::NodePage;
use node_about::NodeSources;
use node_list::{NodeList, NodeListQuery};
use overview::Overview;
use page::Page;
use pending::PendingPage;
use published::PublicationsPage;
use script::Script;
use scripts::Scripts;
use source::Sources;

/// What pages are made of.
#[derive(Clone, FromRef)]
pub(crate) struct WebState {
    pub(crate) assets: Arc<Assets>,
    pub(crate) pages: Arc<Pages>,
    pub(crate) about: NodeSources,
    pub(crate) overview: Overview,
    pub(crate) scripts: Scripts,
    pub(crate) published: PublicationsPage,
    pub(crate) events: Events,
    pub(crate) job_list: JobList,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) known: Arc<KnownNodes>,
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) beats: Arc<Beats>,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) enrolment: Arc<Enrolment>,
    pub(crate) sources: Arc<Sources>,
}

/// The pages, and the changes of `admin` that they make.
pub(crate) fn router(state: WebState, admin: AdminState) -> Router {
    let assets = Arc::clone(&state.assets);
    Router::new()
        .route("/", get(overview))
        .route("/nodes", get(nodes))
        .route("/nodes/{node}", get(node))
        .route("/nodes/{node}/logs/{run}/{name}", get(log))
        .route("/scripts", get(page::<Scripts>))
        .route("/scripts/{*script}", get(script))
        .route("/published", get(page::<PublicationsPage>))
        .route("/events", get(page::<Events>))
        .route("/jobs", get(page::<JobList>))
        .route("/jobs/{id}", get(job))
        .route("/pending", get(pending))
        .with_state(state)
        .merge(pending_keys::router(admin.clone()))
        .merge(actions::router(admin))
        .layer(map_response_with_state(assets, answer::finish))
}

/// What a browser may have without a login: the form for it, and what pages name.
pub(crate) fn before_login(assets: &Arc<Assets>) -> Router {
    let form = async || answer::login(StatusCode::OK, None);
    let finish = map_response_with_state(Arc::clone(assets), answer::finish);
    files(assets).route("/login", get(form).layer(finish))
}

/// What pages name.
pub(crate) fn files(assets: &Arc<Assets>) -> Router {
    Router::new()
        .route("/static/{name}", get(assets::serve))
        .with_state(Arc::clone(assets))
        .layer(map_response_with_state(Arc::clone(assets), answer::finish))
}

type PagesState = State<Arc<Pages>>;
type StoreState = State<Arc<dyn Store>>;
type FleetState = State<Arc<Fleet>>;
type BeatsState = State<Arc<Beats>>;

/// A page whose address says nothing more.
async fn page<P: Page + FromRef<WebState>>(
    State(pages): PagesState,
    State(page): State<P>,
    parts: Parts,
) -> Response<Body> {
    answer::answer(pages, page, &parts).await
}

/// How far back the overview shows the history.
#[derive(Deserialize)]
struct OverviewQuery {
    #[serde(default)]
    range: Range,
}

async fn overview(
    State(pages): PagesState,
    State(page): State<Overview>,
    query: Result<Query<OverviewQuery>, QueryRejection>,
    parts: Parts,
) -> Response<Body> {
    let query = query.map_err(|e| {
        let hint = "choose one: hour, day, week, year";
        Refusal::new(e.status(), e.body_text(), hint)
    });
    match query {
        Ok(Query(OverviewQuery { range })) => {
            answer::answer(pages, Overview { range, ..page }, &parts).await
        }
        Err(refusal) => answer::refused(&refusal, "overview").into_response(),
    }
}

async fn nodes(
    State(pages): PagesState,
    State(fleet): FleetState,
    State(beats): BeatsState,
    State(enrolment): State<Arc<Enrolment>>,
    query: Result<Query<NodeListQuery>, QueryRejection>,
    parts: Parts,
) -> Response<Body> {
    let query = query.map_err(|e| {
        Refusal::new(e.status(), e.body_text(), "follow the links of /nodes, or use its form")
    });
    match query.and_then(|Query(query)| NodeList::new(query, fleet, beats, enrolment)) {
        Ok(page) => answer::answer(pages, page, &parts).await,
        Err(refusal) => answer::refused(&refusal, "nodes").into_response(),
    }
}

async fn node(
    State(pages): PagesState,
    State(known): State<Arc<KnownNodes>>,
    State(beats): BeatsState,
    State(sources): State<NodeSources>,
    Path(name): Path<String>,
    parts: Parts,
) -> Response<Body> {
    let may_read = parts.extensions.get::<Actor>().is_some_and(|actor| actor.may() >= May::OPERATE);
    answer::answer(pages, NodePage { name, known, beats, sources, may_read }, &parts).await
}

async fn log(
    State(pages): PagesState,
    State(store): StoreState,
    Path((node, run, name)): Path<(String, String, String)>,
    Query(LogQuery { part }): Query<LogQuery>,
    parts: Parts,
) -> Response<Body> {
    let page = LogPage { node, log: UploadedLog { run, name }, part, store };
    answer::answer(pages, page, &parts).await
}

async fn script(
    State(pages): PagesState,
    State(store): StoreState,
    State(fleet): FleetState,
    State(sources): State<Arc<Sources>>,
    Path(name): Path<String>,
    parts: Parts,
) -> Response<Body> {
    answer::answer(pages, Script { name, store, fleet, sources }, &parts).await
}

async fn job(
    State(pages): PagesState,
    State(fleet): FleetState,
    State(jobs): State<Arc<Jobs>>,
    Path(id): Path<String>,
    parts: Parts,
) -> Response<Body> {
    match jobs.job(&id).await {
        Ok(Some(job)) => answer::answer(pages, JobPage { job, jobs, fleet }, &parts).await,
        Ok(None) => {
            let error = format!("there is no job {id:?}, or it is kept no longer");
            let hint = "see what nodes report: /nodes; what was changed: provostctl audit";
            answer::refused(&Refusal::new(StatusCode::NOT_FOUND, error, hint), "nodes")
        }
        Err(error) => answer::refused(&error.into(), "nodes"),
    }
}

async fn pending(
    State(pages): PagesState,
    State(enrolment): State<Arc<Enrolment>>,
    parts: Parts,
) -> Response<Body> {
    answer::answer(pages, PendingPage { enrolment }, &parts).await
}
