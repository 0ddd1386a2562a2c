//! The answer to a request for a page: a whole document, or its content alone as a stream.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::request::Parts as RequestParts;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::response::{Html, IntoResponse};
use provost_steplog::terminal::escape;

use super::assets::Assets;
use super::live::Pages;
use super::page::{Page, harmless, render, rendered, with_failed};
use super::{action, live};
use crate::admin::accounts::Actor;
use crate::listener::refusal::Refusal;

/// A document that [`finish`] renders: whoever answers a request needs to know nothing of the site.
#[derive(Clone)]
enum Unfinished {
    Document(Arc<Parts>),
    Login(Option<String>),
}

/// What a document is made of.
struct Parts {
    title: String,
    section: String,
    content: String,
    frame: PageFrame,
}

#[derive(Template)]
#[template(path = "document.html")]
struct Document<'a> {
    assets: &'a Assets,
    title: &'a str,
    section: &'a str,
    content: &'a str,
    /// Whether it changes while it is open.
    is_live: bool,
    /// How many nodes fail, which the icon shows.
    failed: usize,
    /// Who has logged in.
    admin: Option<&'a str>,
    /// What they may do with what is shown: a label and an address each.
    actions: &'a [(String, String)],
}

#[derive(Template)]
#[template(path = "login.html")]
struct Login<'a> {
    error: Option<&'a str>,
    assets: &'a Assets,
}

#[derive(Template)]
#[template(path = "refused.html")]
struct Refused<'a> {
    error: &'a str,
    hint: &'a str,
}

/// Answers a request for `page`: with the whole document; or, where an event
/// stream is asked for, with its content now and whenever that changes.
pub(super) async fn answer(
    pages: Arc<Pages>,
    page: impl Page,
    parts: &RequestParts,
) -> Response<Body> {
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let accepted = parts.headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    if accepted.is_some_and(|accepted| accepted.contains("text/event-stream")) {
        // No address has a blank.
        let shared = format!("{path} {}", page.audience());
        return live::stream(pages, page, shared).into_response();
    }
    let (title, section) = (page.title(), page.section());
    let actor = parts.extensions.get::<Actor>();
    let actions = match (page.node().await, page.selected()) {
        (Some(node), _) => action::links(actor, node),
        (None, Some(query)) => action::links_of_all(actor, &query),
        (None, None) => Vec::new(),
    };
    match rendered(&page).await {
        Ok(content) => {
            let failed = pages.failed().await;
            let content = with_failed(content, failed);
            let admin = actor.and_then(admin);
            let frame = PageFrame { admin, actions, is_live: true, failed };
            document(StatusCode::OK, &title, section, content, frame)
        }
        Err(refusal) => refused(&refusal, section),
    }
}

/// Who has logged in, if that was needed.
fn admin(actor: &Actor) -> Option<String> {
    match actor {
        Actor::Admin(admin, _) => Some(admin.name.clone()),
        _ => None,
    }
}

/// What is around the content.
#[derive(Default)]
struct PageFrame {
    admin: Option<String>,
    actions: Vec<(String, String)>,
    is_live: bool,
    failed: usize,
}

/// A document that stays as it is.
pub(super) fn still(title: &str, section: &str, content: &str, actor: &Actor) -> Response<Body> {
    let frame = PageFrame { admin: admin(actor), ..PageFrame::default() };
    document(StatusCode::OK, title, section, harmless(content), frame)
}

/// A document that says why there is no page.
pub(super) fn refused(refusal: &Refusal, section: &str) -> Response<Body> {
    let content = render(&Refused { error: &refusal.error, hint: &refusal.hint });
    match content {
        Ok(content) => {
            let frame = PageFrame::default();
            document(refusal.status, "Error", section, harmless(&content), frame)
        }
        Err(refusal) => refusal.into_response(),
    }
}

fn document(
    status: StatusCode,
    title: &str,
    section: &str,
    content: String,
    frame: PageFrame,
) -> Response<Body> {
    let (title, section) = (escape(title), section.to_owned());
    let parts = Parts { title, section, content, frame };
    (status, Extension(Unfinished::Document(Arc::new(parts)))).into_response()
}

/// The form for a login; `error` says why the last one failed.
pub(super) fn login(status: StatusCode, error: Option<&str>) -> Response<Body> {
    (status, Extension(Unfinished::Login(error.map(str::to_owned)))).into_response()
}

/// Renders a document of the functions above, with what is the site's own.
pub(super) async fn finish(
    State(assets): State<Arc<Assets>>,
    mut response: Response<Body>,
) -> Response<Body> {
    let status = response.status();
    let mut response = match response.extensions_mut().remove::<Unfinished>() {
        None => response,
        Some(unfinished) => match unfinished.render(&assets) {
            Ok(text) => (status, Html(text)).into_response(),
            Err(refusal) => refusal.into_response(),
        },
    };
    guard(response.headers_mut());
    response
}

impl Unfinished {
    fn render(&self, assets: &Assets) -> Result<String, Refusal> {
        match self {
            Self::Login(error) => render(&Login { error: error.as_deref(), assets }),
            Self::Document(parts) => {
                let Parts { title, section, content, frame } = &**parts;
                let PageFrame { admin, actions, is_live, failed } = frame;
                let (is_live, failed, admin) = (*is_live, *failed, admin.as_deref());
                let document =
                    Document { assets, title, section, content, is_live, failed, admin, actions };
                render(&document)
            }
        }
    }
}

/// What a browser may do with an answer of these pages.
fn guard(headers: &mut HeaderMap) {
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                  connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    for (name, value) in [
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // What a node has printed stays on no disk.
    let cache = headers.entry(header::CACHE_CONTROL);
    cache.or_insert(HeaderValue::from_static("no-store"));
    // One address is a document and a stream.
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
}
