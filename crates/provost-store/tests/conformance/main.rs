//! What every store must do ([`suite`]), and what each does besides.
#![allow(clippy::unwrap_used)]

mod enrolment;
mod history;
mod jobs;
mod notices;
mod postgres;
mod pruning;
mod queries;
mod same;
mod sqlite;
mod suite;
mod transfer;

use std::time::Duration;

use jiff::Timestamp;
use provost_store::{Event, MAX_RUNS, Report, RunQuery, Store, StoredRun};
use serde_json::json;
use tokio::sync::broadcast;

const AT: &str = "2026-11-20T17:00:00Z";
/// The longest that an event may take.
const SOON: Duration = Duration::from_secs(60);

/// A node's runs with all of their records.
async fn all_runs(store: &dyn Store, node: &str) -> Vec<StoredRun> {
    let newest = store.runs(node, RunQuery::newest(MAX_RUNS)).await.unwrap();
    assert!(!newest.more && newest.runs.iter().all(|run| !run.is_brief));
    newest.runs
}

/// The next event.
async fn next(events: &mut broadcast::Receiver<Event>) -> Event {
    tokio::time::timeout(SOON, events.recv()).await.unwrap().unwrap()
}

fn at() -> Timestamp {
    AT.parse().unwrap()
}

fn report(node: &str, run: &str, seq: u64, more: serde_json::Value) -> Report {
    let mut record =
        json!({"timestamp": AT, "service": "boot", "node": node, "run": run, "seq": seq});
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Report::parse(&serde_json::value::to_raw_value(&record).unwrap()).unwrap()
}
