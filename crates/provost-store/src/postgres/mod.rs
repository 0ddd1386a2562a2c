//! The store of many daemons: a PostgreSQL database. A daemon keeps nothing of its own.

mod batch;
mod connect;
mod error;
mod events;
mod history;
mod ingest;
mod logs;
mod nodes;
mod note;
mod notices;
mod peer;
mod reads;
mod records;
mod runs;
mod schema;
mod sql;
mod steps;
#[cfg(feature = "transfer")]
pub(crate) mod transfer;
mod watch;
mod writer;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use provost_api::LogKind;
use serde_json::value::RawValue;
use tokio::sync::broadcast;
use tokio::task::JoinSet;

pub use self::connect::{PostgresFiles, PostgresUrl};

use self::connect::Database;
use self::error::{ANSWER, CONNECT, Failure, within};
use self::events::Listener;
use self::watch::WatchLease;
use self::writer::Writer;
use crate::sql::Backend;
use crate::tables::nodes::remove;
use crate::tables::prune;
use crate::tables::steps::report;
use crate::{
    Answer, EVENT_BACKLOG, Event, Ingested, NewestRuns, Node, PruneScope, Pruned, Quotas, Report,
    Retention, RunQuery, ScriptReport, ScriptSummary, Status, Store, StoreError, UploadedLog,
    Watch,
};

/// A PostgreSQL database, which many daemons may share.
pub struct Postgres {
    database: Arc<Database>,
    writer: Writer,
    events: broadcast::Sender<Event>,
    turn: WatchLease,
    deliveries: notices::DeliveryLease,
    quotas: Quotas,
    /// The last run that [`PruneScope::AtNewRuns`] has looked at.
    pruned_until: AtomicI64,
    /// What listens for events. Ends with the store.
    _listening: JoinSet<()>,
}

impl Postgres {
    /// Opens the database, and makes its tables where there are none. One that can't be reached now
    /// opens too: what needs it fails until it is there. Needs a tokio runtime.
    pub async fn open(
        url: &PostgresUrl,
        files: &PostgresFiles,
        quotas: Quotas,
    ) -> Result<Self, StoreError> {
        let database = Arc::new(Database::new(url, files)?);
        let opened = async {
            drop(database.client().await?);
            Listener::connect(&database).await
        };
        let listener = match opened.await {
            Ok(listener) => Some(listener),
            Err(failure) if failure.passes() => None,
            Err(failure) => return Err(failure.of("opening", &database.name)),
        };
        let (events, _) = broadcast::channel(EVENT_BACKLOG);
        let mut listening = JoinSet::new();
        listening.spawn(Listener::run(listener, Arc::clone(&database), events.clone()));
        if database.peer.is_some() {
            listening.spawn(Arc::clone(&database).watch_peer());
        }
        let writer = Writer::start(Arc::clone(&database), quotas.records);
        Ok(Self {
            database,
            writer,
            events,
            turn: WatchLease::default(),
            deliveries: notices::DeliveryLease::default(),
            quotas,
            pruned_until: AtomicI64::new(0),
            _listening: listening,
        })
    }

    /// Whether [`open`](Self::open) would succeed; changes nothing. Returns what passes: it succeeds with a
    /// database that doesn't answer, and waits for it.
    pub async fn check_open(
        url: &PostgresUrl,
        files: &PostgresFiles,
    ) -> Result<Option<StoreError>, StoreError> {
        let database = Database::new(url, files)?;
        let look = async {
            let (client, connection) = database.connect().await?;
            let _connection = tokio::spawn(connection);
            schema::version(&client).await.map(drop)
        };
        match within(ANSWER, look).await {
            Err(failure) => {
                let passes = failure.passes();
                let error = failure.of("opening", &database.name);
                if passes { Ok(Some(error)) } else { Err(error) }
            }
            Ok(()) => Ok(None),
        }
    }

