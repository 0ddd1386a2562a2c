pub(crate) mod addresses;
pub(crate) mod beats;
pub(crate) mod caller;
pub(crate) mod enrolment;
pub(crate) mod failures;
pub(crate) mod follow;
pub(crate) mod guard;
pub(crate) mod history;
pub(crate) mod host_keys;
pub(crate) mod ingest;
pub(crate) mod installer;
pub(crate) mod node_programs;
pub(crate) mod not_begun;
pub(crate) mod over_quota;
pub(crate) mod pending;
pub(crate) mod pending_nodes;
pub(crate) mod program;
pub(crate) mod program_file;
pub(crate) mod silence;
pub(crate) mod slow;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, FromRef, Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use provost_api::nodes::{self as api, BeatAnswer};
use provost_api::{AuthFailure, Beat, LogKind, headers, limits, published};
use provost_record::now;
use provost_store::{Sent, UploadedLog};
use serde::Deserialize;
use tokio::task::spawn_blocking;

use crate::admin::health::DataFolder;
use crate::listener::bodies::Bodies;
use crate::listener::connections::Connection;
use crate::listener::encoding::Encoding;
use crate::listener::refusal;
use crate::listener::refusal::Refusal;
use crate::published::refresher::Refresher;
use crate::published::{PublishedFile, PublishedFolder, add_newest, refuse_secrets};
use beats::Beats;
use caller::Callers;
use enrolment::Enrolment;
use guard::AttemptGuard;
use ingest::Reports;
use installer::Installer;
use node_programs::NodePrograms;

/// What handlers of the nodes' API use.
#[derive(Clone, FromRef)]
pub(crate) struct NodesState {
    pub(crate) www: PublishedFolder,
    pub(crate) refresher: Arc<Refresher>,
    pub(crate) programs: Arc<NodePrograms>,
    pub(crate) installer: Installer,
    pub(crate) callers: Arc<Callers>,
    pub(crate) guard: AttemptGuard,
    pub(crate) reports: Arc<Reports>,
    pub(crate) beats: Arc<Beats>,
    pub(crate) enrolment: Arc<Enrolment>,
    pub(crate) bodies: Arc<Bodies>,
    pub(crate) data: DataFolder,
}

/// The nodes' API: the bundle's files, a node's own plan, its own reports.
pub(crate) fn router(state: NodesState) -> Router {
    Router::new()
        .route(api::MANIFEST.0, get(manifest))
        .route(api::MANIFEST_SIGNATURE.0, get(manifest_signature))
        .route(api::NAMED_MANIFEST.0, get(channel_manifest))
        .route(api::REFRESH.0, get(refresh))
        .route(api::REFRESH_SIGNATURE.0, get(refresh_signature))
        .route(api::OBJECT.0, get(object))
        .route(api::PACK.0, get(pack))
        .route(api::PROGRAM.0, get(node_program))
        .route(api::INSTALL_SH.0, get(installer::install_sh))
        .route(api::PLAN.0, get(plan))
        .route(api::SECRETS.0, get(secrets))
        .route(api::ENROL.0, post(enrolment::enroll))
        .route(api::SSH_HOST_CERTIFICATES.0, post(host_keys::certify))
        .route(api::NOT_BEGUN.0, post(not_begun::not_begun))
        .route(api::RECORDS.0, post(records))
        .route(api::LOG.0, put(log))
        .route(api::BEAT.0, post(beat))
        .with_state(state)
        .layer(axum::middleware::map_response(refusal::in_json))
}

type Www = State<PublishedFolder>;
/// The connection that a request has come by.
type Peer = Extension<Arc<Connection>>;

async fn manifest(State(www): Www, request: Request<Body>) -> Response {
    PublishedFile::Manifest(published::MANIFEST.to_owned()).serve(&www, request).await
}

async fn manifest_signature(State(www): Www, request: Request<Body>) -> Response {
    PublishedFile::Manifest(published::signature(published::MANIFEST)).serve(&www, request).await
}

