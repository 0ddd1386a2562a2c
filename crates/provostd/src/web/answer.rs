//! The answer to a request for a page: a whole document, or its content alone as a stream.

use std::sync::Arc;

use askama::Template;
use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::response::{Html, IntoResponse};
use provost_steplog::terminal::escape;

use super::live::Pages;
use super::page::{Page, harmless, render, rendered};
use super::{action, assets, live};
use crate::admin::accounts::Actor;
use crate::listener::refusal::Refusal;

#[derive(Template)]
#[template(path = "document.html")]
struct Document<'a> {
    title: &'a str,
    section: &'a str,
    style: String,
    script: String,
    content: &'a str,
    /// Whether it changes while it is open.
    is_live: bool,
    /// Who has logged in.
    admin: Option<&'a str>,
    /// What they may do with what is shown: a label and an address each.
    actions: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "login.html")]
struct Login<'a> {
    error: Option<&'a str>,
    style: String,
}

#[derive(Template)]
#[template(path = "refused.html")]
struct Refused<'a> {
    error: &'a str,
    hint: &'a str,
}

/// Answers a request for `page`: with the whole document; or, where an event
/// stream is asked for, with its content now and whenever that changes.
pub(super) async fn answer(pages: Arc<Pages>, page: impl Page, parts: &Parts) -> Response<Body> {
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let accepted = parts.headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    if accepted.is_some_and(|accepted| accepted.contains("text/event-stream")) {
        return live::stream(pages, page, path.to_owned()).into_response();
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
            let of = PageFrame { admin: actor.and_then(admin), actions, is_live: true };
            document(StatusCode::OK, &title, section, &content, of)
        }
        Err(refusal) => refused(&refusal, section),
    }
}

/// Who has logged in, if that was needed.
fn admin(actor: &Actor) -> Option<&str> {
    match actor {
        Actor::Admin(admin, _) => Some(&admin.name),
        _ => None,
    }
}

/// What is around the content.
#[derive(Default)]
struct PageFrame<'a> {
    admin: Option<&'a str>,
    actions: Vec<(String, String)>,
    is_live: bool,
}

/// A document that stays as it is.
pub(super) fn still(title: &str, section: &str, content: &str, actor: &Actor) -> Response<Body> {
    let of = PageFrame { admin: admin(actor), ..PageFrame::default() };
    document(StatusCode::OK, title, section, &harmless(content), of)
}

/// A document that says why there is no page.
pub(super) fn refused(refusal: &Refusal, section: &str) -> Response<Body> {
    let content = render(&Refused { error: &refusal.error, hint: &refusal.hint });
    match content {
        Ok(content) => {
            document(refusal.status, "Error", section, &harmless(&content), PageFrame::default())
        }
        Err(refusal) => refusal.into_response(),
    }
}

fn document(
    status: StatusCode,
    title: &str,
    section: &str,
    content: &str,
    of: PageFrame<'_>,
) -> Response<Body> {
    let PageFrame { admin, actions, is_live } = of;
    let title = &escape(title);
    let (style, script) = (assets::STYLE.path(), assets::SCRIPT.path());
    match render(&Document { title, section, style, script, content, is_live, admin, actions }) {
        Ok(text) => (status, Html(text)).into_response(),
        Err(refusal) => refusal.into_response(),
    }
}

/// The form for a login; `error` says why the last one failed.
pub(super) fn login(status: StatusCode, error: Option<&str>) -> Response<Body> {
    match render(&Login { error, style: assets::STYLE.path() }) {
        Ok(text) => (status, Html(text)).into_response(),
        Err(refusal) => refusal.into_response(),
    }
}

/// What a browser may do with an answer of these pages.
pub(super) fn guard(headers: &mut HeaderMap) {
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
