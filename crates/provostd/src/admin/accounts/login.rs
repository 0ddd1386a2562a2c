//! Who an admin is, over TLS: by a bearer token with each request, or by a cookie that a browser got
//! for its token.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{Extension, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::post;
use futures_util::StreamExt;
use provost_record::now;
use provost_store::{Admin, Store, StoreError};
use serde::Deserialize;
use tokio::time::sleep;

use super::actor::Actor;
use super::sessions;
use super::sessions::{Digest, Sessions};
use crate::listener::bodies::Bodies;
use crate::listener::connections::Connection;
use crate::listener::refusal::Refusal;
use crate::listener::token;
use crate::listener::token::{bearer, digest};

/// The cookie's name. By its prefix a browser takes it over TLS alone, and from no other host
/// (RFC 6265bis, section 4.1.3.2).
const COOKIE: &str = "__Host-provost";
/// How often it is checked, while an answer goes on, whether who asked is still an admin.
const CHECK: Duration = Duration::from_secs(1);
/// The longest body of a login, in bytes.
const MAX_LOGIN: usize = 4096;
const NO_TOKEN: &str = "make one on the management node: provostctl admin add NAME --role read; then: provostctl --token-file FILE …";

/// What tells which admin sends a request.
pub(crate) struct Logins {
    pub(crate) store: Arc<dyn Store>,
    /// The browsers that have logged in.
    pub(crate) sessions: Sessions,
    pub(crate) bodies: Arc<Bodies>,
}

/// The admin API `api` for those who prove who they are, and how a browser does that, with what is
/// `open` to all.
pub(crate) fn over_tls(logins: Arc<Logins>, api: Router, open: Router) -> Router {
    let with_cookie = Router::new()
        .route("/login", post(login))
        .route("/logout", post(logout))
        .with_state(Arc::clone(&logins))
        .merge(open);
    api.layer(from_fn_with_state(logins, authenticate))
        .merge(with_cookie)
        .layer(from_fn(refuse_other_sites))
}

/// Accepts a request only from an admin.
async fn authenticate(
    State(logins): State<Arc<Logins>>,
    Extension(by): Extension<Arc<Connection>>,
    mut request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let headers = request.headers();
    let credential = match (bearer(headers), session(headers)) {
        (Some(token), _) => Some(Credential::Token(digest(token))),
        (None, Some(session)) => Some(Credential::Session(session)),
        (None, None) => None,
    };
    let known = match credential {
        Some(credential) => logins.admin(credential).await?.map(|admin| (credential, admin)),
        None => None,
    };
    let Some((credential, admin)) = known else {
        return Err(unknown(if credential.is_some() { UNKNOWN } else { NONE }));
    };
    by.has_token();
    request.extensions_mut().insert(Actor::Admin(admin, by.address().to_string()));
    let response = next.run(request).await;
    Ok(response.map(|body| while_known(logins, credential, body)))
}

/// By what a request says whose it is.
#[derive(Clone, Copy)]
enum Credential {
    Token(Digest),
    Session(Digest),
}

impl Logins {
    /// Whose the credential is, if it still counts.
    async fn admin(&self, credential: Credential) -> Result<Option<Admin>, StoreError> {
        let token = match credential {
            Credential::Token(token) => Some(token),
            Credential::Session(session) => self.sessions.token(&session),
        };
        match token {
            Some(token) => self.store.admin_of_token(token, now()).await,
            None => Ok(None),
        }
    }
}

/// An answer that is made as things happen, such as events, ends with the credential that it was asked
/// for by.
fn while_known(logins: Arc<Logins>, credential: Credential, body: Body) -> Body {
    if body.size_hint().exact().is_some() {
        return body;
    }
    let over = async move {
        loop {
            sleep(CHECK).await;
            // A store that doesn't answer just now ends nothing.
            if let Ok(None) = logins.admin(credential).await {
                return;
            }
        }
    };
    Body::from_stream(body.into_data_stream().take_until(Box::pin(over)))
}

/// What is wrong with a request of somebody who has proved nothing yet.
pub(crate) const NONE: &str = "the request has no admin's token";
const UNKNOWN: &str = "the token is no admin's, or has expired";

