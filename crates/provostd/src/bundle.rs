use std::io;
use std::path::PathBuf;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tower_http::services::ServeFile;

use crate::App;
use crate::refusal::Refusal;

/// Length of a SHA-256 in hexadecimal digits.
const DIGEST: usize = 64;

/// One of the files that `provostctl publish` writes, named by the shape of its path alone, so
/// that no request can name any other.
pub(crate) enum Published {
    Manifest(&'static str),
    Object(String),
    Pack(String),
    Plan(String),
}

impl Published {
    /// `objects/ab/abcdef…`
    pub(crate) fn object(folder: &str, name: &str) -> Option<Self> {
        let right = is_digest(name) && name.starts_with(folder) && folder.len() == 2;
        right.then(|| Self::Object(format!("objects/{folder}/{name}")))
    }

    /// `packs/abcdef….tar.zst`
    pub(crate) fn pack(name: &str) -> Option<Self> {
        let digest = name.strip_suffix(".tar.zst")?;
        is_digest(digest).then(|| Self::Pack(format!("packs/{name}")))
    }

    /// `plans/NODE.toml` or its signature, and which node's it is.
    pub(crate) fn plan(name: &str) -> Option<(&str, Self)> {
        let plan = name.strip_suffix(".minisig").unwrap_or(name);
        let node = plan.strip_suffix(".toml")?;
        provost_plan::is_node_name(node).then(|| (node, Self::Plan(format!("plans/{name}"))))
    }

    fn path(&self) -> &str {
        match self {
            Self::Manifest(path) => path,
            Self::Object(path) | Self::Pack(path) | Self::Plan(path) => path,
        }
    }

    /// Objects and packs are named after what is in them, which never changes.
    fn is_lasting(&self) -> bool {
        matches!(self, Self::Object(_) | Self::Pack(_))
    }

    /// Serves the file, with ranges, a strong ETag and what follows from these.
    pub(crate) async fn serve(&self, app: &App, request: Request<Body>) -> Response {
        let path = app.www.join(self.path());
        match tokio::fs::File::open(&path).await {
            Ok(_) => {}
            Err(error) => return self.refuse(path, error).into_response(),
        }
        let request = match self.is_lasting() {
            true => request,
            false => without_conditional_range(request),
        };
        let Ok(response) = ServeFile::new(path).try_call(request).await else {
            // It was there a moment ago: a publish replaced the folder.
            return absent(self.path()).into_response();
        };
        let cache = if self.is_lasting() { "max-age=31536000, immutable" } else { "no-cache" };
        let mut response = response.into_response();
        let cache = HeaderValue::from_static(cache);
        response.headers_mut().insert(header::CACHE_CONTROL, cache);
        response
    }

    fn refuse(&self, path: PathBuf, error: io::Error) -> Refusal {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => absent(self.path()),
            _ => {
                let file = path.display();
                Refusal::new(
                    StatusCode::FORBIDDEN,
                    format!("the management node can't read {file}: {error}"),
                    format!(
                        "on the management node: let provostd's user read it and enter the \
                         folders above it: namei -l {file}; or publish again"
                    ),
                )
            }
        }
    }
}

/// A part of a file that may have changed is of no use to one who has another part, so with
/// `If-Range` the whole file is sent.
fn without_conditional_range(mut request: Request<Body>) -> Request<Body> {
    let headers: &mut HeaderMap = request.headers_mut();
    if headers.contains_key(header::IF_RANGE) {
        headers.remove(header::RANGE);
    }
    request
}

fn absent(path: &str) -> Refusal {
    Refusal::new(
        StatusCode::NOT_FOUND,
        format!("{path} is not published"),
        "on the management node: provostctl publish, to the folder that provostd.toml calls www",
    )
}

fn is_digest(text: &str) -> bool {
    text.len() == DIGEST && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}
