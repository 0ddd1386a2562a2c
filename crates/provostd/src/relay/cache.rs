//! What is published, as files of the relay. What is named after its content is fetched once and
//! checked; the rest is asked for again after a while, and serves on where no upstream can be reached.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use axum::response::Response;
use provost_fs::{Durability, NewFile};
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::pass;
use super::shared::{Relay, away};
use super::upstream::{self, PATIENCE};
use crate::bundle::{Cached, signature};
use crate::refusal::Refusal;

/// For how long what a publish replaces is served without asking: what provostd allows caches.
const FRESH: Duration = Duration::from_secs(30);
/// How often its last use is noted, at most.
const NOTED: Duration = Duration::from_secs(24 * 3600);

/// What became of a request to an upstream.
enum Outcome {
    /// The file is there.
    There,
    /// It is refused, or can't be kept: this is the answer.
    Answer(Box<Response>),
}

/// Serves a published file.
pub(super) async fn published(
    State(relay): State<Arc<Relay>>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    let path = request.uri().path().trim_start_matches('/').to_owned();
    let Some(file) = Cached::of(&path) else {
        let hint = "check the path";
        return Err(Refusal::new(StatusCode::NOT_FOUND, format!("{path} is not published"), hint));
    };
    relay.metrics.file();
    // A client that goes away doesn't end what others wait for.
    let fetching = tokio::spawn(fetch(Arc::clone(&relay), path.clone(), file.digest()));
    let fetched = fetching.await.map_err(|e| {
        let what = format!("fetching {path}: {e}");
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, what, "report this as a bug")
    })?;
    match fetched? {
        Outcome::There => Ok(file.serve(&relay.cache.folder, request).await),
        Outcome::Answer(answer) => Ok(*answer),
    }
}

/// Sees to it that the file at `path` is there, and is what is published.
async fn fetch(
    relay: Arc<Relay>,
    path: String,
    sha256: Option<String>,
) -> Result<Outcome, Refusal> {
    let asked = Instant::now();
    let local = relay.cache.folder.join(&path);
    let is_there = || local.exists();
    if sha256.is_some() && is_there() {
        note_use(&local);
        return Ok(Outcome::There);
    }
    let state = relay.cache.state(&path);
    let mut state = state.lock().await;
    let fresh = if path.starts_with("refresh.toml") { Duration::ZERO } else { FRESH };
    // What was asked for while this waited is as good.
    let is_fresh = state.checked.is_some_and(|at| at + fresh >= asked && relay.cache.is_newest(at));
    if is_there() && (sha256.is_some() || is_fresh) {
        return Ok(Outcome::There);
    }
    let mut headers = HeaderMap::new();
    if let Some(tag) = state.tag.clone().filter(|_| is_there()) {
        headers.insert(header::IF_NONE_MATCH, tag);
    }
    relay.metrics.fetched();
    let path = format!("/{path}");
    let body = Default::default();
    let request =
        upstream::Request { method: Method::GET, path: &path, headers, body, patience: PATIENCE };
    let response = match relay.upstreams.open(&request).await {
        Ok(response) => response,
        Err(_) if is_there() => return Ok(Outcome::There),
        Err(_) => return Err(away()),
    };
    match response.status() {
        StatusCode::NOT_MODIFIED => {}
        StatusCode::OK => {
            let tag = response.headers().get(header::ETAG).cloned();
            if path.starts_with("/manifest") && path.ends_with(".toml") {
                keep_signature(&local, signature::of(response.headers()));
            }
            if let Err(e) = store(response, &local, sha256.as_deref()).await {
                return unstored(&relay, &request, &local, e).await;
            }
            state.tag = tag;
        }
        status => {
            if matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE) {
                // It is published no more. Fails where it wasn't there.
                let _ = std::fs::remove_file(&local);
            }
            return Ok(Outcome::Answer(Box::new(pass::streamed(response))));
        }
    }
    state.checked = Some(Instant::now());
    Ok(Outcome::There)
}

/// Keeps the signature that has come along with the text of the file `signed`.
fn keep_signature(signed: &Path, signature: Option<Vec<u8>>) {
    let file = signature::file_of(signed);
    let kept = signature.and_then(|signature| {
        provost_fs::create_folder_of(&file).ok()?;
        provost_fs::replace(&file, &signature, Durability::PowerCut).ok()
    });
    if kept.is_none() {
        // The one that is there is another text's. Who needs one asks for it by its own path.
        let _ = std::fs::remove_file(&file);
    }
}

/// Keeps what an upstream sends, if it is what its name says.
async fn store(mut response: reqwest::Response, to: &Path, sha256: Option<&str>) -> io::Result<()> {
    provost_fs::create_folder_of(to)?;
    let mut file = NewFile::at(to)?;
    let mut digest = Sha256::new();
    while let Some(bytes) = response.chunk().await.map_err(broken)? {
        digest.update(&bytes);
        file = spawn_blocking(move || file.write(&bytes).map(|()| file)).await??;
    }
    let got = hex::encode(digest.finalize());
    if sha256.is_some_and(|named| named != got) {
        return Err(broken(format!("its digest is {got}")));
    }
    // What a power cut damages is seen by nodes: they verify it. So it is synced before it has a name.
    spawn_blocking(move || file.replace(Durability::PowerCut)).await?
}

/// An upstream's fault, not of the disk here.
fn broken(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// The answer where a file couldn't be kept: on a full disk nodes get it all the same.
async fn unstored(
    relay: &Relay,
    request: &upstream::Request<'_>,
    local: &Path,
    error: io::Error,
) -> Result<Outcome, Refusal> {
    let failed = format!("fetching {}: {error}", request.path);
    if error.kind() == io::ErrorKind::InvalidData {
        if local.exists() {
            tracing::warn!("{failed}; the older one is served");
            return Ok(Outcome::There);
        }
        let hint = "check what is between this relay and its upstream, and publish again";
        return Err(Refusal::new(StatusCode::BAD_GATEWAY, failed, hint));
    }
    // What is there is older, and nodes would refuse it. Fails where there is none.
    let _ = std::fs::remove_file(local);
    let hint = format!("make room on the file system of {}", local.display());
    tracing::error!(hint, "keeping {}: {error}; it is passed on", request.path);
    let headers = HeaderMap::new();
    let (method, body) = (request.method.clone(), request.body.clone());
    let again = upstream::Request { headers, method, body, ..*request };
    let response = relay.upstreams.open(&again).await.map_err(|_| away())?;
    Ok(Outcome::Answer(Box::new(pass::streamed(response))))
}

/// Notes that a file is in use, so that it stays.
fn note_use(path: &Path) {
    let noted = || {
        let file = std::fs::File::open(path)?;
        if file.metadata()?.modified()?.elapsed().unwrap_or_default() > NOTED {
            file.set_modified(SystemTime::now())?;
        }
        io::Result::Ok(())
    };
    // Where it can't be, the file is fetched again when it has been removed.
    let _ = noted();
}
