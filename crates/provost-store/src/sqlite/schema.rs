use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::error::failed;
use crate::StoreError;
use crate::answer::{Newer, Unreleased};

/// The tables of a new file.
const TABLES: &str = include_str!("schema.sql");
/// Their version. Files of the versions before it are of the time before the first release.
const VERSION: u32 = 17;

/// What a new file is made with. Most changes are of a few
/// hundred bytes at many places, and each costs a page in the write-ahead log: so pages are small.
/// What is removed gives its pages back to the file system.
const PAGES: &str = "PRAGMA page_size = 1024; PRAGMA auto_vacuum = INCREMENTAL;";
/// How much of the file the writer keeps in memory, in KiB.
const CACHE: u32 = 8 * 1024;

/// How long a connection waits for a lock that another program holds.
const BUSY: Duration = Duration::from_secs(5);

/// Why the file can't be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum SchemaError {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Newer(Newer),
    #[error("it has version {0}, of an unreleased Provost")]
    Unreleased(u32),
}

/// The version of the file: none of a new one.
fn version(db: &Connection) -> Result<Option<u32>, SchemaError> {
    match db.pragma_query_value(None, "user_version", |row| row.get(0))? {
        0 => Ok(None),
        found @ ..VERSION => Err(SchemaError::Unreleased(found)),
        VERSION => Ok(Some(VERSION)),
        found => Err(SchemaError::Newer(Newer { found, known: VERSION })),
    }
}

/// Refuses a file of another version than the present one.
#[cfg(feature = "transfer")]
pub(super) fn check_present(
    db: &Connection,
    path: &Path,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    version(db).map(drop).map_err(|e| e.in_file(path).into())
}

/// Refuses a file of another version than the present one; changes nothing.
pub(super) fn check_file(path: &Path) -> Result<(), SchemaError> {
    // Without its lock and its write-ahead log, which would be another user's then.
    version(&open_immutable(path)?).map(drop)
}

impl SchemaError {
    /// As the store's error of opening the file at `path`.
    pub(super) fn in_file(self, path: &Path) -> StoreError {
        match self {
            Self::Sqlite(e) => failed("opening", path, e),
            Self::Unreleased(_) => StoreError::new(
                format!("opening {}", path.display()),
                Unreleased::HINT,
                Unreleased(path.parent().unwrap_or(path).display().to_string()),
            ),
            Self::Newer(newer) => {
                StoreError::new(format!("opening {}", path.display()), Newer::HINT, newer)
            }
        }
    }
}

/// The connection that writes. Makes the tables of a new file.
pub(super) fn open_writer(path: &Path) -> Result<Connection, SchemaError> {
    let mut db = Connection::open(path)?;
    db.busy_timeout(BUSY)?;
    let is_new = version(&db)?.is_none();
    if is_new {
        // Has an effect on an empty file only.
        db.execute_batch(PAGES)?;
    }
    // FULL: a commit survives a power cut.
    db.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -{CACHE};"
    ))?;
    if is_new {
        let change = db.transaction()?;
        change.execute_batch(TABLES)?;
        change.pragma_update(None, "user_version", VERSION)?;
        change.commit()?;
    }
    Ok(db)
}

/// A connection that reads.
pub(super) fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(BUSY)?;
    Ok(db)
}

/// A connection that reads where there is no room for the index of the write-ahead log. It sees the
/// file as it is now, so it must not be kept.
pub(super) fn open_immutable(path: &Path) -> rusqlite::Result<Connection> {
    let escaped =
        path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags)
}