fn unknown(error: &str) -> Refusal {
    Refusal::new(StatusCode::UNAUTHORIZED, error, NO_TOKEN)
}

#[derive(Deserialize)]
struct Login {
    token: String,
}

/// `POST /login`, with a form's `token=TOKEN` or the same as JSON.
async fn login(
    State(logins): State<Arc<Logins>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let body = logins.bodies.read(body, MAX_LOGIN).await?;
    let text = str::from_utf8(&body.bytes).unwrap_or_default();
    let json = serde_json::from_str::<Login>(text).ok();
    let is_form = json.is_none();
    // A token has no character that a form would escape.
    let token = json.map(|login| login.token);
    let token = token.or_else(|| Some(text.strip_prefix("token=")?.to_owned()));
    let token = digest(token.unwrap_or_default().trim());
    if logins.admin(Credential::Token(token)).await?.is_none() {
        return Err(unknown(UNKNOWN));
    }
    let secret = token::random()?;
    if let Some(before) = session(&headers) {
        logins.sessions.end(&before);
    }
    logins.sessions.begin(digest(&secret), token);
    Ok(answer(&secret, sessions::LASTS.as_secs(), is_form))
}

/// `POST /logout`.
async fn logout(State(logins): State<Arc<Logins>>, headers: HeaderMap) -> Response {
    if let Some(session) = session(&headers) {
        logins.sessions.end(&session);
    }
    let kind = headers.get(header::CONTENT_TYPE);
    let is_form = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/x-www-form"));
    answer("", 0, is_form)
}

/// Sets the cookie for `seconds`. A browser with a form then goes to the first page.
fn answer(secret: &str, seconds: u64, is_form: bool) -> Response {
    let cookie =
        format!("{COOKIE}={secret}; Path=/; Max-Age={seconds}; Secure; HttpOnly; SameSite=Strict");
    let headers = [(header::SET_COOKIE, cookie)];
    match is_form {
        true => (headers, Redirect::to("/")).into_response(),
        false => (StatusCode::NO_CONTENT, headers).into_response(),
    }
}

/// The digest of the session that a browser sends.
fn session(headers: &HeaderMap) -> Option<[u8; 32]> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|one| one.split_once('='));
    let (_, secret) = pairs.find(|(name, _)| name.trim() == COOKIE)?;
    Some(digest(secret.trim()))
}

/// A browser says where a request comes from. Another page's may change nothing here: neither with
/// the cookie of who looks at it, nor by a login as somebody else.
pub(crate) async fn refuse_other_sites(request: Request, next: Next) -> Result<Response, Refusal> {
    let is_safe = [Method::GET, Method::HEAD].contains(request.method());
    if !is_safe && is_of_another_site(request.uri(), request.headers()) {
        let error = "the request comes from a page of another site";
        return Err(Refusal::new(StatusCode::FORBIDDEN, error, "use provostd's own page"));
    }
    Ok(next.run(request).await)
}

fn is_of_another_site(uri: &Uri, headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    if let Some(site) = text(header::HeaderName::from_static("sec-fetch-site")) {
        return !["same-origin", "none"].contains(&site);
    }
    let host = text(header::HOST).or(uri.authority().map(Authority::as_str));
    let origin = text(header::ORIGIN);
    origin.is_some_and(|origin| origin.strip_prefix("https://") != host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_another_site_is_known_by_what_browsers_send() {
        let of = |sent: &[(&'static str, &str)]| {
            let sent = sent.iter().map(|(name, value)| {
                (header::HeaderName::from_static(name), value.parse().unwrap())
            });
            is_of_another_site(&Uri::from_static("/v1/release"), &sent.collect())
        };
        let host = ("host", "mgmt:8483");
        assert!(!of(&[host]), "curl");
        assert!(!of(&[host, ("origin", "https://mgmt:8483")]));
        assert!(!of(&[host, ("sec-fetch-site", "same-origin"), ("origin", "https://mgmt:8483")]));
        for foreign in ["https://evil.example", "https://mgmt", "http://mgmt:8483", "null"] {
            assert!(of(&[host, ("origin", foreign)]), "{foreign}");
        }
        for site in ["cross-site", "same-site", ""] {
            assert!(of(&[host, ("sec-fetch-site", site), ("origin", "https://mgmt:8483")]));
        }
    }
}
