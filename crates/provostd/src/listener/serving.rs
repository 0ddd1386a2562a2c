use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;

/// How long running requests may take after SIGTERM.
const LAST_REQUESTS: Duration = Duration::from_secs(3);

/// What a daemon has while it serves.
pub(crate) struct Serving {
    /// What is removed at the end: the sockets, and the file with the addresses.
    pub(crate) files: [PathBuf; 3],
    /// The listeners, and whatever else goes on.
    pub(crate) tasks: JoinSet<()>,
    pub(crate) stop: watch::Sender<bool>,
    /// That of its folder. Dropped last.
    pub(crate) _lock: File,
}

impl Serving {
    /// Ends in order: accepts nothing new, answers running requests for a while, and closes the
    /// connections of the others.
    pub(crate) async fn stop(mut self) {
        for file in &self.files {
            // The next daemon replaces one that stays.
            let _ = std::fs::remove_file(file);
        }
        // Fails only if no listener is left.
        let _ = self.stop.send(true);
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(LAST_REQUESTS, ended).await.is_err() {
            tracing::warn!("some requests took longer than {LAST_REQUESTS:?} and were cut off");
        }
    }
}
