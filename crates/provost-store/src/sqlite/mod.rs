//! The embedded store: one SQLite file, written by one thread and read over other connections;
//! uploaded logs are files beside it, so that ten thousand of them hold up no record.

mod changes;
mod logs;
mod schema;
mod writer;

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, ffi, types::Type};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, broadcast};
use tokio::task::spawn_blocking;

use self::logs::Logs;
use self::schema::SchemaError;
use self::writer::Writer;
use crate::{
    Answer, Claim, Event, Ingested, Lost, Node, NodeState, Released, Report, Standing, Store,
    StoreError, StoredRun, Token, UploadedLog,
};

/// How many connections read at once.
const READERS: usize = 4;

/// The embedded store.
pub struct Sqlite {
    path: PathBuf,
    // Dropped before the writer: the last connection to close folds the log of changes back into
    // the file, and one that only reads can't.
    readers: Arc<Readers>,
    writer: Writer,
    logs: Logs,
}

struct Readers {
    idle: Mutex<Vec<Connection>>,
    permits: Semaphore,
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
        let readers =
            Arc::new(Readers { idle: Mutex::default(), permits: Semaphore::new(READERS) });
        Ok(Self { writer, readers, logs: Logs::new(data.join("logs")), path })
    }

    /// Runs `query` on a connection of its own, off the asynchronous threads.
    async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let error = |e: Box<dyn Error + Send + Sync>| failed("reading", &self.path, e);
        let permit = self.readers.permits.acquire().await.map_err(|e| error(e.into()))?;
        let readers = Arc::clone(&self.readers);
        let path = self.path.clone();
        let answer = spawn_blocking(move || {
            let idle = readers.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let db = match idle {
                Some(db) => db,
                None => schema::open_reader(&path)?,
            };
            let answer = query(&db)?;
            readers.idle.lock().unwrap_or_else(PoisonError::into_inner).push(db);
            Ok(answer)
        });
        let answer = answer.await.map_err(|e| error(e.into()))?;
        drop(permit);
        answer.map_err(|e: rusqlite::Error| failed("reading", &self.path, e))
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
                .query_map([], node_of_row)?
                .collect()
        }))
    }

    fn node<'a>(&'a self, name: &'a str) -> Answer<'a, Option<Node>> {
        let name = name.to_owned();
        Box::pin(self.read(move |db| {
            db.prepare_cached("SELECT state FROM node WHERE name = ?")?
                .query_row([name], node_of_row)
                .optional()
        }))
    }

    fn runs<'a>(&'a self, node: &'a str) -> Answer<'a, Vec<StoredRun>> {
        let node = node.to_owned();
        Box::pin(self.read(move |db| {
            db.prepare_cached("SELECT id, node, run FROM run WHERE node = ? ORDER BY id DESC")?
                .query_map([node], |row| stored_run(db, row))?
                .collect()
        }))
    }

    fn run<'a>(&'a self, run: &'a str) -> Answer<'a, Option<StoredRun>> {
        let run = run.to_owned();
        Box::pin(self.read(move |db| {
            db.prepare_cached("SELECT id, node, run FROM run WHERE run = ? ORDER BY id LIMIT 1")?
                .query_row([run], |row| stored_run(db, row))
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

    fn listen_anew(&self, at: Timestamp) -> Answer<'_, ()> {
        let work = move |db: &Connection| changes::listen_anew(db, at);
        Box::pin(self.writer.submit(&self.path, work))
    }

    fn standing<'a>(&'a self, node: &'a str, present: Option<&'a str>) -> Answer<'a, Standing> {
        let (node, present) = (node.to_owned(), present.map(str::to_owned));
        Box::pin(self.read(move |db| {
            let state = changes::state_of(db, &node)?;
            Ok(state.map(|state| state.standing(present.as_deref())).unwrap_or_default())
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

fn node_of_row(row: &Row<'_>) -> rusqlite::Result<Node> {
    json_column::<NodeState>(row, 0).map(|state| state.node())
}

fn stored_run(db: &Connection, row: &Row<'_>) -> rusqlite::Result<StoredRun> {
    let id: i64 = row.get(0)?;
    let reports = db
        .prepare_cached("SELECT json FROM record WHERE run_id = ? ORDER BY seq")?
        .query_map([id], |row| {
            let json: Box<RawValue> = json_column(row, 0)?;
            Report::parse(&json).map_err(|e| unreadable(0, e))
        })?
        .collect::<Result<_, _>>()?;
    Ok(StoredRun { node: row.get(1)?, run: row.get(2)?, reports })
}

fn json_column<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text).map_err(|e| unreadable(column, e))
}

fn unreadable(column: usize, error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error.into())
}

/// The error of `doing` something with the file or folder at `path`.
fn failed(doing: &str, path: &Path, source: impl Into<Box<dyn Error + Send + Sync>>) -> StoreError {
    let source = source.into();
    let hint = hint(path, source.as_ref());
    StoreError::new(format!("{doing} {}", path.display()), hint, source)
}

fn hint(path: &Path, error: &(dyn Error + Send + Sync + 'static)) -> String {
    let folder = path.parent().unwrap_or(Path::new("/")).display();
    let sqlite = error.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error);
    let io = error.downcast_ref::<io::Error>().map(io::Error::kind);
    match (sqlite.map(|e| e.extended_code & 0xff), io) {
        (Some(ffi::SQLITE_FULL), _) | (_, Some(io::ErrorKind::StorageFull)) => {
            format!("make room on the file system of {folder}")
        }
        (Some(ffi::SQLITE_BUSY), _) => {
            format!("end whatever else works on {}: fuser -v {0}", path.display())
        }
        (Some(ffi::SQLITE_CORRUPT | ffi::SQLITE_NOTADB), _) => {
            format!("stop provostd, put {} aside or restore it from a copy", path.display())
        }
        _ => format!("see that provostd's user may write to {folder}, and that its disk is sound"),
    }
}
