use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::error::{failed, has_no_room};
use super::schema;
use crate::StoreError;

/// How long a check of all pages counts for each millisecond that it took, so that checks use a
/// hundredth of the time at most.
const CHECK_PAUSE: Duration = Duration::from_millis(100);
/// How many connections read at once.
const READERS: usize = 4;

/// The connections that read.
pub(super) struct Readers {
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Semaphore,
    checked: Arc<Mutex<Option<Checked>>>,
}

/// The result of the last check.
struct Checked {
    result: Result<(), String>,
    /// Until when it counts.
    until: Instant,
}

impl Readers {
    pub(super) fn new() -> Self {
        Self { idle: Arc::default(), permits: Semaphore::new(READERS), checked: Arc::default() }
    }

    /// Runs `query` on a connection of its own, off the asynchronous threads.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        path: &Path,
        query: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let permit = self.permits.acquire().await.map_err(|e| failed("reading", path, e))?;
        let (idle, file) = (Arc::clone(&self.idle), path.to_owned());
        let answer = spawn_blocking(move || {
            let free = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let (mut db, lasts) = match free {
                Some(db) => (db, true),
                None => open(&file)?,
            };
            let answer = query(&mut db)?;
            if lasts {
                idle.lock().unwrap_or_else(PoisonError::into_inner).push(db);
            }
            Ok(answer)
        });
        let answer = answer.await.map_err(|e| failed("reading", path, e))?;
        drop(permit);
        answer.map_err(|e: rusqlite::Error| failed("reading", path, e))
    }

    /// Checks that all pages of the file are whole, if the last check was long enough ago.
    pub(super) async fn check(&self, path: &Path) -> Result<(), StoreError> {
        let (last, file) = (Arc::clone(&self.checked), path.to_owned());
        let checked = spawn_blocking(move || {
            // Requests at the same time share one check.
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(last) = last.as_ref().filter(|last| Instant::now() < last.until) {
                return last.result.clone();
            }
            let begun = Instant::now();
            let result = quick_check(&file);
            let pause = CHECK_PAUSE * begun.elapsed().as_millis() as u32;
            *last = Some(Checked { result: result.clone(), until: Instant::now() + pause });
            result
        });
        let checked = checked.await.map_err(|e| failed("checking", path, e))?;
        checked.map_err(|damage| {
            let hint = format!(
                "stop provostd, then move {} aside or restore it from a backup",
                path.display()
            );
            StoreError::new(format!("checking {}", path.display()), hint, damage)
        })
    }
}

/// A connection to the file, and whether it can be kept for other queries.
fn open(file: &Path) -> rusqlite::Result<(Connection, bool)> {
    let db = schema::open_reader(file)?;
    match db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())) {
        Err(e) if has_no_room(&e) => Ok((schema::open_immutable(file)?, false)),
        // Another error is the query's too.
        _ => Ok((db, true)),
    }
}

/// By a connection of its own: the others have pages in their caches. The first damage that is
/// found is the error.
fn quick_check(file: &Path) -> Result<(), String> {
    let found = open(file).and_then(|(db, _)| {
        db.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
    });
    match found {
        Ok(found) if found == "ok" => Ok(()),
        Ok(damage) => Err(damage),
        Err(e) => Err(e.to_string()),
    }
}
