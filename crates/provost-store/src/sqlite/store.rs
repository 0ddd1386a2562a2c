//! The embedded store as a [`Store`]: each call is a job of the writer, or a query on a connection that reads.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use jiff::Timestamp;
use provost_api::LogKind;
use rusqlite::{Connection, OptionalExtension};
use serde_json::value::RawValue;
use tokio::sync::broadcast;

use super::writer::{Applied, Room};
use super::{Sqlite, ingest, nodes, rows, runs, steps};
use crate::sql::Backend;
use crate::tables::nodes::remove;
use crate::tables::prune;
use crate::tables::steps::report;
use crate::{
    Answer, Event, Ingested, NewestRuns, Node, PruneScope, Pruned, Report, Retention, RunQuery,
    ScriptReport, ScriptSummary, Status, Store, StoreError, UploadedLog, Watch,
};

impl Store for Sqlite {
    fn ingest<'a>(
        &'a self,
        node: &'a str,
        batch: Vec<Report>,
        at: Timestamp,
    ) -> Answer<'a, Ingested> {
        let name = node.to_owned();
        let (quota, subscriptions) = (self.quotas.records, self.subscriptions.clone());
        let work =
            move |db: &Connection| ingest::ingest(db, &name, &batch, quota, &subscriptions, at);
        Box::pin(async move {
            let stored = self.writer.submit(&self.path, Room::Free, work).await?;
            stored.map_err(|over| StoreError::over_quota(node, "records", over))
        })
    }

    fn events(&self) -> broadcast::Receiver<Event> {
        self.writer.events()
    }

    fn nodes(&self) -> Answer<'_, Vec<Node>> {
        Box::pin(self.read(nodes::all))
    }

    fn statuses(&self) -> Answer<'_, BTreeMap<Status, u64>> {
        Box::pin(self.read(nodes::statuses))
    }

    fn nodes_named(&self, mut names: Vec<String>) -> Answer<'_, Vec<Node>> {
        names.sort_unstable();
        Box::pin(self.read(move |db| {
            let mut select = db.prepare_cached("SELECT state FROM node WHERE name = ?")?;
            let found = names.iter().map(|name| select.query_row([name], rows::node).optional());
            found.filter_map(Result::transpose).collect()
        }))
    }

    fn runs<'a>(&'a self, node: &'a str, query: RunQuery) -> Answer<'a, NewestRuns> {
        let node = node.to_owned();
        Box::pin(self.read(move |db| runs::newest(db, &node, &query)))
    }

    fn records<'a>(&'a self, run: &'a str, after: u64) -> Answer<'a, Vec<(u64, Box<RawValue>)>> {
        let run = run.to_owned();
        Box::pin(self.read(move |db| runs::records(db, &run, after)))
    }

    fn scripts(&self) -> Answer<'_, Vec<ScriptSummary>> {
        Box::pin(self.read(steps::summaries))
    }

    fn script<'a>(&'a self, script: &'a str) -> Answer<'a, ScriptReport> {
        self.query(script.to_owned(), |db, script| Box::pin(report(db, script)))
    }

    fn check(&self) -> Answer<'_, ()> {
        Box::pin(async move {
            self.readers.check(&self.path).await?;
            self.writer.submit(&self.path, Room::Free, |_| Ok(Applied::default())).await
        })
    }

    fn put_log<'a>(
        &'a self,
        node: &'a str,
        log: UploadedLog,
        kind: LogKind,
        bytes: Vec<u8>,
    ) -> Answer<'a, Pruned> {
        self.logs.put(node, log, kind, bytes)
    }

    fn logs<'a>(&'a self, node: &'a str) -> Answer<'a, Vec<UploadedLog>> {
        self.logs.list(node)
    }

    fn log<'a>(&'a self, node: &'a str, log: &'a UploadedLog) -> Answer<'a, Option<Vec<u8>>> {
        self.logs.get(node, log)
    }

    fn watch(&self) -> Answer<'_, Watch> {
        // The daemon has the file for itself.
        let was_unwatched = !self.watched.swap(true, Ordering::Relaxed);
        Box::pin(async move { Ok(Watch::Here { was_unwatched, again: None }) })
    }

    fn daemons(&self) -> u32 {
        1
    }

    fn remove(&self, nodes: Vec<String>) -> Answer<'_, Result<(), Vec<String>>> {
        Box::pin(async move {
            let removed =
                self.change_reserved(nodes.clone(), |db, nodes| Box::pin(remove(db, nodes)));
            let removed = removed.await?;
            if removed.is_ok() {
                for node in &nodes {
                    self.logs.remove(node).await?;
                }
                self.give_back().await?;
            }
            Ok(removed)
        })
    }

    fn prunable(&self, keep: Retention, at: Timestamp) -> Answer<'_, Pruned> {
        Box::pin(prune::prunable(self, keep, at))
    }

    fn prune(&self, keep: Retention, look: PruneScope, at: Timestamp) -> Answer<'_, Pruned> {
        Box::pin(async move {
            let pruned = prune::prune(self, keep, look, at, &self.pruned_until).await?;
            self.give_back().await?;
            Ok(pruned)
        })
    }
}
