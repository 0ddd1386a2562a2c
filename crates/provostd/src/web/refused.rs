//! What a browser shows where a request is refused.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Response, StatusCode, header};
use axum::middleware::Next;

use super::answer;
use super::assets::Assets;
use crate::admin::accounts::login::NONE;
use crate::listener::refusal::{Refusal, Refused};

/// To a browser that shows a page, a refusal is a page, too: the form for a login, with what was wrong with
/// the last one, if it isn't known who asks; else what is wrong.
pub(crate) async fn in_pages(
    assets: State<Arc<Assets>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let accept = request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let shows_pages = accept.is_some_and(|accept| accept.contains("text/html"));
    let path = request.uri().path().to_owned();
    let response = next.run(request).await;
    if !shows_pages {
        return response;
    }
    let refused = response.extensions().get::<Refused>();
    if response.status() == StatusCode::UNAUTHORIZED {
        // Who only opens the page has done nothing wrong.
        let wrong = refused.map(|refused| refused.error.as_str()).filter(|error| *error != NONE);
        return answer::finish(assets, answer::login(StatusCode::UNAUTHORIZED, wrong)).await;
    }
    let Some(Refused { error, hint }) = refused.filter(|_| !is_of_programs(&path)) else {
        return response;
    };
    let refusal = match response.status() {
        StatusCode::NOT_FOUND if error == "not found" => {
            let hint = "go to the overview: /, or use the menu";
            Refusal::new(StatusCode::NOT_FOUND, format!("there is no page {path}"), hint)
        }
        status => Refusal::new(status, error, hint),
    };
    let mut page = answer::finish(assets, answer::refused(&refusal, "")).await;
    for name in [header::ALLOW, header::RETRY_AFTER] {
        if let Some(value) = response.headers().get(&name) {
            page.headers_mut().insert(name, value.clone());
        }
    }
    page
}

/// Whether programs ask for it: they get JSON, as they do without a browser.
fn is_of_programs(path: &str) -> bool {
    path.starts_with("/v1/")
        || [provost_api::admins::HEALTH.0, provost_api::admins::METRICS.0].contains(&path)
}
