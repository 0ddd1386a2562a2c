//! One server.

use provost_api::{ErrorBody, headers, published};
use provost_record::Cause;
use provost_steplog::wording;
use reqwest::header::{self, HeaderMap};
use reqwest::{Response, StatusCode, Url};

use super::error::FetchError;
use crate::failure::Failure;
use crate::settings::{Settings, Token};
use provost_http::resolve::Unresolved;
use provost_http::{Client, body, innermost, one_line, reason, retry_after};

/// How much of an error page is read for the server's own hint, in bytes.
const MAX_ERROR: usize = 4096;

/// One server to fetch from.
pub struct Server<'a> {
    /// The client of this process.
    pub client: &'a Client,
    /// Its URL, to which paths are added.
    pub base: &'a Url,
    /// The node's token, sent with requests for its plan and secrets alone.
    pub token: Option<&'a Token>,
    /// The present run's id.
    pub run: &'a str,
    /// Whether one request goes after the other, over one connection, instead of some at the same time: a server
    /// that an attempt has failed at may have thousands of nodes to serve.
    pub one_by_one: bool,
    /// What an admin can do about a refusal of a path, where this kind of server has its own hint.
    pub hint: fn(&str, StatusCode) -> Option<String>,
}

impl<'a> Server<'a> {
    /// The server at `base`, whatever it serves.
    pub fn new(client: &'a Client, base: &'a Url) -> Self {
        let hint = |_: &str, _| None;
        Self { client, base, token: None, run: "", one_by_one: false, hint }
    }

    /// The server at `base`, to the run with the id `run`.
    pub fn published(
        settings: &'a Settings,
        client: &'a Client,
        base: &'a Url,
        run: &'a str,
    ) -> Self {
        Self { token: settings.token.as_ref(), run, ..Self::new(client, base) }
    }

    /// The answers to two requests.
    pub(crate) async fn both<A, B>(
        &self,
        first: impl Future<Output = Result<A, FetchError>>,
        second: impl Future<Output = Result<B, FetchError>>,
    ) -> Result<(A, B), FetchError> {
        // On the heap: they are large, and a run may have a small stack.
        let (first, second) = (Box::pin(first), Box::pin(second));
        match self.one_by_one {
            true => Ok((first.await?, second.await?)),
            false => tokio::try_join!(first, second),
        }
    }

    /// The URL of `path` there.
    pub fn url(&self, path: &str) -> String {
        // Both parts are checked names; joining them as a URL would read `//` or `:` in them.
        match published::is_private(path) {
            true => format!("{}{path}", self.client.transport().private(self.base)),
            false => format!("{}{path}", self.base),
        }
    }

    /// Asks for `path`. An answer that isn't one of `good` is a miss.
    pub async fn ask(
        &self,
        path: &str,
        headers: HeaderMap,
        good: &[StatusCode],
    ) -> Result<Response, FetchError> {
        let url = self.url(path);
        let client = if published::is_private(path) { self.client.private() } else { self.client };
        let mut request = client.get(&url).headers(headers);
        // The token goes with nothing but the node's own.
        if published::is_private(path) {
            request = request.header(headers::RUN, self.run);
            if let Some(token) = self.token {
                request = request.bearer_auth(&token.0);
            }
        }
        let response = request.send().await.map_err(|e| broken(&url, &e))?;
        match good.contains(&response.status()) {
            true => Ok(response),
            false => {
                let hint = self.hint(path, response.status());
                Err(refused(&url, hint, response).await)
            }
        }
    }

