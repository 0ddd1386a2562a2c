//! Until when what is published may be used, by what it says itself and by what this daemon says of it.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use provost_api::published::{MANIFEST, MANIFESTS, PLANS};
use provost_publish::{PublishError, Served, served};
use provost_steplog::wording::error_chain;
use tokio::task::spawn_blocking;

use super::PublishedFolder;
use super::refresher::Refresher;

/// Looks at the published folder again when it has changed: of each plan the first lines are read.
#[derive(Clone)]
pub(crate) struct PublishedExpiry {
    www: PublishedFolder,
    refresher: Arc<Refresher>,
    last: Arc<Mutex<Option<Seen>>>,
}

/// What nodes get.
pub(crate) struct PublicationExpiry {
    /// None is all nodes'.
    pub(crate) channel: Option<String>,
    pub(crate) expires: Timestamp,
    /// Whether half of its time is over, and nothing says that it counts for longer.
    pub(crate) soon: bool,
    /// Whether this daemon refreshes it.
    pub(crate) is_refreshed: bool,
}

/// What changes with each publication: inodes and times.
type State = Vec<Option<(u64, i64, i64)>>;

/// What was there when it was looked at last.
struct Seen {
    state: State,
    served: Vec<Served>,
}

impl PublishedExpiry {
    pub(crate) fn new(www: PublishedFolder, refresher: Arc<Refresher>) -> Self {
        Self { www, refresher, last: Arc::default() }
    }

    /// The public key by which this daemon refreshes it.
    pub(crate) fn key(&self) -> Option<&str> {
        self.refresher.key()
    }

    /// What is published for all nodes, then for channels; nothing where that can't be read, which is logged.
    pub(crate) async fn list(&self) -> Vec<PublicationExpiry> {
        let (www, last) = (self.www.clone(), self.last.clone());
        let read = spawn_blocking(move || read(&www, &last)).await.map_err(io::Error::other);
        match read {
            Ok(Ok(served)) => served.into_iter().map(|one| self.publication(one)).collect(),
            Ok(Err(e)) => {
                tracing::warn!(hint = e.hint(), "seeing when it expires: {}", error_chain(&e));
                Vec::new()
            }
            Err(_) => Vec::new(),
        }
    }

    fn publication(&self, served: Served) -> PublicationExpiry {
        let now = Timestamp::now();
        let key = served.refresh_key.as_deref().filter(|key| self.refresher.key() == Some(*key));
        let refreshed = key.map(|_| self.refresher.until(now));
        PublicationExpiry {
            soon: refreshed.is_none() && served.is_due(now),
            is_refreshed: refreshed.is_some(),
            expires: refreshed.unwrap_or(served.validity.expires).max(served.validity.expires),
            channel: served.channel,
        }
    }
}

fn read(www: &Path, last: &Mutex<Option<Seen>>) -> Result<Vec<Served>, PublishError> {
    // Before it is read: what changes meanwhile is read again.
    let state = [MANIFEST, MANIFESTS, PLANS].map(|path| {
        let file = fs::metadata(www.join(path)).ok()?;
        Some((file.ino(), file.mtime(), file.mtime_nsec()))
    });
    let state = state.to_vec();
    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(seen) = last.as_ref().filter(|seen| seen.state == state) {
        return Ok(seen.served.clone());
    }
    let served = served(www)?;
    *last = Some(Seen { state, served: served.clone() });
    Ok(served)
}
