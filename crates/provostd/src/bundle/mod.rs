use std::fs::Metadata;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use provost_bundle::Pack;
use provost_plan::secret;
use tokio::io::AsyncReadExt as _;
use tokio::task::spawn_blocking;
use tower_http::services::ServeFile;

use crate::refusal::Refusal;

/// For caches: a file that is named after its content.
const IMMUTABLE: &str = "max-age=31536000, immutable";
/// For caches: what a publish replaces. A node behind a cache that has an older manifest finds the
/// present one by the generation that comes with its plan (see [`add_newest`]), so that only what a
/// cache may be late with counts: a storm of nodes costs a request in half a minute.
const SHORT: &str = "max-age=30, stale-while-revalidate=30";
/// For caches: what is one node's.
const PRIVATE: &str = "private, no-cache";
/// For caches: what is one node's, and secret.
const SECRET: &str = "no-store";
/// With a plan: the newest generation of the bundle for all nodes.
const BUNDLE: HeaderName = HeaderName::from_static("provost-bundle");
/// The generation of a manifest stands within so many bytes.
const HEAD: u64 = 256;
/// Up to this size a file is read as a whole, in bytes: manifests, plans and most packs. Streaming one
/// takes a thread's turn for each piece, which costs many times as much.
const SMALL: u64 = 256 * 1024;
/// Length of a SHA-256 in hexadecimal digits.
const DIGEST: usize = 64;

/// One of the files that `provostctl publish` writes. Only paths of a known shape are accepted, so no
/// request can name another file.
pub(crate) enum Published {
    Manifest(&'static str),
    /// A channel's.
    ManifestOf(String),
    Object(String),
    Pack(String),
    /// The newest pack, without its digest.
    NewestPack,
    Plan(String),
    /// A plan's secrets.
    Secrets(String),
}

/// A plan, or its signature.
pub(crate) struct PlanOf<'n> {
    /// The node that may read it.
    pub(crate) node: &'n str,
    pub(crate) is_signature: bool,
    pub(crate) plan: Published,
}

/// Adds the generation of the bundle for all nodes to the answer with a plan, which no cache keeps:
/// plans stay as they are where only scripts change.
pub(crate) async fn add_newest(headers: &mut HeaderMap, www: &Path) {
    let mut head = String::new();
    if let Ok(file) = tokio::fs::File::open(www.join("manifest.toml")).await
        && file.take(HEAD).read_to_string(&mut head).await.is_ok()
        && let Some(number) = head.lines().find_map(|line| line.strip_prefix("generation = "))
        && let Ok(number) = HeaderValue::from_str(number)
    {
        headers.insert(BUNDLE, number);
    }
}

/// A published file that a relay caches.
pub(crate) enum Cached {
    Published(Published),
    /// The node's program, by its digest.
    Program(String),
}

impl Cached {
    /// What is at `path`, without a slash at its start.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.split('/').collect();
        let published = match parts[..] {
            ["manifest.toml"] => Published::Manifest("manifest.toml"),
            ["manifest.toml.minisig"] => Published::Manifest("manifest.toml.minisig"),
            ["refresh.toml"] => Published::Manifest("refresh.toml"),
            ["refresh.toml.minisig"] => Published::Manifest("refresh.toml.minisig"),
            ["manifests", name] => Published::manifest(name)?,
            ["objects", folder, name] => Published::object(folder, name)?,
            ["packs", name] => Published::pack(name)?,
            ["bin", sha256, "provost"] if is_digest(sha256) => {
                return Some(Self::Program(sha256.to_owned()));
            }
            _ => return None,
        };
        Some(Self::Published(published))
    }

    /// The digest of the content, if it is what the file is named after.
    pub(crate) fn digest(&self) -> Option<String> {
        match self {
            Self::Published(published) => published.digest().map(str::to_owned),
            Self::Program(sha256) => Some(sha256.clone()),
        }
    }

    /// Serves it from the folder `cache`, which has it.
    pub(crate) async fn serve(&self, cache: &Path, request: Request<Body>) -> Response {
        match self {
            Self::Published(published) => published.serve(cache, request).await,
            Self::Program(sha256) => {
                let path = cache.join(format!("bin/{sha256}/provost"));
                let served = serve_immutable(&path, sha256, request).await;
                served.unwrap_or_else(|_| StatusCode::NOT_FOUND.into_response())
            }
        }
    }
}

