//! One file as a request asks for it: whole or in part, with a strong tag.

use std::fs::Metadata;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tower_http::services::ServeFile;

/// For caches: a file that is named after its content.
pub(crate) const IMMUTABLE: &str = "max-age=31536000, immutable";
/// Up to this size a file is read as a whole, in bytes: manifests, plans and most packs. Streaming one
/// takes a thread's turn for each piece, which costs many times as much.
const SMALL: u64 = 256 * 1024;

/// Serves a file whose content never changes under its `name`.
pub(crate) async fn serve_immutable(
    path: &Path,
    name: &str,
    request: Request<Body>,
) -> io::Result<Response> {
    let asked = FileRequest::of(&request);
    let tag = HeaderValue::try_from(format!("\"{name}\"")).map_err(io::Error::other)?;
    let mut response = asked.tagged(path, tag).await?;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(IMMUTABLE));
    Ok(response)
}

/// What a request asks of a file.
pub(crate) struct FileRequest {
    method: Method,
    headers: HeaderMap,
}

impl FileRequest {
    pub(crate) fn of(request: &Request<Body>) -> Self {
        Self { method: request.method().clone(), headers: request.headers().clone() }
    }

    /// Whether it asks for the whole file.
    pub(crate) fn is_plain(&self) -> bool {
        self.method == Method::GET && !self.headers.contains_key(header::RANGE)
    }

    /// Whether the client has the file that has this tag.
    fn has(&self, tag: &HeaderValue) -> bool {
        self.headers.get(header::IF_NONE_MATCH).is_some_and(|tags| names(tags, tag))
    }

    /// Serves a file that was read, with this tag or its own.
    pub(crate) fn whole(&self, file: SmallFile, tag: Option<HeaderValue>, path: &str) -> Response {
        let tag = tag.unwrap_or(file.tag);
        if self.has(&tag) {
            return (StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response();
        }
        let kind = match path.rsplit('.').next() {
            Some("toml") => "text/x-toml",
            Some("zst") => "application/zstd",
            _ => "application/octet-stream",
        };
        let headers = [
            (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
            (header::ACCEPT_RANGES, HeaderValue::from_static("bytes")),
            (header::ETAG, tag),
        ];
        (headers, file.bytes).into_response()
    }

    /// Serves a file that has this tag.
    pub(crate) async fn tagged(&self, path: &Path, tag: HeaderValue) -> io::Result<Response> {
        if self.has(&tag) {
            return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response());
        }
        let mut headers = self.headers.clone();
        // A part is useful only to a client that has another part of the same file.
        if headers.get(header::IF_RANGE).is_some_and(|theirs| *theirs != tag) {
            headers.remove(header::RANGE);
        }
        // ServeFile would compare them with a tag of its own.
        for condition in [header::IF_MATCH, header::IF_NONE_MATCH, header::IF_MODIFIED_SINCE] {
            headers.remove(condition);
        }
        let mut request = Request::new(Body::empty());
        request.method_mut().clone_from(&self.method);
        *request.headers_mut() = headers;
        let mut response = ServeFile::new(path).try_call(request).await?.into_response();
        // From a modification time a node would conclude that the tag is made of it, and that a tag
        // of this second may stand for another content as well.
        response.headers_mut().remove(header::LAST_MODIFIED);
        response.headers_mut().insert(header::ETAG, tag);
        Ok(response)
    }

    /// Serves a file that a publish may replace at any moment. The tag is right if it is the same
    /// before and after the file was opened.
    pub(crate) async fn replaceable(&self, path: &Path) -> io::Result<Response> {
        let mut tag = current_tag(path).await?;
        loop {
            let response = self.tagged(path, tag.clone()).await?;
            let now = current_tag(path).await?;
            if now == tag {
                return Ok(response);
            }
            tag = now;
        }
    }
}

/// A file that was read as a whole.
pub(crate) struct SmallFile {
    tag: HeaderValue,
    bytes: Vec<u8>,
}

/// Opens a file, and reads it if it is a small one. It is only ever replaced, so that what is open has
/// one content and one tag.
pub(crate) fn read_small(path: &Path) -> io::Result<Option<SmallFile>> {
    let mut file = std::fs::File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > SMALL {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    file.read_to_end(&mut bytes)?;
    Ok(Some(SmallFile { tag: tag_of(&metadata)?, bytes }))
}

/// The tag of a file that is only ever replaced.
async fn current_tag(path: &Path) -> io::Result<HeaderValue> {
    tag_of(&tokio::fs::metadata(path).await?)
}

/// The time isn't enough: two files may be written within one tick of the clock.
fn tag_of(file: &Metadata) -> io::Result<HeaderValue> {
    let (time, nanoseconds) = (file.mtime(), file.mtime_nsec());
    let tag = format!("\"{:x}-{time:x}.{nanoseconds:x}-{:x}\"", file.ino(), file.len());
    HeaderValue::try_from(tag).map_err(io::Error::other)
}

/// Whether `If-None-Match` names `tag`, by the weak comparison of RFC 9110, 8.8.3.2.
fn names(tags: &HeaderValue, tag: &HeaderValue) -> bool {
    let is_it = |one: &[u8]| {
        let one = one.trim_ascii();
        one == b"*" || one.strip_prefix(b"W/").unwrap_or(one) == tag.as_bytes()
    };
    tags.as_bytes().split(|byte| *byte == b',').any(is_it)
}
