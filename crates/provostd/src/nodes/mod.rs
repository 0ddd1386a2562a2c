pub(crate) mod beats;
pub(crate) mod caller;
pub(crate) mod enrolment;
pub(crate) mod failures;
pub(crate) mod follow;
pub(crate) mod guard;
pub(crate) mod history;
pub(crate) mod ingest;
pub(crate) mod installer;
pub(crate) mod node_program;
pub(crate) mod over_quota;
pub(crate) mod pending;
pub(crate) mod pending_nodes;
pub(crate) mod program;
pub(crate) mod silence;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Extension, FromRef, Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use provost_record::{Beat, now};
use provost_store::{Sent, UploadedLog};
use serde::Serialize;
use tokio::task::spawn_blocking;

use crate::listener::bodies::Bodies;
use crate::listener::connections::Connection;
use crate::listener::encoding::Encoding;
use crate::listener::refusal;
use crate::listener::refusal::Refusal;
use crate::published::refresher::Refresher;
use crate::published::{Published, PublishedFolder, add_newest, refuse_secrets};
use beats::Beats;
use caller::Callers;
use enrolment::Enrolment;
use guard::AttemptGuard;
use ingest::Reports;
use node_program::NodeProgram;

/// The longest batch of records, in bytes.
pub(crate) const MAX_BATCH: usize = 8 * 1024 * 1024;
/// The longest log, in bytes: the nodes' limit of 1 MiB, and room for the line about what was left
/// out.
pub(crate) const MAX_LOG: usize = (1024 + 64) * 1024;
/// The longest beat, in bytes: 64 KiB of a log, of which JSON may make six times as much, and the rest.
const MAX_BEAT: usize = 400 * 1024;
/// The longest `NN-SCRIPT`, in bytes: with an extension it is still a file name.
const MAX_LOG_NAME: usize = 240;

/// On a plan: `renew` where half of the time of the node's identity is over. The node asks no clock
/// of its own.
const IDENTITY: HeaderName = HeaderName::from_static("provost-identity");

/// What handlers of the nodes' API use.
#[derive(Clone, FromRef)]
pub(crate) struct NodesState {
    pub(crate) www: PublishedFolder,
    pub(crate) refresher: Arc<Refresher>,
    pub(crate) program: Arc<NodeProgram>,
    pub(crate) callers: Arc<Callers>,
    pub(crate) guard: AttemptGuard,
    pub(crate) reports: Arc<Reports>,
    pub(crate) beats: Arc<Beats>,
    pub(crate) enrolment: Arc<Enrolment>,
    pub(crate) bodies: Arc<Bodies>,
}

/// The nodes' API: the bundle's files, a node's own plan, its own reports.
pub(crate) fn router(state: NodesState) -> Router {
    Router::new()
        .route("/manifest.toml", get(manifest))
        .route("/manifest.toml.minisig", get(manifest_signature))
        .route("/manifests/{name}", get(channel_manifest))
        .route("/refresh.toml", get(refresh))
        .route("/refresh.toml.minisig", get(refresh_signature))
        .route("/objects/{folder}/{name}", get(object))
        .route("/packs/{name}", get(pack))
        .route("/bin/{sha256}/provost", get(node_program))
        .route("/plans/{name}", get(plan))
        .route("/secrets/{name}", get(secrets))
        .route("/v1/nodes/{node}/enroll", post(enrolment::enroll))
        .route("/v1/nodes/{node}/records", post(records))
        .route("/v1/nodes/{node}/runs/{run}/logs/{name}", put(log))
        .route("/v1/nodes/{node}/runs/{run}/beat", post(beat))
        .with_state(state)
        .layer(axum::middleware::map_response(refusal::in_json))
}

type Www = State<PublishedFolder>;
/// The connection that a request has come by.
type By = Extension<Arc<Connection>>;

async fn manifest(State(www): Www, request: Request<Body>) -> Response {
    Published::Manifest("manifest.toml").serve(&www, request).await
}

async fn manifest_signature(State(www): Www, request: Request<Body>) -> Response {
    Published::Manifest("manifest.toml.minisig").serve(&www, request).await
}

