use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use tokio::net::unix::pipe;

use super::own_stages;

/// Notices when a step records something of its own stages, by inotify(7). To close it takes some
/// milliseconds.
pub(crate) struct OwnStagesWatch {
    /// Events are read as from a pipe. None where the kernel has no room for another queue: then
    /// nothing is noticed.
    queue: Option<pipe::Receiver>,
    records: PathBuf,
}

impl OwnStagesWatch {
    /// Of the step whose log is `log`, in a folder that is there.
    pub(crate) fn new(log: &Path) -> Self {
        let records = own_stages::file(log);
        let queue = || {
            let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
            let made = WatchFlags::CREATE | WatchFlags::MOVED_TO;
            inotify::add_watch(&queue, records.parent()?, made).ok()?;
            watch_file(&queue, &records);
            pipe::Receiver::from_owned_fd_unchecked(queue).ok()
        };
        Self { queue: queue(), records }
    }

    /// Waits until there may be other records than when this was made, or last returned.
    pub(crate) async fn changed(&self) {
        let never = std::future::pending::<()>();
        let Some(queue) = &self.queue else { return never.await };
        if queue.readable().await.is_err() {
            return never.await;
        }
        let mut events = [0; 4096];
        while queue.try_read(&mut events).is_ok_and(|n| n > 0) {}
        watch_file(queue, &self.records);
    }
}

/// Watches the file of records, if the step has made it.
fn watch_file(queue: impl AsFd, records: &Path) {
    let _ = inotify::add_watch(queue, records, WatchFlags::MODIFY);
}
