use std::path::Path;
use std::thread::{self, JoinHandle};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{broadcast, mpsc, oneshot};

use super::error::failed;
use super::schema;
use crate::{EVENT_BACKLOG, Event, StoreError};

/// How many jobs can wait for the writer. Above that, those who submit one wait.
const QUEUE: usize = 1024;
/// How many jobs share one transaction, and so one sync of the disk.
const GROUP: usize = 256;

/// The one thread that writes. It commits all jobs that have queued up in one transaction, and
/// answers each only when that is durable.
pub(super) struct Writer {
    queue: Option<mpsc::Sender<Box<dyn Job>>>,
    events: Events,
    thread: Option<JoinHandle<()>>,
}

/// The subscribers to what is stored.
pub(super) type Events = broadcast::Sender<Event>;

/// The result of one job, before the commit.
#[derive(Default)]
pub(super) struct Applied<T> {
    pub(super) answer: T,
    pub(super) events: Vec<Event>,
}

/// One write, and the caller that waits for its answer.
trait Job: Send {
    /// Does the write inside a transaction. If that fails as a whole, it is called again in
    /// another one.
    fn apply(&mut self, db: &Connection) -> rusqlite::Result<()>;
    /// Answers when the write is durable, or has failed.
    fn answer(self: Box<Self>, events: &Events, error: Option<StoreError>);
}

struct PendingJob<F, T> {
    work: F,
    applied: Option<Applied<T>>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<F, T> Job for PendingJob<F, T>
where
    F: Fn(&Connection) -> rusqlite::Result<Applied<T>> + Send,
    T: Send,
{
    fn apply(&mut self, db: &Connection) -> rusqlite::Result<()> {
        self.applied = Some((self.work)(db)?);
        Ok(())
    }

    fn answer(self: Box<Self>, events: &Events, error: Option<StoreError>) {
        let answer = match (error, self.applied) {
            (None, Some(applied)) => {
                for event in applied.events {
                    // Fails where nobody has subscribed.
                    let _ = events.send(event);
                }
                Ok(applied.answer)
            }
            (Some(error), _) => Err(error),
            // Can't happen: all that was committed was applied.
            (None, None) => return,
        };
        // Fails where the caller has gone away; the write is stored all the same.
        let _ = self.answer.send(answer);
    }
}

impl Writer {
    /// Starts it with `db`; without one, it opens the file as soon as there is room.
    pub(super) fn start(db: Option<Connection>, path: &Path) -> Result<Self, StoreError> {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let (events, _) = broadcast::channel(EVENT_BACKLOG);
        let publish = events.clone();
        let file = path.to_owned();
        let thread = thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || write(db, &file, jobs, &publish))
            .map_err(|e| failed("starting the writer of", path, e))?;
        Ok(Self { queue: Some(queue), events, thread: Some(thread) })
    }

    pub(super) fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    pub(super) async fn submit<T: Send + 'static>(
        &self,
        path: &Path,
        work: impl Fn(&Connection) -> rusqlite::Result<Applied<T>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let gone = || failed("writing to", path, "the store's writer has ended");
        let (answer, answered) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or_else(gone)?;
        let job = Box::new(PendingJob { work, applied: None, answer });
        queue.send(job).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

impl Drop for Writer {
    /// Writes what was submitted.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // Fails where the writer panicked, which was reported.
            let _ = thread.join();
        }
    }
}

fn write(
    mut db: Option<Connection>,
    path: &Path,
    mut jobs: mpsc::Receiver<Box<dyn Job>>,
    events: &Events,
) {
    while let Some(first) = jobs.blocking_recv() {
        let mut group = vec![first];
        while group.len() < GROUP
            && let Ok(job) = jobs.try_recv()
        {
            group.push(job);
        }
        let open = match db.take() {
            Some(db) => Ok(db),
            None => schema::open_writer(path),
        };
        match open {
            Ok(open) => settle(db.insert(open), path, group, events),
            Err(error) => refuse(group, path, &error.to_string(), events),
        }
    }
}

fn refuse(group: Vec<Box<dyn Job>>, path: &Path, error: &str, events: &Events) {
    let folder = path.parent().unwrap_or(Path::new("/")).display();
    for job in group {
        let hint = format!("make room on the file system of {folder}");
        let error = StoreError::new(format!("opening {}", path.display()), hint, error);
        job.answer(events, Some(error));
    }
}

fn settle(db: &mut Connection, path: &Path, mut group: Vec<Box<dyn Job>>, events: &Events) {
    match commit(db, &mut group) {
        Ok(()) => group.into_iter().for_each(|job| job.answer(events, None)),
        // One job that can't be written must not fail the others.
        Err(_) if group.len() > 1 => {
            group.into_iter().for_each(|job| settle(db, path, vec![job], events));
        }
        Err(error) => {
            if let Some(job) = group.into_iter().next() {
                job.answer(events, Some(failed("writing to", path, error)));
            }
        }
    }
}

fn commit(db: &mut Connection, group: &mut [Box<dyn Job>]) -> rusqlite::Result<()> {
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for job in group {
        job.apply(&change)?;
    }
    change.commit()
}
