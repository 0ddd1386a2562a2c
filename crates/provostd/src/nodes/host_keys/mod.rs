//! Nodes' ssh host keys: what a node makes at a boot is certified, so that ssh knows the node by the authority.

mod authority;

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use provost_api::admins::SshAuthority;
use provost_api::{limits, published};
use provost_plan::{Plan, is_node_name};
use provost_steplog::wording::error_chain;
use tokio::task::spawn_blocking;

use super::caller::Callers;
use super::enrolment::node::address_of;
use crate::admin::health::DataFolder;
use crate::listener::connections::Connection;
use crate::listener::refusal::Refusal;
use crate::published::PublishedFolder;
pub(crate) use authority::HostAuthority;
use authority::{HostAuthorityError, Subject};

/// The variable of a plan that has its node's domain, as in xCAT's environment.
const DOMAIN: &str = "DOMAIN";

/// `POST /v1/nodes/NODE/ssh-host-certificates`.
pub(crate) async fn certify(
    State(callers): State<Arc<Callers>>,
    State(www): State<PublishedFolder>,
    State(DataFolder(data)): State<DataFolder>,
    Extension(by): Extension<Arc<Connection>>,
    Path(node): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<String, Refusal> {
    let body = callers.read_by_identity(&headers, &node, &by, body, limits::SSH_HOST_KEYS).await?;
    let keys = String::from_utf8_lossy(&body.bytes).into_owned();
    let names = names(&www, &node).await;
    let address = by.address();
    spawn_blocking(move || {
        let authority = HostAuthority::open_or_make(&data)?;
        let subject = Subject { node: &node, names: &names };
        let (mut certificates, mut new) = (String::new(), 0);
        for line in keys.lines() {
            let certified = authority.certify(line, &subject, seconds(Timestamp::now()))?;
            let (certificate, is_new) = certified.ok_or_else(|| not_a_key(line))?;
            certificates += &certificate;
            certificates.push('\n');
            new += u32::from(is_new);
        }
        if certificates.is_empty() {
            return Err(not_a_key(""));
        }
        if new > 0 {
            tracing::info!(
                "certified {new} ssh host keys of {node} at {address}: {}",
                names.join(", ")
            );
        }
        Ok(certificates)
    })
    .await?
}

/// By what ssh may ask for a node: its name, that with its domain, and its address, as what is published says. Not the address
/// that the request came from: a node can take another one's for as long as that takes.
async fn names(www: &PublishedFolder, node: &str) -> Vec<String> {
    let read = async |node: &str| tokio::fs::read(www.join(published::plan(node))).await.ok();
    let mut names = vec![node.to_owned()];
    let plan = read(node).await.and_then(|text| Plan::parse(&text).ok());
    if let Some(domain) = plan.as_ref().and_then(|plan| plan.env.get(DOMAIN)) {
        let full = format!("{node}.{}", domain.trim());
        // One that is another node's is that one's.
        if is_node_name(&full) && read(&full).await.is_none() {
            names.push(full);
        }
    }
    // ssh asks for names in small letters.
    names.iter_mut().for_each(|name| name.make_ascii_lowercase());
    names.extend(plan.as_ref().and_then(address_of).map(|address| address.to_string()));
    names
}

/// `GET /v1/ssh-authority`.
pub(crate) async fn authority(
    State(DataFolder(data)): State<DataFolder>,
) -> Result<Json<SshAuthority>, Refusal> {
    let known_hosts = spawn_blocking(move || HostAuthority::open_or_make(&data)?.known_hosts());
    Ok(Json(SshAuthority { known_hosts: known_hosts.await?? }))
}

fn seconds(at: Timestamp) -> u64 {
    at.as_second().try_into().unwrap_or_default()
}

fn not_a_key(line: &str) -> Refusal {
    let kind = line.split_whitespace().next().unwrap_or_default();
    Refusal::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        format!("a line that begins with {kind:?} is no public host key of ssh"),
        "send the lines of /etc/ssh/ssh_host_*_key.pub: Ed25519, ECDSA, or RSA of 2048 bits or more",
    )
}

impl From<HostAuthorityError> for Refusal {
    fn from(error: HostAuthorityError) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error_chain(&error), error.hint())
    }
}