async fn channel_manifest(
    State(www): Www,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Response {
    match Published::manifest(&name) {
        Some(manifest) => manifest.serve(&www, request).await,
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn refresh(State(refresher): State<Arc<Refresher>>) -> Response {
    refresher.serve(false).await
}

async fn refresh_signature(State(refresher): State<Arc<Refresher>>) -> Response {
    refresher.serve(true).await
}

async fn object(
    State(www): Www,
    Path((folder, name)): Path<(String, String)>,
    request: Request<Body>,
) -> Response {
    match Published::object(&folder, &name) {
        Some(object) => object.serve(&www, request).await,
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn pack(State(www): Www, Path(name): Path<String>, request: Request<Body>) -> Response {
    match Published::pack(&name) {
        Some(pack) => pack.serve(&www, request).await,
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn node_program(
    State(program): State<Arc<NodeProgram>>,
    Path(sha256): Path<String>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    program.serve(&sha256, request).await
}

async fn plan(
    State(www): Www,
    State(callers): State<Arc<Callers>>,
    State(guard): State<AttemptGuard>,
    Extension(by): By,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    let Some(plan) = Published::plan(&name) else {
        return Ok(StatusCode::NOT_FOUND.into_response());
    };
    let caller = callers.check(request.headers(), plan.node, &by).await?;
    if plan.is_signature {
        // What the node has to do comes with the plan.
        return Ok(plan.plan.serve(&www, request).await);
    }
    let standing = guard.standing(plan.node, request.headers()).await?;
    let mut response = plan.plan.serve(&www, request).await;
    if response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED {
        add_newest(response.headers_mut(), &www).await;
        guard.add_directive(response.headers_mut(), &standing);
        if caller.is_due {
            response.headers_mut().insert(IDENTITY, HeaderValue::from_static("renew"));
        }
    }
    Ok(response)
}

async fn secrets(
    State(www): Www,
    State(callers): State<Arc<Callers>>,
    Extension(by): By,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    let Some((node, secrets)) = Published::secrets(&name) else {
        return Ok(StatusCode::NOT_FOUND.into_response());
    };
    if !by.is_private() {
        return Ok(refuse_secrets());
    }
    callers.check(request.headers(), node, &by).await?;
    Ok(secrets.serve(&www, request).await)
}

async fn records(
    State(callers): State<Arc<Callers>>,
    State(reports): State<Arc<Reports>>,
    Extension(by): By,
    Path(node): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let body = callers.read(&headers, &node, &by, body, MAX_BATCH).await?;
    let sent = Sent {
        program: program::version(&headers),
        plain_http: !by.is_private(),
        waited: Duration::ZERO,
    };
    let acknowledgement = reports.ingest(&node, &body.bytes, sent).await?;
    let wait = acknowledgement.goes_on.then(|| reports.next_report()).flatten();
    let wait = wait.map(|wait| [(header::RETRY_AFTER, wait.as_secs())]);
    Ok((wait, Json(acknowledgement)).into_response())
}

/// The answer to a beat.
#[derive(Serialize)]
struct BeatAnswer {
    /// Whether the next ones come each second, with what the step's log has grown by.
    follow: bool,
}

async fn beat(
    State(callers): State<Arc<Callers>>,
    State(beats): State<Arc<Beats>>,
    Extension(by): By,
    Path((node, run)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<BeatAnswer>, Refusal> {
    let body = callers.read(&headers, &node, &by, body, MAX_BEAT).await?;
    let invalid = |error: String| {
        let hint = "install the same version of Provost on the node and the management node";
        Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, error, hint)
    };
    let beat: Beat = serde_json::from_slice(&body.bytes)
        .map_err(|e| invalid(format!("the body isn't a beat: {e}")))?;
    if !ingest::is_run_id(&run) || !is_log_name(&beat.log) || beat.stage.len() > MAX_LOG_NAME {
        let Beat { log, .. } = &beat;
        return Err(invalid(format!("{log:?} of run {run:?} can't be the name of a log")));
    }
    let follow = beats.note(&node, run, beat, now());
    Ok(Json(BeatAnswer { follow }))
}

async fn log(
    State(callers): State<Arc<Callers>>,
    State(reports): State<Arc<Reports>>,
    State(bodies): State<Arc<Bodies>>,
    Extension(by): By,
    Path((node, run, name)): Path<(String, String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Refusal> {
    let mut body = callers.read(&headers, &node, &by, body, MAX_LOG).await?;
    let encoding = Encoding::of(&headers)?;
    check_log(&run, &name)?;
    let mut bytes = std::mem::take(&mut body.bytes);
    let _room = match encoding {
        Some(encoding) => {
            let room = bodies.room(MAX_LOG as u64).await?;
            bytes = spawn_blocking(move || encoding.unpack(&bytes, MAX_LOG)).await??;
            Some(room)
        }
        None => None,
    };
    reports.put_log(&node, UploadedLog { run, name }, bytes).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Refuses what can't be the log `name` of `run`.
pub(crate) fn check_log(run: &str, name: &str) -> Result<(), Refusal> {
    if ingest::is_run_id(run) && is_log_name(name) {
        return Ok(());
    }
    Err(Refusal::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        format!("{name:?} of run {run:?} can't be the name of a log"),
        "PUT a log to /v1/nodes/NODE/runs/UUID/logs/NN-SCRIPT",
    ))
}

/// `NN-SCRIPT`, as one element of a path.
fn is_log_name(name: &str) -> bool {
    let digits = name.bytes().take_while(u8::is_ascii_digit).count();
    let script = name[digits..].strip_prefix('-').unwrap_or_default();
    (2..=4).contains(&digits)
        && !script.is_empty()
        && name.len() <= MAX_LOG_NAME
        && !name.contains(|c: char| c == '/' || c.is_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logs_name_is_one_element_of_a_path() {
        assert!(is_log_name("01-syslog") && is_log_name("100-a b.sh") && is_log_name("00-fetch"));
        for name in ["", "1-x", "01-", "01", "01-a/b", "..", "01-\n", "x-01", "é-x"] {
            assert!(!is_log_name(name), "{name}");
        }
        assert!(!is_log_name(&format!("01-{}", "x".repeat(300))));
    }
}
