//! Forwards what is spooled of each node, in the order in which it came.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use jiff::Timestamp;
use provost_node::backoff::{Backoff, Jitter};
use provost_node::http::{ErrorBody, retry_after};
use provost_record::wording::error_chain;
use provost_store::StoreError;
use serde_json::value::RawValue;

use super::queues::Queue;
use super::shared::{Relay, escaped};
use super::spool::Entry;
use super::upstream::{Answer, LONG, NoneReached, Request};
use super::verdict::Verdict;
use crate::nodes_api::WAITED;

/// How long reports of a node may wait for more of them. A failure doesn't wait, nor does a run's end.
const INTERVAL: Duration = Duration::from_secs(5);
/// How long to wait before the next attempt if no upstream can be reached.
const AWAY: Backoff =
    Backoff { first: Duration::from_secs(2), most: Duration::from_secs(10), jitter: Jitter::Half };
/// The same if an upstream doesn't know the token any more: until the node comes with its new one.
const UNKNOWN: Duration = Duration::from_secs(60);

/// Why something stays spooled.
pub(super) enum Stuck {
    NoneReached,
    /// The token isn't the node's any more.
    NotTheNode(Answer),
    /// The node is over its quota.
    Later(Answer),
    Spool(StoreError),
}

impl From<NoneReached> for Stuck {
    fn from(NoneReached: NoneReached) -> Self {
        Self::NoneReached
    }
}

/// Forwards what comes from `node`, until nothing is left.
pub(super) async fn work(relay: Arc<Relay>, node: String, queue: Arc<Queue>) {
    let mut wait = INTERVAL;
    let mut failed = 0;
    loop {
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = queue.hurried() => {}
            () = relay.upstreams.come_back(), if failed > 0 => {}
        }
        let _permit = relay.forwarding.acquire().await;
        let _order = queue.order.lock().await;
        // What is spooled was accepted by a token that was known.
        let token = relay.known.token(&node).unwrap_or_default();
        match drain(&relay, &node, &queue, &token).await {
            Ok(()) if queue.is_over() => return,
            Ok(()) => (failed, wait) = (0, INTERVAL),
            Err(stuck) => {
                failed += 1;
                wait = match &stuck {
                    Stuck::NoneReached | Stuck::Spool(_) => AWAY.wait(failed),
                    Stuck::NotTheNode(_) => UNKNOWN,
                    Stuck::Later(answer) => retry_after(&answer.headers).unwrap_or(UNKNOWN),
                };
                if let Stuck::Spool(error) = stuck {
                    tracing::error!(
                        hint = error.hint(),
                        "forwarding reports of {node}: {}",
                        error_chain(&error)
                    );
                }
            }
        }
    }
}

/// Sends all that is spooled of `node`, by this token. The caller has the node's order.
pub(super) async fn drain(
    relay: &Relay,
    node: &str,
    queue: &Queue,
    token: &str,
) -> Result<(), Stuck> {
    loop {
        let mut entries = relay.spool.next(node).await.map_err(Stuck::Spool)?;
        let Some(first) = entries.first() else { return Ok(()) };
        let same = entries.iter().take_while(|entry| entry.is_sent_with(first)).count();
        entries.truncate(same);
        let bytes = entries.iter().map(|entry| entry.body.len() as u64).sum();
        let ids = entries.iter().map(|entry| entry.id).collect();
        let batch = merge(entries);
        let refused = send(relay, &batch, token).await?;
        relay.spool.settle(&batch, ids, refused).await.map_err(Stuck::Spool)?;
        queue.left(bytes);
    }
}

/// Sends one report. Returns what of it the management node will never take, and why.
async fn send(relay: &Relay, batch: &Entry, token: &str) -> Result<Vec<(Vec<u8>, String)>, Stuck> {
    let (answer, verdict) = post(relay, batch, token).await?;
    if let Verdict::Taken(_) = verdict {
        return Ok(Vec::new());
    }
    let records: Vec<Box<RawValue>> = match batch.log {
        None => serde_json::from_slice(&batch.body).unwrap_or_default(),
        Some(_) => Vec::new(),
    };
    if records.len() < 2 {
        let why = ErrorBody::parse(&answer.body).error.unwrap_or(answer.status.to_string());
        let Entry { node, run, .. } = batch;
        tracing::error!(
            hint =
                "look at it: sqlite3 DATA/relay.db 'SELECT * FROM entry WHERE refused IS NOT NULL'",
            "a report of {node}, run {run}, stays here; the management node refuses it: {why}"
        );
        return Ok(vec![(batch.body.clone(), why)]);
    }
    // One of them is to blame; the others must not wait for it.
    let mut refused = Vec::new();
    for record in records {
        let body = format!("[{record}]").into_bytes();
        let one = Entry { body, records: 1, ..batch.clone() };
        refused.extend(Box::pin(send(relay, &one, token)).await?);
    }
    Ok(refused)
}

