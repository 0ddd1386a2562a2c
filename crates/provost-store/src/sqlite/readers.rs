use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::error::failed;
use super::schema;
use crate::StoreError;

/// How many connections read at once.
const READERS: usize = 4;

/// The connections that read.
pub(super) struct Readers {
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Semaphore,
}

impl Readers {
    pub(super) fn new() -> Self {
        Self { idle: Arc::default(), permits: Semaphore::new(READERS) }
    }

    /// Runs `query` on a connection of its own, off the asynchronous threads.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        path: &Path,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let permit = self.permits.acquire().await.map_err(|e| failed("reading", path, e))?;
        let (idle, file) = (Arc::clone(&self.idle), path.to_owned());
        let answer = spawn_blocking(move || {
            let free = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let db = match free {
                Some(db) => db,
                None => schema::open_reader(&file)?,
            };
            let answer = query(&db)?;
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(db);
            Ok(answer)
        });
        let answer = answer.await.map_err(|e| failed("reading", path, e))?;
        drop(permit);
        answer.map_err(|e: rusqlite::Error| failed("reading", path, e))
    }
}
