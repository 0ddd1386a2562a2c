//! The files that a relay caches.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::HeaderValue;
use tokio::time::Instant;

/// For how long a file stays that nobody asks for.
const UNUSED: Duration = Duration::from_secs(30 * 24 * 3600);
/// A relay's cache.
pub(super) struct Cache {
    pub(super) folder: PathBuf,
    /// What is known of each file that is asked for. Who has it locked asks an upstream.
    files: Mutex<HashMap<String, Arc<tokio::sync::Mutex<FileState>>>>,
    newest: Mutex<Newest>,
}

/// The newest bundle that an upstream has named.
#[derive(Default)]
struct Newest {
    generation: u64,
    /// What was asked for before is older.
    since: Option<Instant>,
}

/// What is known of a file that may change.
#[derive(Default)]
pub(super) struct FileState {
    /// When an upstream has said that it is the present one.
    pub(super) checked: Option<Instant>,
    pub(super) tag: Option<HeaderValue>,
}

impl Cache {
    /// The one in the relay's folder `data`.
    pub(super) fn new(data: &Path) -> Self {
        Self { folder: data.join("cache"), files: Mutex::default(), newest: Mutex::default() }
    }

    /// Notes that an upstream has named the bundle of this generation.
    pub(super) fn name(&self, generation: u64) {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        if generation > newest.generation {
            *newest = Newest { generation, since: Some(Instant::now()) };
        }
    }

    /// Whether no newer bundle has been named since then.
    pub(super) fn is_newest(&self, checked: Instant) -> bool {
        let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        newest.since.is_none_or(|since| checked >= since)
    }

    /// What is known of the file at `path`.
    pub(super) fn state(&self, path: &str) -> Arc<tokio::sync::Mutex<FileState>> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if files.len() % 1024 == 1023 {
            // Strangers may have asked for thousands that don't exist.
            files.retain(|path, file| {
                Arc::strong_count(file) > 1 || self.folder.join(path).exists()
            });
        }
        Arc::clone(files.entry(path.to_owned()).or_default())
    }

    /// Removes what nobody has asked for. Returns how much that was, in bytes.
    pub(super) fn clean(&self) -> u64 {
        let is_old = |file: &std::fs::Metadata| {
            file.modified().is_ok_and(|at| at.elapsed().unwrap_or_default() > UNUSED)
        };
        let (mut folders, mut removed) = (vec![self.folder.clone()], 0);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let Ok(metadata) = entry.metadata() else { continue };
                if metadata.is_dir() {
                    folders.push(entry.path());
                } else if is_old(&metadata) && std::fs::remove_file(entry.path()).is_ok() {
                    removed += metadata.len();
                }
            }
        }
        removed
    }
}
