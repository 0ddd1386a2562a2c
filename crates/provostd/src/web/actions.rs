//! What an admin may change on the page. A page asks first, and names the nodes and what will be typed on them; the
//! change itself is that of the API, with its entry in the audit log.

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, Path, Query, Request, State};
use axum::http::{Response, Uri};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Redirect};
use axum::routing::get;
use provost_plan::nodes::expand;
use serde_json::json;

use super::action::{Action, of_node};
use super::answer;
use super::confirmation::{Chosen, confirmation};
use super::form::{self, Fields};
use super::node_list::{NodeList, NodeListQuery};
use crate::admin::accounts::{Actor, May};
use crate::admin::jobs::start::{self, JobId};
use crate::admin::request;
use crate::admin::{AdminState, changes};
use crate::listener::refusal::Refusal;

/// The pages that ask, and the changes.
pub(super) fn router(admin: AdminState) -> Router {
    let audit = admin.audit.clone();
    let routes = Action::ALL.into_iter().fold(Router::new(), |router, action| {
        let word = action.word();
        let change = match action {
            Action::Continue => audit.change(word, May::OPERATE, start::go_on),
            Action::Boot => audit.change(word, May::OPERATE, start::boot),
            Action::Rerun => audit.change(word, May::OPERATE, start::rerun),
            Action::Release => audit.change(word, May::OPERATE, changes::release),
            Action::Remove => audit.change(word, May::OPERATE, changes::remove),
        };
        let made = admin.clone();
        let change =
            change.layer(from_fn(move |actor: Extension<Actor>, request: Request, next: Next| {
                make(action, made.clone(), actor, request, next)
            }));
        let ask = get(move |state, uri, actor| ask(action, state, uri, actor));
        let ask_one = get(move |state, path, uri, actor| ask_one(action, state, path, uri, actor));
        router
            .route(&format!("/act/{word}"), ask.merge(change))
            .route(&format!("/nodes/{{node}}/{word}"), ask_one)
    });
    routes.with_state(admin)
}

/// Asks whether it is meant, of the nodes that a list shows.
async fn ask(
    action: Action,
    State(admin): State<AdminState>,
    uri: Uri,
    Extension(actor): Extension<Actor>,
) -> Response<Body> {
    let chosen = async {
        let fields = Fields::parse(uri.query().unwrap_or_default());
        let script = fields.value("script").map(str::to_owned);
        let (nodes, back) = match fields.value("nodes") {
            Some(text) => (request::expand(text)?, "/nodes".to_owned()),
            None => {
                let query = Query::<NodeListQuery>::try_from_uri(&uri);
                let Query(query) = query
                    .map_err(|e| request::invalid(e.body_text(), "follow the links of /nodes"))?;
                let list = NodeList::new(
                    query,
                    admin.fleet.clone(),
                    admin.beats.clone(),
                    admin.enrolment.clone(),
                )?;
                (list.names().await?, list.address())
            }
        };
        Ok(Chosen { nodes, script, fields, back, address: uri.path().to_owned() })
    };
    show(action, &admin, chosen.await, &actor).await
}

/// Asks whether it is meant, of one node.
async fn ask_one(
    action: Action,
    State(admin): State<AdminState>,
    Path(node): Path<String>,
    uri: Uri,
    Extension(actor): Extension<Actor>,
) -> Response<Body> {
    let fields = Fields::parse(uri.query().unwrap_or_default());
    let script = fields.value("script").map(str::to_owned);
    let (back, address) = (of_node(&node), uri.path().to_owned());
    let chosen = Chosen { nodes: vec![node], script, fields: Fields::default(), back, address };
    show(action, &admin, Ok(chosen), &actor).await
}

async fn show(
    action: Action,
    admin: &AdminState,
    chosen: Result<Chosen, Refusal>,
    actor: &Actor,
) -> Response<Body> {
    let content = async {
        actor.check(action.word(), May::OPERATE)?;
        confirmation(action, admin, chosen?).await
    };
    match content.await {
        Ok((title, content)) => answer::still(&title, "nodes", &content, actor),
        Err(refusal) => answer::refused(&refusal, "nodes"),
    }
}

/// Makes a request of the API out of a form's, and leads to a page of its result.
async fn make(
    action: Action,
    admin: AdminState,
    Extension(actor): Extension<Actor>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    let bodies = &admin.audit.bodies;
    if let Err(refusal) = actor.check(action.word(), May::OPERATE) {
        bodies.drain(body).await;
        return answer::refused(&refusal, "nodes");
    }
    let fields = match Fields::read(bodies, body).await {
        Ok(fields) => fields,
        Err(refusal) => return answer::refused(&refusal, "nodes"),
    };
    let nodes = fields.value("nodes").unwrap_or_default();
    let mut body = json!({ "nodes": [nodes] });
    if let Some(script) = fields.value("script") {
        body["script"] = script.into();
    }
    let response = next.run(form::with_json(head, &body)).await;
    if !response.status().is_success() {
        return form::refused(response, "nodes").await;
    }
    let to = match (response.extensions().get::<JobId>(), expand(nodes).as_deref()) {
        (Some(JobId(id)), _) => format!("/jobs/{id}"),
        (None, Ok([node])) => action.then(node),
        (None, nodes) => {
            let nodes = nodes.unwrap_or_default().to_vec();
            match admin.jobs.add_done(action.word(), actor.who(), nodes).await {
                Ok(id) => format!("/jobs/{id}"),
                // It is done all the same, and the log of changes has it.
                Err(_) => "/nodes".to_owned(),
            }
        }
    };
    Redirect::to(&to).into_response()
}