async fn channel_manifest(
    State(www): Www,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Response {
    match PublishedFile::manifest(&name) {
        Some(manifest) => manifest.serve(&www, request).await,
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Which bundle a request is about, where that is a channel's.
#[derive(Deserialize)]
struct Bundle {
    generation: Option<u64>,
}

async fn refresh(
    State(refresher): State<Arc<Refresher>>,
    Query(bundle): Query<Bundle>,
) -> Response {
    refresher.serve(bundle.generation, false).await
}

async fn refresh_signature(
    State(refresher): State<Arc<Refresher>>,
    Query(bundle): Query<Bundle>,
) -> Response {
    refresher.serve(bundle.generation, true).await
}

async fn object(
    State(www): Www,
    Path((folder, name)): Path<(String, String)>,
    request: Request<Body>,
) -> Response {
    match PublishedFile::object(&folder, &name) {
        Some(object) => object.serve(&www, request).await,
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn pack(State(www): Www, Path(name): Path<String>, request: Request<Body>) -> Response {
    match PublishedFile::pack(&name) {
        Some(pack) => pack.serve(&www, request).await,
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn node_program(
    State(programs): State<Arc<NodePrograms>>,
    State(enrolment): State<Arc<Enrolment>>,
    Extension(by): Peer,
    Path(sha256): Path<String>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    if let Some(served) = programs.serve(&sha256, request).await {
        return Ok(served);
    }
    let hint = "print the installer's script again: provostctl snippet";
    enrolment.pending.add_unnamed(by.address(), AuthFailure::UnknownProgram, hint);
    let error = format!("no program of nodes has the sha256 {sha256:?}");
    Err(Refusal::new(StatusCode::NOT_FOUND, error, hint))
}

async fn plan(
    State(www): Www,
    State(callers): State<Arc<Callers>>,
    State(guard): State<AttemptGuard>,
    Extension(by): Peer,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    let Some(plan) = PublishedFile::plan(&name) else {
        return Ok(StatusCode::NOT_FOUND.into_response());
    };
    let caller = match callers.check(request.headers(), plan.node, &by).await {
        Ok(caller) => caller,
        Err(refusal) => {
            let may_enrol = refusal.status == StatusCode::UNAUTHORIZED && by.is_private();
            let is_open = may_enrol && callers.enrolment.is_open_to(plan.node).await?;
            let mut response = refusal.into_response();
            if is_open {
                let window = HeaderValue::from_static(headers::WINDOW);
                response.headers_mut().insert(headers::IDENTITY, window);
            }
            return Ok(response);
        }
    };
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
            response
                .headers_mut()
                .insert(headers::IDENTITY, HeaderValue::from_static(headers::RENEW));
        }
    }
    Ok(response)
}

async fn secrets(
    State(www): Www,
    State(callers): State<Arc<Callers>>,
    Extension(by): Peer,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    let Some((node, secrets)) = PublishedFile::secrets(&name) else {
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
    Extension(by): Peer,
    Path(node): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let body = callers.read(&headers, &node, &by, body, limits::BATCH).await?;
    let sent = Sent { program: program::version(&headers), plain_http: !by.is_private() };
    let (acknowledgement, goes_on) = reports.ingest(&node, &body.bytes, sent).await?;
    let wait = goes_on.then(|| reports.next_report()).flatten();
    let wait = wait.map(|wait| [(header::RETRY_AFTER, wait.as_secs())]);
    Ok((wait, Json(acknowledgement)).into_response())
}

async fn beat(
    State(callers): State<Arc<Callers>>,
    State(beats): State<Arc<Beats>>,
    Extension(by): Peer,
    Path((node, run)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<BeatAnswer>, Refusal> {
    let body = callers.read(&headers, &node, &by, body, limits::BEAT).await?;
    let invalid = |error: String| {
        let hint = "install the same version of Provost on the node and the management node";
        Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, error, hint)
    };
    let beat: Beat = serde_json::from_slice(&body.bytes)
        .map_err(|e| invalid(format!("the body isn't a beat: {e}")))?;
    if !ingest::is_run_id(&run) || !is_log_name(&beat.log) || beat.stage.len() > limits::LOG_NAME {
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
    Extension(by): Peer,
    Path((node, run, name)): Path<(String, String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Refusal> {
    let mut body = callers.read(&headers, &node, &by, body, limits::LOG).await?;
    let encoding = Encoding::of(&headers)?;
    check_log(&run, &name)?;
    let mut bytes = std::mem::take(&mut body.bytes);
    let _room = match encoding {
        Some(encoding) => {
            let room = bodies.room(limits::LOG as u64).await?;
            bytes = spawn_blocking(move || encoding.unpack(&bytes, limits::LOG)).await??;
            Some(room)
        }
        None => None,
    };
    reports.put_log(&node, UploadedLog { run, name }, log_kind(&headers), bytes).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn log_kind(request: &HeaderMap) -> LogKind {
    match request.get(headers::LOG) {
        Some(kind) if kind == headers::SUCCESS => LogKind::Success,
        _ => LogKind::Failure,
    }
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
        && name.len() <= limits::LOG_NAME
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
