//! One server.

use std::path::Path;
use std::time::Duration;

use provost_bundle::{Arrival, ArrivalError, FileEntry};
use provost_record::Cause;
use reqwest::{Client, Response, StatusCode, Url, header};

use super::MAX_SIGNATURE;
use super::retry::Miss;
use crate::failure::Failure;
use crate::http::{body, reason, told};
use crate::settings::{Settings, Token};

/// How much of an error page is read for the server's own hint, in bytes.
const MAX_ERROR: usize = 4096;

/// One server to fetch from.
pub(super) struct Source<'a> {
    pub(super) client: &'a Client,
    pub(super) base: &'a Url,
    pub(super) token: Option<&'a Token>,
}

impl Source<'_> {
    pub(super) fn url(&self, path: &str) -> String {
        // Both parts are checked names; joining them as a URL would read `//` or `:` in them.
        format!("{}{path}", self.base)
    }

    /// A file that fits into memory: at most `most` bytes.
    pub(super) async fn small(&self, path: &str, most: u64) -> Result<Vec<u8>, Miss> {
        let mut text = Vec::new();
        let url = self.url(path);
        // The token goes with nothing but the node's own plan.
        self.stream(path, path.starts_with("plans/"), |bytes| {
            text.extend_from_slice(bytes);
            if text.len() as u64 <= most {
                return Ok(());
            }
            let message = format!("fetching {url}: it has more than {most} bytes");
            Err(Miss::last(Failure::new(Cause::Verify, message, "see what that server serves")))
        })
        .await?;
        Ok(text)
    }

    /// A signature, if one is asked for; whether there must be one is for the trust to say.
    pub(super) async fn signature(
        &self,
        path: &str,
        settings: &Settings,
    ) -> Result<Option<String>, Miss> {
        if settings.trust.is_unsigned() {
            return Ok(None);
        }
        match self.small(path, MAX_SIGNATURE).await {
            Ok(text) => Ok(Some(String::from_utf8_lossy(&text).into_owned())),
            Err(miss) => Err(miss),
        }
    }

    /// One file of the bundle, verified while it streams.
    pub(super) async fn object(&self, entry: &FileEntry, into: &Path) -> Result<(), Miss> {
        let path = entry.object_path();
        let url = self.url(&path);
        let wrong = |e: &ArrivalError| {
            let cause = match e {
                ArrivalError::Mismatch(_) => Cause::Verify,
                ArrivalError::Disk { .. } => Cause::Config,
            };
            Miss::last(Failure::new(cause, format!("{e}, at {url}"), e.hint()))
        };
        let mut arrival = Arrival::new(entry, into).map_err(|e| wrong(&e))?;
        self.stream(&path, false, |bytes| arrival.write_all(bytes).map_err(|e| wrong(&e))).await?;
        arrival.finish().map_err(|e| wrong(&e))
    }

    /// Gives the content of `path` to `take`, piece by piece.
    pub(super) async fn stream(
        &self,
        path: &str,
        with_token: bool,
        mut take: impl FnMut(&[u8]) -> Result<(), Miss>,
    ) -> Result<(), Miss> {
        let url = self.url(path);
        let mut request = self.client.get(&url);
        if let (true, Some(token)) = (with_token, self.token) {
            request = request.bearer_auth(&token.0);
        }
        let broken = |e: &reqwest::Error| Miss::passing(unreachable(&url, e), None);
        let mut response = request.send().await.map_err(|e| broken(&e))?;
        if response.status() != StatusCode::OK {
            return Err(refused(&url, response).await);
        }
        while let Some(bytes) = response.chunk().await.map_err(|e| broken(&e))? {
            take(&bytes)?;
        }
        Ok(())
    }
}

fn unreachable(url: &str, e: &reqwest::Error) -> Failure {
    let (why, hint) = if e.is_connect() {
        (reason(&e), "see that the server runs and that this node can reach it: curl -v that URL")
    } else if e.is_timeout() {
        (
            "the server sent nothing for too long".to_owned(),
            "see why the server is stuck, or raise `stall_timeout` under [fetch]",
        )
    } else {
        (reason(&e), "see what stands between this node and the server: a proxy, a broken link")
    };
    Failure::new(Cause::Fetch, format!("fetching {url}: {why}"), hint)
}

/// What an answer other than 200 means.
async fn refused(url: &str, response: Response) -> Miss {
    let status = response.status();
    let wait = response.headers().get(header::RETRY_AFTER);
    let wait = wait.and_then(|w| w.to_str().ok()?.trim().parse().ok()).map(Duration::from_secs);
    let passes = matches!(status.as_u16(), 408 | 425 | 429) || status.is_server_error();
    // What broke off is no worse than what says nothing.
    let told = told(&body(response, MAX_ERROR).await.unwrap_or_default());
    let why = told.error.map_or(String::new(), |error| format!(": {error}"));
    let message = format!("fetching {url}: the server answers {status}{why}");
    let hint = told.hint.unwrap_or_else(|| {
        match status.as_u16() {
            401 => "give this node its token: `provostctl token NODE`, then token_file",
            403 => "the web server on the management node may not read that file: chmod a+r it",
            404 | 410 => "publish there, and see that site.toml names this node",
            _ => "see the server's own log",
        }
        .to_owned()
    });
    let failure = Failure::new(Cause::Fetch, message, hint);
    if passes { Miss::passing(failure, wait) } else { Miss::last(failure) }
}