impl Published {
    /// `manifests/25.toml` or its signature.
    pub(crate) fn manifest(name: &str) -> Option<Self> {
        let number = name.strip_suffix(".minisig").unwrap_or(name).strip_suffix(".toml")?;
        let is_number =
            (1..=20).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
        is_number.then(|| Self::ManifestOf(format!("manifests/{name}")))
    }

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

    /// `plans/NODE.toml` or its signature.
    pub(crate) fn plan(name: &str) -> Option<PlanOf<'_>> {
        let signed = name.strip_suffix(".minisig");
        let node = signed.unwrap_or(name).strip_suffix(".toml")?;
        let plan = Self::Plan(format!("plans/{name}"));
        let is_signature = signed.is_some();
        provost_plan::is_node_name(node).then_some(PlanOf { node, is_signature, plan })
    }

    /// `secrets/NODE.toml`, and the node.
    pub(crate) fn secrets(name: &str) -> Option<(&str, Self)> {
        let node = name.strip_suffix(".toml").filter(|node| provost_plan::is_node_name(node))?;
        Some((node, Self::Secrets(secret::path(node))))
    }

    fn path(&self) -> &str {
        match self {
            Self::Manifest(path) => path,
            Self::NewestPack => Pack::NEWEST,
            Self::ManifestOf(path)
            | Self::Object(path)
            | Self::Pack(path)
            | Self::Plan(path)
            | Self::Secrets(path) => path,
        }
    }

    /// Objects and packs are named after their content, which never changes: their name is their
    /// tag, on every server.
    fn tag(&self) -> Option<HeaderValue> {
        HeaderValue::try_from(format!("\"{}\"", self.digest()?)).ok()
    }

    /// The digest that is their name.
    fn digest(&self) -> Option<&str> {
        let name = self.path().rsplit('/').next()?;
        match self {
            Self::Object(_) | Self::Pack(_) => name.split('.').next(),
            Self::Manifest(_)
            | Self::ManifestOf(_)
            | Self::NewestPack
            | Self::Plan(_)
            | Self::Secrets(_) => None,
        }
    }

    /// The node whose plan, or whose plan's signature, is at `path`.
    pub(crate) fn plan_of_path(path: &str) -> Option<&str> {
        Self::plan(path.strip_prefix("/plans/")?).map(|plan| plan.node)
    }

    /// How long a cache may keep what has no tag of its own.
    fn lifetime(&self) -> &'static str {
        match self {
            Self::Plan(_) => PRIVATE,
            Self::Secrets(_) => SECRET,
            _ => SHORT,
        }
    }

    /// Serves the file from the published folder `www`, with ranges and a strong tag.
    pub(crate) async fn serve(&self, www: &Path, request: Request<Body>) -> Response {
        let path = www.join(self.path());
        let small = match read_small(path.clone()).await {
            Ok(small) => small,
            Err(error) => return self.refuse(path, error).into_response(),
        };
        let asked =
            FileRequest { method: request.method().clone(), headers: request.headers().clone() };
        let (tag, cache) = match self.tag() {
            Some(tag) => (Some(tag), IMMUTABLE),
            None => (None, self.lifetime()),
        };
        let response = match (small, tag) {
            (Some(small), tag) if asked.is_plain() => Ok(asked.whole(small, tag, self.path())),
            (_, Some(tag)) => asked.tagged(&path, tag).await,
            (_, None) => asked.replaceable(&path).await,
        };
        let Ok(mut response) = response else {
            // It was there when it was opened: a publish has replaced the folder.
            return absent(self.path()).into_response();
        };
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
        response
    }

    fn refuse(&self, path: PathBuf, error: io::Error) -> Refusal {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => absent(self.path()),
            // It passes, as a connection ends.
            _ if is_short_of_files(&error) => Refusal::new(
                StatusCode::SERVICE_UNAVAILABLE,
                format!("reading {} on the management node: {error}", path.display()),
                "raise LimitNOFILE of provostd.service",
            ),
            _ => {
                let file = path.display();
                Refusal::new(
                    StatusCode::FORBIDDEN,
                    format!("reading {file} on the management node: {error}"),
                    format!(
                        "on the management node: let provostd's user read it and enter the \
                         folders above it: namei -l {file}; or publish again, plans with \
                         --group and a group of its user"
                    ),
                )
            }
        }
    }
}

