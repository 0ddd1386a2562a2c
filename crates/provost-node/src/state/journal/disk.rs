//! What takes its time with the disk, on a thread of its own: meanwhile scripts run.

use std::fs::File;
use std::io;
use std::sync::mpsc;

use tokio::sync::{oneshot, watch};

/// The thread. It ends after this.
pub struct Disk {
    syncs: mpsc::Sender<Sync>,
    synced: watch::Receiver<u64>,
}

/// Something that waits for the disk.
struct Sync {
    /// How long the journal is with it, in bytes.
    length: u64,
    /// Gets whether the disk took it.
    done: oneshot::Sender<io::Result<()>>,
}

impl Disk {
    /// For the journal `file`, of which so many bytes are surely there.
    pub fn start(file: File, length: u64) -> Self {
        let (tell, synced) = watch::channel(length);
        let (syncs, waiting) = mpsc::channel();
        std::thread::spawn(move || work(&file, &waiting, &tell));
        Self { syncs, synced }
    }

    /// How much of the journal is surely there, in bytes; changes with each sync.
    pub fn synced(&self) -> watch::Receiver<u64> {
        self.synced.clone()
    }

    /// Sends `length` bytes of the journal to the disk. The receiver gets word when they are there.
    pub fn sync(&self, length: u64) -> oneshot::Receiver<io::Result<()>> {
        let (done, receiver) = oneshot::channel();
        // The thread lives as long as this sender.
        let _ = self.syncs.send(Sync { length, done });
        receiver
    }
}

/// One wait for the disk serves all that have come meanwhile. Once it failed, it has failed for
/// good: the kernel tells of what it lost only once.
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
            // The receiver may have stopped waiting.
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
    fn what_the_disk_did_not_take_is_never_said_to_be_there() {
        // What can't be synced.
        let (file, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let file = File::from(std::os::fd::OwnedFd::from(file));
        let disk = Disk::start(file, 7);
        for told in [disk.sync(8), disk.sync(9)] {
            let why = told.blocking_recv().unwrap().unwrap_err();
            assert_eq!(why.kind(), io::ErrorKind::InvalidInput);
        }
        assert_eq!(*disk.synced().borrow(), 7);
    }
}
