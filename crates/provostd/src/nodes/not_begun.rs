//! An installer that couldn't get the node's program: nothing else can report that for it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, Path, State};
use axum::http::StatusCode;
use provost_api::nodes::NotBegun;
use provost_api::{AuthFailure, Cause};
use provost_record::{FETCH, Outcome, Phase, Record, Service, now};
use provost_store::Sent;
use sha2::{Digest, Sha256};

use super::enrolment::Enrolment;
use super::ingest::{Reports, is_run_id};
use super::node_programs::NodePrograms;
use crate::listener::bodies::Bodies;
use crate::listener::connections::Connection;
use crate::listener::refusal::Refusal;

/// The longest, in bytes.
const MOST: usize = 4096;

/// `POST /v1/nodes/NODE/not-begun`: the node has failed, if it proves who it is. Else it is pending.
pub(crate) async fn not_begun(
    State(enrolment): State<Arc<Enrolment>>,
    State(reports): State<Arc<Reports>>,
    State(programs): State<Arc<NodePrograms>>,
    State(bodies): State<Arc<Bodies>>,
    Extension(by): Extension<Arc<Connection>>,
    Path(node): Path<String>,
    body: Body,
) -> Result<StatusCode, Refusal> {
    let body = bodies.read(body, MOST).await?;
    let said =
        NotBegun::parse(&body.bytes).filter(|said| is_run_id(said.run)).ok_or_else(|| {
            let hint = "print the installer's script again: provostctl snippet";
            let error = "the body isn't PROOF, RUN SHA256 and a reason, each on a line";
            Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, error, hint)
        })?;
    let again = format!("print the installer's script again: provostctl snippet … {node}");
    let hint = match said.architecture() {
        Some(architecture) => format!("{}, then {again}", programs.place(architecture)),
        None if programs.has(said.sha256).await => {
            format!("check that {node} reaches this server, then install it again")
        }
        None => again,
    };
    let digests = enrolment.store.digests_of(&node, now()).await?;
    if !digests.iter().any(|digest| proof(digest, said.text) == said.proof) {
        enrolment.pending.remove_unnamed(by.address());
        enrolment.pending.add(&node, by.address(), AuthFailure::NotBegun, &hint);
        let error = format!("it isn't proved by a token of {node:?} that is valid");
        return Err(Refusal::new(StatusCode::UNAUTHORIZED, error, hint));
    }
    let records = records(&node, &said, &hint);
    let json = serde_json::to_vec(&records).map_err(Refusal::bug)?;
    reports.ingest(&node, &json, Sent::default()).await?;
    enrolment.pending.let_in(&node, by.address());
    Ok(StatusCode::OK)
}

/// See [`NotBegun::proof`].
fn proof(digest: &[u8; 32], text: &str) -> String {
    let text = hex::encode(Sha256::digest(text));
    hex::encode(Sha256::digest(format!("{} {text}", hex::encode(digest))))
}

/// A kickstart whose fetch has failed.
fn records(node: &str, said: &NotBegun<'_>, hint: &str) -> [Record; 4] {
    let phases = [
        (Phase::ServiceStart, None),
        (Phase::StageStart, Some(FETCH)),
        (Phase::StageEnd, Some(FETCH)),
        (Phase::ServiceEnd, None),
    ];
    let mut seq = 0;
    phases.map(|(phase, stage)| {
        seq += 1;
        let mut record = Record::new(phase);
        (record.service, record.node) = (Service::Kickstart.as_str().to_owned(), node.to_owned());
        (record.run, record.seq) = (said.run.to_owned(), seq);
        record.stage = stage.map(str::to_owned);
        if matches!(phase, Phase::StageEnd | Phase::ServiceEnd) {
            record.result = Some(Outcome::Failure);
            record.cause = Some(Cause::Fetch);
            record.error_message = Some(said.reason.to_owned());
            record.hint = Some(hint.to_owned());
        }
        record
    })
}
