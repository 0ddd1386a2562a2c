use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use provost_bundle::Pack;
use tower_http::services::ServeFile;

use crate::App;
use crate::refusal::Refusal;

/// For caches, of what is named after its content.
const IMMUTABLE: &str = "max-age=31536000, immutable";
/// Length of a SHA-256 in hexadecimal digits.
const DIGEST: usize = 64;

/// One of the files that `provostctl publish` writes, named by the shape of its path alone, so
/// that no request can name any other.
pub(crate) enum Published {
    Manifest(&'static str),
    Object(String),
    Pack(String),
    /// The newest pack, whatever its digest.
    NewestPack,
    Plan(String),
}

impl Published {
    /// `objects/ab/abcdef…`
    pub(crate) fn object(folder: &str, name: &str) -> Option<Self> {
        let right = is_digest(name) && name.starts_with(folder) && folder.len() == 2;
        right.then(|| Self::Object(format!("objects/{folder}/{name}")))
    }

    /// `packs/abcdef….tar.zst` or `packs/newest.tar.zst`
    pub(crate) fn pack(name: &str) -> Option<Self> {
        let path = format!("packs/{name}");
        if path == Pack::NEWEST {
            return Some(Self::NewestPack);
        }
        is_digest(name.strip_suffix(".tar.zst")?).then_some(Self::Pack(path))
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
            Self::NewestPack => Pack::NEWEST,
            Self::Object(path) | Self::Pack(path) | Self::Plan(path) => path,
        }
    }

    /// Objects and packs are named after what is in them, which never changes: their name is
    /// their tag, on whatever server they are.
    fn tag(&self) -> Option<HeaderValue> {
        let name = self.path().rsplit('/').next().unwrap_or_default();
        let digest = name.split('.').next().unwrap_or_default();
        match self {
            Self::Object(_) | Self::Pack(_) => HeaderValue::try_from(format!("\"{digest}\"")).ok(),
            Self::Manifest(_) | Self::NewestPack | Self::Plan(_) => None,
        }
    }

    /// Serves the file, with ranges, a strong tag and what follows from these.
    pub(crate) async fn serve(&self, app: &App, request: Request<Body>) -> Response {
        let path = app.www.join(self.path());
        if let Err(error) = tokio::fs::File::open(&path).await {
            return self.refuse(path, error).into_response();
        }
        let asked = Asked { method: request.method().clone(), headers: request.headers().clone() };
        let (response, cache) = match self.tag() {
            Some(tag) => (asked.tagged(&path, tag).await, IMMUTABLE),
            None => (asked.passing(&path).await, "no-cache"),
        };
        let Ok(mut response) = response else {
            // It was there a moment ago: a publish replaced the folder.
            return absent(self.path()).into_response();
        };
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
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

/// Serves a file whose content never changes under its `name`.
pub(crate) async fn serve_immutable(
    path: &Path,
    name: &str,
    request: Request<Body>,
) -> io::Result<Response> {
    let asked = Asked { method: request.method().clone(), headers: request.headers().clone() };
    let tag = HeaderValue::try_from(format!("\"{name}\"")).map_err(io::Error::other)?;
    let mut response = asked.tagged(path, tag).await?;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(IMMUTABLE));
    Ok(response)
}

/// What is asked of a file.
struct Asked {
    method: Method,
    headers: HeaderMap,
}

impl Asked {
    /// Serves a file that is what `tag` says.
    async fn tagged(&self, path: &Path, tag: HeaderValue) -> io::Result<Response> {
        let none_match = self.headers.get(header::IF_NONE_MATCH);
        if none_match.is_some_and(|wanted| names(wanted, &tag)) {
            return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response());
        }
        let mut headers = self.headers.clone();
        // Part of a file is of use only to one who has another part of the same.
        if headers.get(header::IF_RANGE).is_some_and(|wanted| *wanted != tag) {
            headers.remove(header::RANGE);
        }
        // The server of files would compare them with a tag of its own.
        for condition in [header::IF_MATCH, header::IF_NONE_MATCH, header::IF_MODIFIED_SINCE] {
            headers.remove(condition);
        }
        let mut request = Request::new(Body::empty());
        request.method_mut().clone_from(&self.method);
        *request.headers_mut() = headers;
        let mut response = ServeFile::new(path).try_call(request).await?.into_response();
        // To a node a time of change says that the tag is made of it, and that a tag of this second
        // may stand for another text as well.
        response.headers_mut().remove(header::LAST_MODIFIED);
        response.headers_mut().insert(header::ETAG, tag);
        Ok(response)
    }

    /// Serves a file that a publish may replace at any moment: by its tag if it has the same
    /// before and after it was opened.
    async fn passing(&self, path: &Path) -> io::Result<Response> {
        let mut tag = present_tag(path).await?;
        loop {
            let response = self.tagged(path, tag.clone()).await?;
            let now = present_tag(path).await?;
            if now == tag {
                return Ok(response);
            }
            tag = now;
        }
    }
}

/// The tag of a file that is never written again where it is. Its time alone wouldn't do: two
/// files may be written within one tick of the clock.
async fn present_tag(path: &Path) -> io::Result<HeaderValue> {
    let file = tokio::fs::metadata(path).await?;
    let (time, nanoseconds) = (file.mtime(), file.mtime_nsec());
    let tag = format!("\"{:x}-{time:x}.{nanoseconds:x}-{:x}\"", file.ino(), file.len());
    HeaderValue::try_from(tag).map_err(io::Error::other)
}

/// Whether `If-None-Match` names `tag`, by the weak comparison of RFC 9110, 8.8.3.2.
fn names(wanted: &HeaderValue, tag: &HeaderValue) -> bool {
    let is_it = |one: &[u8]| {
        let one = one.trim_ascii();
        one == b"*" || one.strip_prefix(b"W/").unwrap_or(one) == tag.as_bytes()
    };
    wanted.as_bytes().split(|byte| *byte == b',').any(is_it)
}

fn absent(path: &str) -> Refusal {
    let hint = if path.starts_with("plans/") {
        "on the management node: name this node in site.toml, then provostctl publish, to the \
         folder that provostd.toml calls www"
    } else {
        "on the management node: provostctl publish, to the folder that provostd.toml calls www"
    };
    Refusal::new(StatusCode::NOT_FOUND, format!("{path} is not published"), hint)
}

fn is_digest(text: &str) -> bool {
    text.len() == DIGEST && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}