/// Whether this process, or the machine, has no file descriptor left.
fn is_short_of_files(error: &io::Error) -> bool {
    let number = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
    matches!(number, Some(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE))
}

/// Refuses a request for secrets that others could read. Nothing is logged: anybody may cause it.
pub(crate) fn refuse_secrets() -> Response {
    let error = "secrets are served over TLS alone";
    let hint = "publish with TLS: provostctl publish … --tls \"$(provostd ca show --tls)\"";
    Refusal::new(StatusCode::FORBIDDEN, error, hint).quietly()
}

/// Serves a file whose content never changes under its `name`.
pub(crate) async fn serve_immutable(
    path: &Path,
    name: &str,
    request: Request<Body>,
) -> io::Result<Response> {
    let asked =
        FileRequest { method: request.method().clone(), headers: request.headers().clone() };
    let tag = HeaderValue::try_from(format!("\"{name}\"")).map_err(io::Error::other)?;
    let mut response = asked.tagged(path, tag).await?;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(IMMUTABLE));
    Ok(response)
}

/// What a request asks of a file.
struct FileRequest {
    method: Method,
    headers: HeaderMap,
}

impl FileRequest {
    /// Whether it asks for the whole file.
    fn is_plain(&self) -> bool {
        self.method == Method::GET && !self.headers.contains_key(header::RANGE)
    }

    /// Whether the client has the file that has this tag.
    fn has(&self, tag: &HeaderValue) -> bool {
        self.headers.get(header::IF_NONE_MATCH).is_some_and(|tags| names(tags, tag))
    }

    /// Serves a file that was read, with this tag or its own.
    fn whole(&self, file: SmallFile, tag: Option<HeaderValue>, path: &str) -> Response {
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
    async fn tagged(&self, path: &Path, tag: HeaderValue) -> io::Result<Response> {
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
    async fn replaceable(&self, path: &Path) -> io::Result<Response> {
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
struct SmallFile {
    tag: HeaderValue,
    bytes: Vec<u8>,
}

/// Opens a file, and reads it if it is a small one. It is only ever replaced, so that what is open has
/// one content and one tag.
async fn read_small(path: PathBuf) -> io::Result<Option<SmallFile>> {
    let read = move || {
        let mut file = std::fs::File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.len() > SMALL {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(metadata.len() as usize);
        file.read_to_end(&mut bytes)?;
        Ok(Some(SmallFile { tag: tag_of(&metadata)?, bytes }))
    };
    spawn_blocking(read).await.map_err(io::Error::other)?
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
pub(crate) fn names(tags: &HeaderValue, tag: &HeaderValue) -> bool {
    let is_it = |one: &[u8]| {
        let one = one.trim_ascii();
        one == b"*" || one.strip_prefix(b"W/").unwrap_or(one) == tag.as_bytes()
    };
    tags.as_bytes().split(|byte| *byte == b',').any(is_it)
}

fn absent(path: &str) -> Refusal {
    let hint = if path.starts_with("plans/") || path.starts_with("secrets/") {
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
