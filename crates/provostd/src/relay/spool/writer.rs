use std::path::{Path, PathBuf};
use std::thread;

use provost_store::StoreError;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

/// How many changes can wait. Above that, those who submit one wait.
const QUEUE: usize = 1024;
/// How many share one transaction, and so one sync of the disk.
const GROUP: usize = 256;

/// A change inside a transaction, which is made again if the transaction fails.
pub(super) type Change = Box<dyn Fn(&Connection) -> rusqlite::Result<()> + Send>;

struct Job {
    change: Change,
    answer: oneshot::Sender<Result<(), StoreError>>,
}

/// The one thread that writes. What has queued up is committed at once, and each is answered when it
/// is durable.
pub(super) struct Writer {
    queue: mpsc::Sender<Job>,
    path: PathBuf,
}

impl Writer {
    pub(super) fn start(db: Connection, path: &Path) -> Result<Self, StoreError> {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let own = path.to_owned();
        thread::Builder::new()
            .name("spool-writer".into())
            .spawn(move || write(db, jobs, &own))
            .map_err(|e| failed("starting the writer of", path, e))?;
        Ok(Self { queue, path: path.to_owned() })
    }

    /// Makes a change. When this returns, it is on the disk.
    pub(super) async fn submit(&self, change: Change) -> Result<(), StoreError> {
        let gone = || failed("writing to", &self.path, "the spool's writer has ended");
        let (answer, answered) = oneshot::channel();
        self.queue.send(Job { change, answer }).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

fn write(mut db: Connection, mut jobs: mpsc::Receiver<Job>, path: &Path) {
    while let Some(first) = jobs.blocking_recv() {
        let mut group = vec![first];
        while group.len() < GROUP
            && let Ok(job) = jobs.try_recv()
        {
            group.push(job);
        }
        settle(&mut db, group, path);
    }
}

fn settle(db: &mut Connection, mut group: Vec<Job>, path: &Path) {
    let error = match commit(db, &group) {
        Ok(()) => None,
        // One that can't be written must not fail the others.
        Err(_) if group.len() > 1 => {
            return group.into_iter().for_each(|job| settle(db, vec![job], path));
        }
        Err(error) => {
            // The log may have filled the disk: what is merged makes room for the next try.
            let _ = db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
            Some(failed("writing to", path, error))
        }
    };
    if let Some(error) = error
        && let Some(job) = group.pop()
    {
        // Fails where the caller has gone away.
        let _ = job.answer.send(Err(error));
    }
    group.into_iter().for_each(|job| drop(job.answer.send(Ok(()))));
}

fn commit(db: &mut Connection, group: &[Job]) -> rusqlite::Result<()> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    group.iter().try_for_each(|job| (job.change)(&transaction))?;
    transaction.commit()
}

/// The error of `doing` something with the file at `path`.
pub(super) fn failed(
    doing: &str,
    path: &Path,
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> StoreError {
    let folder = path.parent().unwrap_or(Path::new("/")).display();
    let hint = format!(
        "make room on the file system of {folder} (df {folder}), and check that the relay's user may \
         write there"
    );
    StoreError::new(format!("{doing} {}", path.display()), hint, source)
}