    fn read<'a, T: 'a>(
        &'a self,
        work: impl Future<Output = Result<T, Failure>> + Send + 'a,
    ) -> Answer<'a, T> {
        let work = within(ANSWER, work);
        Box::pin(async { work.await.map_err(|e| e.of("reading", &self.database.name)) })
    }

    fn write<'a, T: 'a>(
        &'a self,
        work: impl Future<Output = Result<T, Failure>> + Send + 'a,
    ) -> Answer<'a, T> {
        self.write_unlimited(within(ANSWER, work))
    }

    /// A write that may take long: nobody waits for it.
    fn write_unlimited<'a, T: 'a>(
        &'a self,
        work: impl Future<Output = Result<T, Failure>> + Send + 'a,
    ) -> Answer<'a, T> {
        Box::pin(async { work.await.map_err(|e| e.of("writing to", &self.database.name)) })
    }
}

impl Store for Postgres {
    fn ingest<'a>(
        &'a self,
        node: &'a str,
        batch: Vec<Report>,
        at: Timestamp,
    ) -> Answer<'a, Ingested> {
        Box::pin(self.writer.ingest(node, batch, at))
    }

    fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    fn nodes(&self) -> Answer<'_, Vec<Node>> {
        self.read(reads::nodes(&self.database))
    }

    fn statuses(&self) -> Answer<'_, BTreeMap<Status, u64>> {
        self.read(reads::statuses(&self.database))
    }

    fn nodes_named(&self, names: Vec<String>) -> Answer<'_, Vec<Node>> {
        self.read(reads::nodes_named(&self.database, names))
    }

    fn runs<'a>(&'a self, node: &'a str, query: RunQuery) -> Answer<'a, NewestRuns> {
        self.read(runs::newest(&self.database, node, query))
    }

    fn records<'a>(&'a self, run: &'a str, after: u64) -> Answer<'a, Vec<(u64, Box<RawValue>)>> {
        self.read(runs::records(&self.database, run, after))
    }

    fn put_log<'a>(
        &'a self,
        node: &'a str,
        log: UploadedLog,
        kind: LogKind,
        bytes: Vec<u8>,
    ) -> Answer<'a, Pruned> {
        Box::pin(async move {
            let stored = logs::put(&self.database, node, &log, kind, &bytes, self.quotas.logs);
            let stored = within(ANSWER, stored)
                .await
                .map_err(|e| e.of("writing to", &self.database.name))?;
            stored.map_err(|over| StoreError::over_quota(node, "logs", over))
        })
    }

    fn logs<'a>(&'a self, node: &'a str) -> Answer<'a, Vec<UploadedLog>> {
        self.read(logs::list(&self.database, node))
    }

    fn log<'a>(&'a self, node: &'a str, log: &'a UploadedLog) -> Answer<'a, Option<Vec<u8>>> {
        self.read(logs::get(&self.database, node, log))
    }

    fn watch(&self) -> Answer<'_, Watch> {
        self.write(self.turn.ask(&self.database))
    }

    fn daemons(&self) -> u32 {
        self.database.daemons.load(Ordering::Relaxed)
    }

    fn remove(&self, nodes: Vec<String>) -> Answer<'_, Result<(), Vec<String>>> {
        self.change(nodes, |db, nodes| Box::pin(remove(db, nodes)))
    }

    fn prunable(&self, keep: Retention, at: Timestamp) -> Answer<'_, Pruned> {
        Box::pin(prune::prunable(self, keep, at))
    }

    fn prune(&self, keep: Retention, look: PruneScope, at: Timestamp) -> Answer<'_, Pruned> {
        Box::pin(prune::prune(self, keep, look, at, &self.pruned_until))
    }

    fn scripts(&self) -> Answer<'_, Vec<ScriptSummary>> {
        self.read(steps::summaries(&self.database))
    }

    fn script<'a>(&'a self, script: &'a str) -> Answer<'a, ScriptReport> {
        self.query(script.to_owned(), |db, script| Box::pin(report(db, script)))
    }

    fn server_certificate(&self) -> Option<Vec<u8>> {
        self.database.peer.as_ref()?.get()
    }

    fn check(&self) -> Answer<'_, ()> {
        self.read(within(CONNECT, async {
            let client = self.database.client().await?;
            let row = client.query_one("SELECT pg_is_in_recovery()", &[]).await?;
            if row.try_get(0)? { Err(Failure::Standby) } else { Ok(()) }
        }))
    }
}
