//! The embedded store: one SQLite file, written by one thread and read through other connections;
//! uploaded logs are files next to it, so that ten thousand of them delay no record.

mod checkpoints;
mod error;
mod history;
mod ingest;
#[cfg(feature = "transfer")]
mod log_files;
mod logs;
mod nodes;
mod notices;
mod owners;
mod readers;
mod records;
mod reserve;
mod rows;
mod runs;
mod schema;
mod sql;
mod steps;
mod store;
#[cfg(feature = "transfer")]
pub(crate) mod transfer;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64};

use rusqlite::Connection;

use self::error::{failed, has_no_room};
use self::logs::Logs;
use self::owners::Owners;
use self::readers::Readers;
use self::reserve::Reserve;
use self::schema::SchemaError;
use self::writer::{Applied, Room, Writer};
use crate::notice::Subscriptions;
use crate::{Quotas, StoreError};

/// The store's file in the daemon's folder.
const FILE: &str = "provost.db";
/// The same while a site is copied into the folder.
const PARTIAL: &str = "provost.db.partial";

/// How many pages are given back to the file system at once, so that no report waits for it.
const BITE: u32 = 1024;

/// The embedded store.
pub struct Sqlite {
    path: PathBuf,
    // Dropped before the writer: the last connection that closes merges the write-ahead log into
    // the file, and a read-only one can't.
    readers: Readers,
    writer: Writer,
    logs: Logs,
    quotas: Quotas,
    owners: Arc<Owners>,
    subscriptions: Arc<Subscriptions>,
    /// Whether nodes that are silent have been watched for.
    watched: AtomicBool,
    /// The last run that [`PruneScope::AtNewRuns`] has looked at.
    pruned_until: AtomicI64,
}

impl Sqlite {
    /// Opens the store in the folder `data`, or makes one there: `provost.db` and `logs/`.
    pub fn open(data: &Path) -> Result<Self, StoreError> {
        Self::open_with(data, Quotas::default())
    }

    /// The same, with these quotas. A store that is there opens on a full disk too: what needs room
    /// fails until there is some.
    pub fn open_with(data: &Path, quotas: Quotas) -> Result<Self, StoreError> {
        let path = data.join(FILE);
        refuse_partial(&data.join(PARTIAL))?;
        let reserve =
            Reserve::new(data, quotas.reserve).map_err(|e| failed("opening", &path, e))?;
        let reserve = Arc::new(reserve);
        let is_new = !path.exists();
        let db = match writer::open(&path, &reserve) {
            Ok(db) => Some(db),
            Err(SchemaError::Sqlite(e)) if !is_new && has_no_room(&e) => None,
            Err(e) => {
                if is_new {
                    // It has no tables, and the next start would take it for a store.
                    let _ = std::fs::remove_file(&path);
                }
                return Err(e.in_file(&path));
            }
        };
        // Where there is no room for it, what is refused for that says why.
        let _ = reserve.fill();
        let owners = Arc::<Owners>::default();
        let writer = Writer::start(db, &path, Arc::clone(&reserve), Arc::clone(&owners))?;
        let logs = Logs::new(data.join("logs"), quotas.logs, reserve);
        Ok(Self {
            writer,
            readers: Readers::new(),
            logs,
            path,
            quotas,
            owners,
            subscriptions: Arc::default(),
            watched: AtomicBool::new(false),
            pruned_until: AtomicI64::new(0),
        })
    }

    /// Whether [`open_with`](Self::open_with) would succeed in the folder `data`; changes nothing.
    pub fn check_open(data: &Path) -> Result<(), StoreError> {
        let path = data.join(FILE);
        refuse_partial(&data.join(PARTIAL))?;
        if !path.exists() {
            return Ok(());
        }
        let hint = "let provostd's user write it";
        let writable = std::fs::OpenOptions::new().append(true).open(&path);
        writable.map_err(|e| {
            StoreError::new(format!("opening {}", path.display()), hint.to_owned(), e)
        })?;
        schema::check_file(&path).map_err(|e| e.in_file(&path))
    }

    /// Gives the free pages of the file back to the file system.
    async fn give_back(&self) -> Result<(), StoreError> {
        while self.writer.submit(&self.path, Room::Reserved, give_back).await? {}
        Ok(())
    }

    async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.readers.read(&self.path, |db| query(db)).await
    }
}

/// Gives some of the free pages back to the file system. Returns whether there are more.
fn give_back(db: &Connection) -> rusqlite::Result<Applied<bool>> {
    let free = || db.pragma_query_value(None, "freelist_count", |row| row.get::<_, u32>(0));
    let before = free()?;
    let mut pages = db.prepare_cached(&format!("PRAGMA incremental_vacuum({BITE})"))?;
    let mut freed = pages.query([])?;
    // Each step frees one.
    while freed.next()?.is_some() {}
    let left = free()?;
    // None is freed of a file that was too large to be rewritten when it was opened.
    Ok(Applied::of(0 < left && left < before))
}

/// Refuses the folder of a copy that was cut off: an empty store would know no node's token.
fn refuse_partial(partial: &Path) -> Result<(), StoreError> {
    if !partial.exists() {
        return Ok(());
    }
    let hint = format!(
        "copy the store into this folder again; or, to begin with an empty one: rm {}",
        partial.display()
    );
    let why = "it belongs to a copy that was interrupted or is still running";
    Err(StoreError::new(format!("opening {}", partial.display()), hint, why))
}
