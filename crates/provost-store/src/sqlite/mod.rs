//! The embedded store: one SQLite file, written by one thread and read through other connections;
//! uploaded logs are files beside it, so that ten thousand of them delay no record.

mod changes;
mod error;
mod logs;
mod readers;
mod rows;
mod schema;
mod writer;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use tokio::sync::broadcast;

use self::error::failed;
use self::logs::Logs;
use self::readers::Readers;
use self::schema::SchemaError;
use self::writer::Writer;
use crate::{
    Answer, Claim, Event, Ingested, Lost, Node, Released, Report, Standing, Store, StoreError,
    StoredRun, Token, UploadedLog,
};

/// The embedded store.
pub struct Sqlite {
    path: PathBuf,
    // Dropped before the writer: the last connection that closes merges the write-ahead log into
    // the file, and a read-only one can't.
    readers: Readers,
    writer: Writer,
    logs: Logs,
}

impl Sqlite {
    /// Opens the store in the folder `data`, or makes one there: `provost.db` and `logs/`.
    pub fn open(data: &Path) -> Result<Self, StoreError> {
        let path = data.join("provost.db");
        let db = schema::open_writer(&path).map_err(|e| match e {
            SchemaError::Sqlite(e) => failed("opening", &path, e),
            newer @ SchemaError::Newer { .. } => StoreError::new(
                format!("opening {}", path.display()),
                "start the provostd that wrote this file, or a newer one",
                newer,
            ),
        })?;
        let writer = Writer::start(db, &path)?;
        Ok(Self { writer, readers: Readers::new(), logs: Logs::new(data.join("logs")), path })
    }

    async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.readers.read(&self.path, query).await
    }
}

impl Store for Sqlite {
    fn ingest<'a>(
        &'a self,
        node: &'a str,
        batch: Vec<Report>,
        at: Timestamp,
    ) -> Answer<'a, Ingested> {
        let name = node.to_owned();
        let work = move |db: &Connection| changes::ingest(db, &name, &batch, at);
        Box::pin(self.writer.submit(&self.path, work))
    }

    fn claim(&self, claim: Claim, at: Timestamp) -> Answer<'_, bool> {
        let work = move |db: &Connection| changes::claim(db, &claim, at);
        Box::pin(self.writer.submit(&self.path, work))
    }

    fn events(&self) -> broadcast::Receiver<Event> {
        self.writer.events()
    }

    fn nodes(&self) -> Answer<'_, Vec<Node>> {
        Box::pin(self.read(|db| {
            db.prepare_cached("SELECT state FROM node ORDER BY name")?
                .query_map([], rows::node)?
                .collect()
        }))
    }

    fn node<'a>(&'a self, name: &'a str) -> Answer<'a, Option<Node>> {
        let name = name.to_owned();
        Box::pin(self.read(move |db| {
            db.prepare_cached("SELECT state FROM node WHERE name = ?")?
                .query_row([name], rows::node)
                .optional()
        }))
    }

    fn runs<'a>(&'a self, node: &'a str) -> Answer<'a, Vec<StoredRun>> {
        let node = node.to_owned();
        Box::pin(self.read(move |db| {
            db.prepare_cached("SELECT id, node, run FROM run WHERE node = ? ORDER BY id DESC")?
                .query_map([node], |row| rows::stored_run(db, row))?
                .collect()
        }))
    }

    fn run<'a>(&'a self, run: &'a str) -> Answer<'a, Option<StoredRun>> {
        let run = run.to_owned();
        Box::pin(self.read(move |db| {
            db.prepare_cached("SELECT id, node, run FROM run WHERE run = ? ORDER BY id LIMIT 1")?
                .query_row([run], |row| rows::stored_run(db, row))
                .optional()
        }))
    }

    fn put_log<'a>(&'a self, node: &'a str, log: UploadedLog, bytes: Vec<u8>) -> Answer<'a, ()> {
        self.logs.put(node, log, bytes)
    }

    fn logs<'a>(&'a self, node: &'a str) -> Answer<'a, Vec<UploadedLog>> {
        self.logs.list(node)
    }

    fn log<'a>(&'a self, node: &'a str, log: &'a UploadedLog) -> Answer<'a, Option<Vec<u8>>> {
        self.logs.get(node, log)
    }

    fn next_due(&self) -> Answer<'_, Option<Timestamp>> {
        Box::pin(self.read(|db| {
            let due: Option<i64> = db
                .prepare_cached("SELECT min(due) FROM node WHERE due IS NOT NULL")?
                .query_row([], |row| row.get(0))?;
            Ok(due.and_then(|due| Timestamp::from_millisecond(due).ok()))
        }))
    }

    fn lose(&self, due: Timestamp, at: Timestamp) -> Answer<'_, Vec<Lost>> {
        let work = move |db: &Connection| changes::lose(db, due, at);
        Box::pin(self.writer.submit(&self.path, work))
    }

    fn restart_deadlines(&self, at: Timestamp) -> Answer<'_, ()> {
        let work = move |db: &Connection| changes::restart_deadlines(db, at);
        Box::pin(self.writer.submit(&self.path, work))
    }

    fn standing<'a>(&'a self, node: &'a str, current: Option<&'a str>) -> Answer<'a, Standing> {
        let (node, current) = (node.to_owned(), current.map(str::to_owned));
        Box::pin(self.read(move |db| {
            let state = changes::state_of(db, &node)?;
            Ok(state.map(|state| state.standing(current.as_deref())).unwrap_or_default())
        }))
    }

    fn release(
        &self,
        nodes: Vec<String>,
        at: Timestamp,
    ) -> Answer<'_, Result<Vec<Released>, Vec<String>>> {
        let work = move |db: &Connection| changes::release(db, &nodes, at);
        Box::pin(self.writer.submit(&self.path, work))
    }

    fn set_tokens(&self, tokens: Vec<Token>, at: Timestamp) -> Answer<'_, Vec<String>> {
        let work = move |db: &Connection| changes::set_tokens(db, &tokens, at);
        Box::pin(self.writer.submit(&self.path, work))
    }

    fn token_owner(&self, sha256: [u8; 32]) -> Answer<'_, Option<String>> {
        Box::pin(self.read(move |db| {
            db.prepare_cached("SELECT name FROM node WHERE token = ?")?
                .query_row([sha256], |row| row.get(0))
                .optional()
        }))
    }
}
