//! Syncs of the journal, on a thread of their own: no script waits for the disk.

use std::fs::File;
use std::io;
use std::sync::mpsc;

use tokio::sync::{oneshot, watch};

/// The handle of the thread, which ends when this is dropped.
pub(crate) struct Disk {
    syncs: mpsc::Sender<Sync>,
    synced: watch::Receiver<u64>,
}

/// A request to sync.
struct Sync {
    /// The journal's length, in bytes.
    length: u64,
    /// Gets the result.
    done: oneshot::Sender<io::Result<()>>,
}

impl Disk {
    /// For the journal `file`, of which `length` bytes are synced.
    ///
    /// # Errors
    ///
    /// When the kernel has no room for a thread.
    pub(crate) fn start(file: File, length: u64) -> io::Result<Self> {
        let (tell, synced) = watch::channel(length);
        let (syncs, waiting) = mpsc::channel();
        std::thread::Builder::new().spawn(move || work(&file, &waiting, &tell))?;
        Ok(Self { syncs, synced })
    }

    /// How much of the journal is synced, in bytes; changes with each sync.
    pub(crate) fn synced(&self) -> watch::Receiver<u64> {
        self.synced.clone()
    }

    /// Syncs the first `length` bytes of the journal. The receiver gets the result.
    pub(crate) fn sync(&self, length: u64) -> oneshot::Receiver<io::Result<()>> {
        let (done, receiver) = oneshot::channel();
        // The thread lives as long as this sender.
        let _ = self.syncs.send(Sync { length, done });
        receiver
    }
}

/// One sync serves all requests that have come meanwhile. After one failed, all fail: the kernel
/// reports lost data only once (fsync(2)).
fn work(file: &File, waiting: &mpsc::Receiver<Sync>, tell: &watch::Sender<u64>) {
    let mut result = Ok(());
    while let Ok(first) = waiting.recv() {
        let all: Vec<Sync> = std::iter::once(first).chain(waiting.try_iter()).collect();
        result = result.and_then(|()| file.sync_data());
        if let (Ok(()), Some(last)) = (&result, all.last()) {
            tell.send_replace(last.length);
        }
        for sync in all {
            let copy = result.as_ref().map_err(same).copied();
            // The caller may have stopped waiting.
            let _ = sync.done.send(copy);
        }
    }
}

fn same(e: &io::Error) -> io::Error {
    e.raw_os_error().map_or_else(|| e.kind().into(), io::Error::from_raw_os_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_synced_is_never_reported_as_synced() {
        // A socket can't be synced.
        let (file, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let file = File::from(std::os::fd::OwnedFd::from(file));
        let disk = Disk::start(file, 7).unwrap();
        for result in [disk.sync(8), disk.sync(9)] {
            let why = result.blocking_recv().unwrap().unwrap_err();
            assert_eq!(why.kind(), io::ErrorKind::InvalidInput);
        }
        assert_eq!(*disk.synced().borrow(), 7);
    }
}
