//! What nodes report. It is checked here as provostd does. While an upstream can be reached, it decides
//! about tokens that aren't known yet and about the start of a run, whose answer may hold the node;
//! all else is acknowledged when it is on this relay's disk.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use provost_record::{Phase, Record};
use serde_json::{Map, Value, to_value};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::forward::{self, Stuck};
use super::guard;
use super::known::{self, PROCEED};
use super::pass;
use super::shared::{Relay, away};
use super::spool::Entry;
use super::upstream::Answer;
use crate::connections::Connection;
use crate::encoding::Encoding;
use crate::guard::Directive;
use crate::nodes_api::{MAX_BATCH, MAX_LOG, check_log};
use crate::refusal::Refusal;
use crate::{ingest, tokens};

/// How long a node waits for an upstream's decision. It gives up after 10 s.
const DECISION: Duration = Duration::from_secs(8);

/// A report that was checked.
struct Report {
    entry: Entry,
    /// Its last record, if it is no log.
    last: Option<Record>,
    /// It has the start of a run.
    begins: bool,
    /// It has a failure, or the end of a run.
    is_urgent: bool,
}

pub(super) async fn records(
    State(relay): State<Arc<Relay>>,
    Extension(by): Extension<Arc<Connection>>,
    Path(node): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let token = own_token(&relay, &headers, &node)?;
    let mut body = relay.bodies.read(body, MAX_BATCH).await?;
    let records = ingest::parse(&node, &body.bytes)?;
    let Some(last) = records.last() else {
        return Err(ingest::invalid("the batch is empty".into()));
    };
    let any = |is: fn(&Record) -> bool| records.iter().any(|one| is(&one.record));
    let report = Report {
        last: Some(last.record.clone()),
        begins: any(|record| record.phase == Phase::ServiceStart),
        is_urgent: any(|record| record.is_failure() || record.phase == Phase::ServiceEnd),
        entry: Entry {
            node,
            run: last.record.run.clone(),
            agent: text(&headers, header::USER_AGENT),
            records: records.len() as u32,
            body: std::mem::take(&mut body.bytes),
            ..Entry::default()
        },
    };
    take(&relay, &by, &token, report).await
}

pub(super) async fn log(
    State(relay): State<Arc<Relay>>,
    Extension(by): Extension<Arc<Connection>>,
    Path((node, run, name)): Path<(String, String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let token = own_token(&relay, &headers, &node)?;
    let mut body = relay.bodies.read(body, MAX_LOG).await?;
    let encoding = Encoding::of(&headers)?;
    check_log(&run, &name)?;
    let mut bytes = std::mem::take(&mut body.bytes);
    if let Some(encoding) = encoding {
        let _room = relay.bodies.room(MAX_LOG as u64).await?;
        let unpacked = spawn_blocking(move || (encoding.unpack(&bytes, MAX_LOG).map(drop), bytes));
        let (checked, packed) = unpacked.await.map_err(|e| {
            let what = format!("unpacking {name} of {node}: {e}");
            Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, what, "report this as a bug")
        })?;
        checked?;
        bytes = packed;
    }
    let entry = Entry {
        node,
        run,
        log: Some(name),
        agent: text(&headers, header::USER_AGENT),
        encoding: text(&headers, header::CONTENT_ENCODING),
        body: bytes,
        ..Entry::default()
    };
    let report = Report { entry, last: None, begins: false, is_urgent: true };
    take(&relay, &by, &token, report).await
}

/// The value of `Authorization` of a request about `node`.
fn own_token(relay: &Relay, headers: &HeaderMap, node: &str) -> Result<String, Refusal> {
    if !provost_plan::is_node_name(node) {
        let hint = "use the name that the node has in site.toml";
        return Err(Refusal::new(
            StatusCode::NOT_FOUND,
            format!("{node:?} is no node's name"),
            hint,
        ));
    }
    relay.metrics.asked();
    known::token(headers).map(str::to_owned).ok_or_else(tokens::missing)
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// Takes a report: spools it, or has it decided.
async fn take(
    relay: &Arc<Relay>,
    by: &Connection,
    token: &str,
    report: Report,
) -> Result<Response, Refusal> {
    let node = &report.entry.node;
    let is_known = relay.known.directive(node, token).is_some();
    if is_known {
        by.has_token();
    }
    if is_known && !report.begins {
        match spool(relay, token, &report).await {
            Ok(answer) => return Ok(answer),
            // The refusal is in the log. An upstream may have more room.
            Err(refusal) => drop(refusal.into_response()),
        }
    }
    match timeout(DECISION, decide(relay, token, &report.entry)).await {
        Ok(Ok(answer)) => {
            if answer.is_good() {
                by.has_token();
            }
            Ok(pass::whole(answer))
        }
        Ok(Err(Stuck::Spool(error))) => Err(error.into()),
        // What was spooled before isn't taken now, so neither is this.
        Ok(Err(Stuck::NotTheNode(answer) | Stuck::Later(answer))) => Ok(pass::whole(answer)),
        Ok(Err(Stuck::NoneReached)) | Err(_) if is_known => spool(relay, token, &report).await,
        Ok(Err(Stuck::NoneReached)) | Err(_) => Err(away()),
    }
}

/// What an upstream says of a report, after all that the node has reported before.
async fn decide(relay: &Relay, token: &str, report: &Entry) -> Result<Answer, Stuck> {
    let queue = relay.queues.of(&report.node);
    let _order = queue.order.lock().await;
    forward::drain(relay, &report.node, &queue, token).await?;
    forward::straight(relay, report, token).await
}

/// Acknowledges a report when it is on the disk.
async fn spool(relay: &Arc<Relay>, token: &str, report: &Report) -> Result<Response, Refusal> {
    let Report { entry, last, is_urgent, .. } = report;
    let (node, bytes) = (entry.node.clone(), entry.body.len() as u64);
    let queue = relay.queues.of(&node);
    if !queue.reserve(bytes) {
        return Err(Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            format!("too much of {node} is kept here, which no management node has taken yet"),
            "see why: curl --unix-socket DATA/admin.sock http://relay/healthz",
        ));
    }
    if let Err(error) = relay.spool.append(entry.clone()).await {
        queue.left(bytes);
        return Err(error.into());
    }
    relay.metrics.spooled();
    if *is_urgent {
        queue.hurry();
    }
    if queue.begins() {
        tokio::spawn(forward::work(Arc::clone(relay), node.clone(), queue));
    }
    let Some(last) = last else { return Ok(StatusCode::NO_CONTENT.into_response()) };
    let mut answer = Map::from_iter([("acked".to_owned(), last.seq.into())]);
    answer.extend(directive(relay, token, report, last).await?);
    Ok(axum::Json(answer).into_response())
}

/// What the node has to do, as far as it is known here: what an upstream said last; in a run that begins
/// without one, also what follows from the attempts that are spooled.
async fn directive(
    relay: &Relay,
    token: &str,
    report: &Report,
    last: &Record,
) -> Result<Map<String, Value>, Refusal> {
    let node = &report.entry.node;
    if report.begins {
        let standing = guard::standing(relay, node, Some(&last.run)).await?;
        let held = Directive::after(last, &standing, relay.budget);
        if let (Directive::Hold { .. }, Ok(Value::Object(held))) = (&held, to_value(&held)) {
            return Ok(held);
        }
    }
    let said = relay.known.directive(node, token);
    Ok(serde_json::from_str(said.as_deref().unwrap_or(PROCEED)).unwrap_or_default())
}