/// Sends one report, and remembers what the answer says of the node.
async fn post(relay: &Relay, report: &Entry, token: &str) -> Result<(Answer, Verdict), Stuck> {
    let last = report.last();
    let (path, headers) = (report.path(), report.headers(token));
    let method = if report.log.is_some() { Method::PUT } else { Method::POST };
    let body = Bytes::from(report.body.clone());
    let request = Request { method, path: &path, headers, body, patience: LONG };
    let answer =
        relay.upstreams.send(&request, |answer| Verdict::of(answer, last).map(drop)).await?;
    // It was one when it was accepted.
    let Ok(verdict) = Verdict::of(&answer, last) else { return Err(Stuck::NoneReached) };
    relay.metrics.forwarded(&verdict);
    match verdict {
        Verdict::Taken(ref directive) => {
            let known = &relay.known;
            known.accept(&relay.spool, &report.node, token, directive.clone()).await;
        }
        Verdict::NotTheNode => {
            relay.known.refuse(&report.node, token);
            return Err(Stuck::NotTheNode(answer));
        }
        Verdict::Later => return Err(Stuck::Later(answer)),
        Verdict::Never => {}
    }
    Ok((answer, verdict))
}

/// Sends a report that isn't spooled, and returns the upstream's answer, whatever it is.
pub(super) async fn straight(relay: &Relay, report: &Entry, token: &str) -> Result<Answer, Stuck> {
    match post(relay, report, token).await {
        Ok((answer, _)) | Err(Stuck::NotTheNode(answer) | Stuck::Later(answer)) => Ok(answer),
        Err(stuck) => Err(stuck),
    }
}

/// One report of several of the same run.
fn merge(mut entries: Vec<Entry>) -> Entry {
    let mut first = entries.remove(0);
    for entry in entries {
        // Both are JSON arrays, as they were checked when they came, with nothing after them.
        first.body.truncate(first.body.trim_ascii_end().len() - 1);
        first.body.push(b',');
        first.body.extend_from_slice(&entry.body.trim_ascii_start()[1..]);
        first.records += entry.records;
    }
    first
}

impl Entry {
    /// Whether both go with one request.
    fn is_sent_with(&self, first: &Self) -> bool {
        let is_same = self.run == first.run && self.agent == first.agent;
        self.id == first.id || (is_same && self.log.is_none() && first.log.is_none())
    }

    /// The number of its last record.
    fn last(&self) -> Option<u64> {
        #[derive(serde::Deserialize)]
        struct Numbered {
            seq: u64,
        }
        let records: Vec<Numbered> = match self.log {
            None => serde_json::from_slice(&self.body).unwrap_or_default(),
            Some(_) => return None,
        };
        records.last().map(|record| record.seq)
    }

    fn path(&self) -> String {
        let Self { node, run, .. } = self;
        match &self.log {
            None => format!("/v1/nodes/{node}/records"),
            Some(log) => {
                let log = escaped(log);
                format!("/v1/nodes/{node}/runs/{run}/logs/{log}")
            }
        }
    }

    fn headers(&self, token: &str) -> HeaderMap {
        let json = self.log.is_none().then_some("application/json");
        let all = [
            (header::AUTHORIZATION, Some(token)),
            (header::USER_AGENT, self.agent.as_deref()),
            (header::CONTENT_ENCODING, self.encoding.as_deref()),
            (header::CONTENT_TYPE, json),
        ];
        let waited = self.came.map(|came| Timestamp::now().duration_since(came).as_secs().max(0));
        let waited = waited.map(|seconds| (WAITED, HeaderValue::from(seconds)));
        let value =
            |(name, text): (_, Option<&str>)| Some((name, HeaderValue::from_str(text?).ok()?));
        all.into_iter().filter_map(value).chain(waited).collect()
    }
}

impl Answer {
    /// Whether it says that all went well.
    pub(super) fn is_good(&self) -> bool {
        self.status == StatusCode::OK || self.status == StatusCode::NO_CONTENT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_one_run_become_one() {
        let entry = |body: &str| Entry { body: body.into(), records: 1, ..Entry::default() };
        let merged =
            merge(vec![entry("[{\"seq\":1}] \n"), entry("[{\"seq\":2}]"), entry(" [{\"seq\":3}]")]);
        assert_eq!(merged.body, b"[{\"seq\":1},{\"seq\":2},{\"seq\":3}]");
        assert_eq!((merged.records, merged.last()), (3, Some(3)));
    }
}