    /// What an admin can do about a `status` that isn't good.
    fn hint(&self, path: &str, status: StatusCode) -> String {
        if let Some(hint) = (self.hint)(path, status) {
            return hint;
        }
        let readable =
            "let it read that file (chmod a+r) and enter the folders above it (namei -l)";
        match status.as_u16() {
            300..=399 if path.is_empty() => {
                "use the URL that the redirect leads to: redirects are not followed".to_owned()
            }
            // Not of the published files, but what a script asks for by `provost fetch`.
            400..=499 if path.is_empty() => {
                "check the URL, and that everybody may read the file: curl -v URL".to_owned()
            }
            300..=399 => {
                "set `servers` to the URL that the redirect leads to: redirects are not followed"
                    .to_owned()
            }
            401 => "let this node join: provostctl join NODE".to_owned(),
            403 | 404 if path.starts_with(published::SECRETS) => {
                "publish again, with --group and the group \
                 that provostd runs as; no web server but provostd itself may read WWW/secrets"
                    .to_owned()
            }
            403 if path.starts_with(published::PLANS) => format!(
                "on the management node the web server can't read WWW/{path}: publish again with \
                 --group and the group of its user (chmod a+r would show the plan's secrets to \
                 everybody there)"
            ),
            403 => format!(
                "on the management node the web server can't read WWW/{path}: {readable}, or \
                 publish again"
            ),
            404 | 410 => format!(
                "there is no WWW/{path} on that server: publish there, and check that site.toml names \
                 this node"
            ),
            _ => "check the server's log".to_owned(),
        }
    }
}

/// What it means that no answer came, or not all of it.
pub fn broken(url: &str, e: &reqwest::Error) -> FetchError {
    let unresolved = innermost(e).downcast_ref::<Unresolved>();
    let (why, hint) = if let Some(unresolved) = unresolved {
        (unresolved.to_string(), unresolved.hint())
    } else if e.is_connect() && e.is_timeout() {
        (
            "not connected within `connect_timeout`".to_owned(),
            "check that the server is up and that no firewall drops packets to it: ping it",
        )
    } else if is_another(innermost(e)) {
        let hint = "look who is in between; or, if the server's authority or certificate is another \
                    one now, publish that: provostctl publish … --tls \"$(provostd ca show --tls)\"";
        let message = format!("fetching {url}: {}", reason(e));
        return FetchError::give_up(Failure::new(Cause::Verify, message, hint));
    } else if e.is_connect() {
        (reason(e), "check that the server runs and that this node can reach it: curl -v URL")
    } else if e.is_timeout() {
        (
            "the server sent nothing for too long".to_owned(),
            "check why the server hangs, or raise `stall_timeout` under [fetch]",
        )
    } else {
        (reason(e), "check for a proxy or a broken link between this node and the server")
    };
    FetchError::silent(Failure::new(Cause::Fetch, format!("fetching {url}: {why}"), hint))
}

/// Whether a server wasn't the one that this node knows.
fn is_another(e: &(dyn std::error::Error + 'static)) -> bool {
    // Each layer of the client may have wrapped it once.
    match e.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
        Some(inner) => is_another(inner),
        None => matches!(e.downcast_ref(), Some(rustls::Error::InvalidCertificate(_))),
    }
}

/// What an answer means that wasn't asked for.
pub(super) async fn refused(url: &str, hint: String, response: Response) -> FetchError {
    let status = response.status();
    let wait = retry_after(response.headers());
    let place = response.headers().get(header::LOCATION).map(|place| place.as_bytes().to_owned());
    let passes = matches!(status.as_u16(), 408 | 425 | 429) || status.is_server_error();
    // What broke off is no worse than what says nothing.
    let refusal = ErrorBody::parse(&body(response, MAX_ERROR).await.unwrap_or_default());
    let mut message = format!("fetching {url}: the server responded {status}");
    if let Some(place) = &place {
        message += &format!(", go to {}", one_line(&String::from_utf8_lossy(place)));
    }
    if let Some(wait) = wait.filter(|_| passes) {
        message += &format!(", and to come back in {}", wording::duration(wait));
    }
    if let Some(body) = &refusal {
        message += &format!(": {}", one_line(&body.error));
    }
    let hint = refusal.map_or(hint, |body| one_line(&body.hint));
    let failure = Failure::new(Cause::Fetch, message, hint);
    match status {
        _ if passes => FetchError::busy(failure, wait),
        StatusCode::UNAUTHORIZED => FetchError::unknown_here(failure),
        StatusCode::NOT_FOUND | StatusCode::GONE => FetchError::inconsistent(failure),
        _ => FetchError::give_up(failure),
    }
}
