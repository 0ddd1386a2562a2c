//! What nodes have reported and no upstream has yet, on the relay's disk; with it what it takes to go
//! on without an upstream: the tokens that it knew, and nodes' plans. One SQLite file, mode 0600.

mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use provost_store::StoreError;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;
use tokio::task::spawn_blocking;

use writer::{Writer, failed};

const FILE: &str = "relay.db";
/// A format that is newer than this one is refused.
const VERSION: u32 = 1;
/// How many entries are read at once, at most, …
const MOST_ENTRIES: u32 = 200;
/// … and how many bytes of them, about.
const MOST_BYTES: usize = 256 * 1024;

/// A report, as it came.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    pub(super) id: i64,
    pub(super) node: String,
    pub(super) run: String,
    /// The name of an uploaded log; none for records.
    pub(super) log: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) encoding: Option<String>,
    /// How many records.
    pub(super) records: u32,
    pub(super) body: Vec<u8>,
    /// When it came, by this machine's clock; none if it isn't spooled.
    pub(super) came: Option<Timestamp>,
}

/// What is known of a node.
#[derive(Clone)]
pub(super) struct KnownNode {
    /// The value of `Authorization` that an upstream has accepted last.
    pub(super) token: String,
    /// What the node was told last: a JSON object with `directive`, and `reason`.
    pub(super) directive: String,
}

/// A plan, or its signature.
pub(super) struct KeptPlan {
    pub(super) token: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// How much is spooled.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Spooled {
    pub(super) nodes: i64,
    pub(super) records: i64,
    pub(super) logs: i64,
    pub(super) bytes: i64,
    /// When the oldest of it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) oldest: Option<Timestamp>,
    /// Records and logs that the management node will never take.
    pub(super) refused: i64,
}

/// The spool.
pub(super) struct Spool {
    path: PathBuf,
    writer: Writer,
    reader: Arc<Mutex<Connection>>,
}

impl Spool {
    /// Opens the one in the folder `data`, or makes one there.
    pub(super) fn open(data: &Path) -> Result<Self, StoreError> {
        let path = data.join(FILE);
        let open = || {
            let db = Connection::open(&path)?;
            db.execute_batch(
                "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL",
            )?;
            let version: u32 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
            if version == 0 {
                let start = include_str!("start.sql");
                db.execute_batch(&format!(
                    "BEGIN; {start} PRAGMA user_version = {VERSION}; COMMIT"
                ))?;
            }
            Ok((db, Connection::open(&path)?, version))
        };
        let opened = open().map_err(|e: rusqlite::Error| failed("opening", &path, e))?;
        let (db, reader, version) = opened;
        if version > VERSION {
            let why = format!("it has version {version}, and this build knows version {VERSION}");
            return Err(failed("opening", &path, why));
        }
        let writer = Writer::start(db, &path)?;
        Ok(Self { writer, reader: Arc::new(Mutex::new(reader)), path })
    }

