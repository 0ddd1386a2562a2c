//! What takes its time with the disk, on a thread of its own: meanwhile scripts run.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use provost_exec::Permit;
use tokio::sync::{oneshot, watch};

/// The thread. It ends after this.
pub(super) struct Disk {
    tasks: mpsc::Sender<Task>,
    synced: watch::Receiver<u64>,
}

enum Task {
    Sync(Sync),
    Make(PathBuf),
    TakeBack(PathBuf),
}

/// Something that waits for the disk.
struct Sync {
    /// How long the journal is with it, in bytes.
    length: u64,
    /// What is permitted when it is there.
    permit: Option<Permit>,
    /// Is told whether the disk took it.
    done: oneshot::Sender<io::Result<()>>,
}

impl Disk {
    /// For the journal `file`, of which so many bytes are surely there.
    pub(super) fn start(file: File, length: u64) -> Self {
        let (tell, synced) = watch::channel(length);
        let (tasks, waiting) = mpsc::channel();
        std::thread::spawn(move || work(&file, &waiting, &tell));
        Self { tasks, synced }
    }

    /// How much of the journal is surely there, in bytes; changes with each sync.
    pub(super) fn synced(&self) -> watch::Receiver<u64> {
        self.synced.clone()
    }

    /// Sends `length` bytes of the journal to the disk. What is returned tells when they are there;
    /// `permit` is given then.
    pub(super) fn sync(
        &self,
        length: u64,
        permit: Option<Permit>,
    ) -> oneshot::Receiver<io::Result<()>> {
        let (done, told) = oneshot::channel();
        self.send(Task::Sync(Sync { length, permit, done }));
        told
    }

    /// Makes a step's log before the step begins: that can take half as long as a short script does.
    /// One that isn't there by then, or can't be made, is made by whoever writes it.
    pub(super) fn make(&self, log: PathBuf) {
        self.send(Task::Make(log));
    }

    /// Removes the log of a step that hasn't begun.
    pub(super) fn take_back(&self, log: PathBuf) {
        self.send(Task::TakeBack(log));
    }

    fn send(&self, task: Task) {
        // The thread lives as long as this sender.
        let _ = self.tasks.send(task);
    }
}

/// One wait for the disk serves all that have come meanwhile. Once it failed, it has failed for
/// good: the kernel tells of what it lost only once.
fn work(file: &File, waiting: &mpsc::Receiver<Task>, tell: &watch::Sender<u64>) {
    let mut result = Ok(());
    while let Ok(first) = waiting.recv() {
        let all: Vec<Task> = std::iter::once(first).chain(waiting.try_iter()).collect();
        let mut lengths = all.iter().filter_map(|task| match task {
            Task::Sync(sync) => Some(sync.length),
            Task::Make(_) | Task::TakeBack(_) => None,
        });
        if let Some(length) = lengths.next_back() {
            result = result.and_then(|()| file.sync_data());
            if result.is_ok() {
                tell.send_replace(length);
            }
        }
        for task in all {
            match task {
                Task::Sync(sync) => sync.end(&result),
                Task::Make(log) => make(&log),
                Task::TakeBack(log) => take_back(&log),
            }
        }
    }
}

impl Sync {
    fn end(self, result: &io::Result<()>) {
        if let (Ok(()), Some(permit)) = (result, self.permit) {
            permit.give();
        }
        let copy = result.as_ref().map_err(same).copied();
        // Whoever asked may have stopped waiting.
        let _ = self.done.send(copy);
    }
}

fn same(e: &io::Error) -> io::Error {
    e.raw_os_error().map_or_else(|| e.kind().into(), io::Error::from_raw_os_error)
}

/// What stands there by now stays as it is, and isn't opened: it may be a pipe.
fn make(log: &Path) {
    let _ = File::options().write(true).create_new(true).open(log);
}

/// One whose keeper was lost may have begun, and printed something.
fn take_back(log: &Path) {
    if log.metadata().is_ok_and(|found| found.len() == 0) {
        let _ = std::fs::remove_file(log);
    }
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
        for told in [disk.sync(8, None), disk.sync(9, None)] {
            let why = told.blocking_recv().unwrap().unwrap_err();
            assert_eq!(why.kind(), io::ErrorKind::InvalidInput);
        }
        assert_eq!(*disk.synced().borrow(), 7);
    }
}
