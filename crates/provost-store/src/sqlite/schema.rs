use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::error::failed;
use crate::StoreError;

/// The migrations from version N to version N + 1. Never change one that was released; add one.
const STEPS: &[&str] = &[
    include_str!("001_start.sql"),
    include_str!("002_due.sql"),
    include_str!("003_record_ids.sql"),
    include_str!("004_prune.sql"),
    include_str!("005_old_token.sql"),
    include_str!("006_admins.sql"),
    include_str!("007_step.sql"),
    include_str!("008_enrolment.sql"),
    include_str!("009_notice.sql"),
    include_str!("010_storm.sql"),
    include_str!("011_packed.sql"),
];

/// What a new file is made with, and an older one is rewritten with. Most changes are of a few
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
    #[error("it has version {found}, and this build knows versions up to {known}")]
    Newer { found: u32, known: u32 },
}

/// Refuses a file of another version than the present one.
#[cfg(feature = "transfer")]
pub(super) fn check_present(
    db: &Connection,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let found: u32 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let known = STEPS.len() as u32;
    match found {
        found if found > known => Err(SchemaError::Newer { found, known }.into()),
        found if found < known => {
            let why = format!(
                "it has version {found}, and this program reads version {known}: start the \
                               provostd of this program's version once, which changes it"
            );
            Err(why.into())
        }
        _ => Ok(()),
    }
}

impl SchemaError {
    /// As the store's error of opening the file at `path`.
    pub(super) fn in_file(self, path: &Path) -> StoreError {
        match self {
            Self::Sqlite(e) => failed("opening", path, e),
            newer @ Self::Newer { .. } => StoreError::new(
                format!("opening {}", path.display()),
                "start the provostd that wrote this file, or a newer one",
                newer,
            ),
        }
    }
}

/// The connection that writes. Brings the file to the present version.
pub(super) fn open_writer(path: &Path) -> Result<Connection, SchemaError> {
    let mut db = Connection::open(path)?;
    db.busy_timeout(BUSY)?;
    let known = STEPS.len() as u32;
    let found: u32 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found > known {
        return Err(SchemaError::Newer { found, known });
    }
    if found == 0 {
        // Has an effect on an empty file only.
        db.execute_batch(PAGES)?;
    }
    // FULL: a commit survives a power cut.
    db.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -{CACHE};"
    ))?;
    for (version, step) in (1..=known).zip(STEPS).skip(found as usize) {
        let change = db.transaction()?;
        change.execute_batch(step)?;
        change.pragma_update(None, "user_version", version)?;
        change.commit()?;
    }
    let vacuum: u32 = db.pragma_query_value(None, "auto_vacuum", |row| row.get(0))?;
    if vacuum == 0 {
        // Fails where there is no room for a copy; then the next start tries again.
        let _ = db.execute_batch(&format!("PRAGMA journal_mode = DELETE; {PAGES} VACUUM;"));
        db.execute_batch("PRAGMA journal_mode = WAL;")?;
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