    /// Adds a report. When this returns, it is on the disk.
    pub(super) async fn append(&self, entry: Entry) -> Result<(), StoreError> {
        let at = Timestamp::now().as_second();
        let change = move |db: &Connection| {
            let Entry { node, run, log, agent, encoding, records, body, .. } = &entry;
            db.prepare_cached(
                "INSERT INTO entry (node, run, log, agent, encoding, records, at, body)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            )?
            .execute(params![node, run, log, agent, encoding, records, at, body])
            .map(drop)
        };
        self.writer.submit(Box::new(change)).await
    }

    /// The oldest reports of `node`, or none.
    pub(super) async fn next(&self, node: &str) -> Result<Vec<Entry>, StoreError> {
        let node = node.to_owned();
        self.read(move |db| {
            let mut query = db.prepare_cached(
                "SELECT id, node, run, log, agent, encoding, records, body, at FROM entry
                 WHERE node = ? AND refused IS NULL ORDER BY id LIMIT ?",
            )?;
            let mut bytes = 0;
            let mut entries = Vec::new();
            for entry in query.query_map(params![node, MOST_ENTRIES], entry)? {
                let entry = entry?;
                bytes += entry.body.len();
                if bytes > MOST_BYTES && !entries.is_empty() {
                    break;
                }
                entries.push(entry);
            }
            Ok(entries)
        })
        .await
    }

    /// The newest records of `node`, in their order: of each report its body.
    pub(super) async fn newest(&self, node: &str) -> Result<Vec<Vec<u8>>, StoreError> {
        let node = node.to_owned();
        self.read(move |db| {
            let mut query = db.prepare_cached(
                "SELECT body FROM entry WHERE node = ? AND refused IS NULL AND log IS NULL
                 ORDER BY id DESC LIMIT ?",
            )?;
            let (mut bytes, mut bodies) = (0, Vec::new());
            for body in query.query_map(params![node, MOST_ENTRIES], |row| row.get(0))? {
                let body: Vec<u8> = body?;
                bytes += body.len();
                bodies.push(body);
                if bytes > MOST_BYTES {
                    break;
                }
            }
            bodies.reverse();
            Ok(bodies)
        })
        .await
    }

    /// Removes the entries with these `ids`; of what the management node refuses, the bodies with the
    /// reason stay.
    pub(super) async fn settle(
        &self,
        of: &Entry,
        ids: Vec<i64>,
        refused: Vec<(Vec<u8>, String)>,
    ) -> Result<(), StoreError> {
        let Entry { node, run, log, .. } = of;
        let (node, run, log) = (node.clone(), run.clone(), log.clone());
        let at = Timestamp::now().as_second();
        let change = move |db: &Connection| {
            let mut remove = db.prepare_cached("DELETE FROM entry WHERE id = ?")?;
            for id in &ids {
                remove.execute([id])?;
            }
            for (body, why) in &refused {
                db.execute(
                    "INSERT INTO entry (node, run, log, records, at, body, refused)
                     VALUES (?, ?, ?, 1, ?, ?, ?)",
                    params![node, run, log, at, body, why],
                )?;
            }
            db.execute_batch("PRAGMA incremental_vacuum(64)")
        };
        self.writer.submit(Box::new(change)).await
    }

    /// Removes what was refused before `time`.
    pub(super) async fn forget_refused(&self, time: Timestamp) -> Result<(), StoreError> {
        let time = time.as_second();
        let change = move |db: &Connection| {
            let forget = "DELETE FROM entry WHERE refused IS NOT NULL AND at < ?";
            db.execute(forget, [time]).map(drop)
        };
        self.writer.submit(Box::new(change)).await
    }

    /// Remembers what is known of `node`.
    pub(super) async fn remember(&self, node: &str, known: KnownNode) -> Result<(), StoreError> {
        let node = node.to_owned();
        let change = move |db: &Connection| {
            let KnownNode { token, directive } = &known;
            db.prepare_cached("REPLACE INTO known (node, token, directive) VALUES (?, ?, ?)")?
                .execute(params![node, token, directive])
                .map(drop)
        };
        self.writer.submit(Box::new(change)).await
    }

    /// Keeps what was answered to a request for `path`.
    pub(super) async fn keep_plan(&self, path: &str, plan: KeptPlan) -> Result<(), StoreError> {
        let path = path.to_owned();
        let headers = serde_json::to_string(&plan.headers).unwrap_or_default();
        let change = move |db: &Connection| {
            let KeptPlan { token, body, .. } = &plan;
            db.prepare_cached("REPLACE INTO plan (path, token, headers, body) VALUES (?, ?, ?, ?)")?
                .execute(params![path, token, headers, body])
                .map(drop)
        };
        self.writer.submit(Box::new(change)).await
    }

    /// What was kept of it.
    pub(super) async fn plan(&self, path: &str) -> Result<Option<KeptPlan>, StoreError> {
        let path = path.to_owned();
        self.read(move |db| {
            let kept = |row: &Row<'_>| {
                let headers: String = row.get(1)?;
                let headers = serde_json::from_str(&headers).unwrap_or_default();
                Ok(KeptPlan { token: row.get(0)?, headers, body: row.get(2)? })
            };
            let query = "SELECT token, headers, body FROM plan WHERE path = ?";
            db.prepare_cached(query)?.query_row([path], kept).optional()
        })
        .await
    }

    /// All nodes that are known.
    pub(super) async fn known(&self) -> Result<Vec<(String, KnownNode)>, StoreError> {
        self.read(|db| {
            let known = |row: &Row<'_>| {
                Ok((row.get(0)?, KnownNode { token: row.get(1)?, directive: row.get(2)? }))
            };
            db.prepare("SELECT node, token, directive FROM known")?.query_map([], known)?.collect()
        })
        .await
    }

    /// The nodes of which there are reports, and the bytes of each.
    pub(super) async fn nodes(&self) -> Result<Vec<(String, u64)>, StoreError> {
        self.read(|db| {
            db.prepare(
                "SELECT node, sum(length(body)) FROM entry WHERE refused IS NULL GROUP BY node",
            )?
            .query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)))?
            .collect()
        })
        .await
    }

    /// How much there is.
    pub(super) async fn spooled(&self) -> Result<Spooled, StoreError> {
        self.read(|db| {
            let counts = |row: &Row<'_>| {
                let oldest: Option<i64> = row.get(4)?;
                let oldest = oldest.and_then(|at| Timestamp::from_second(at).ok());
                Ok(Spooled {
                    nodes: row.get(0)?,
                    records: row.get(1)?,
                    logs: row.get(2)?,
                    bytes: row.get(3)?,
                    oldest,
                    refused: row.get(5)?,
                })
            };
            db.query_row(
                "SELECT count(DISTINCT node), coalesce(sum(records), 0), count(log),
                     coalesce(sum(length(body)), 0), min(at),
                     (SELECT count(*) FROM entry WHERE refused IS NOT NULL)
                 FROM entry WHERE refused IS NULL",
                [],
                counts,
            )
        })
        .await
    }

    async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let reader = Arc::clone(&self.reader);
        let read =
            spawn_blocking(move || query(&reader.lock().unwrap_or_else(PoisonError::into_inner)));
        let read = read.await.map_err(|e| failed("reading", &self.path, e))?;
        read.map_err(|e| failed("reading", &self.path, e))
    }
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        id: row.get(0)?,
        node: row.get(1)?,
        run: row.get(2)?,
        log: row.get(3)?,
        agent: row.get(4)?,
        encoding: row.get(5)?,
        records: row.get(6)?,
        body: row.get(7)?,
        came: Timestamp::from_second(row.get(8)?).ok(),
    })
}
