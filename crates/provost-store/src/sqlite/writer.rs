use std::path::Path;
use std::thread::{self, JoinHandle};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{broadcast, mpsc, oneshot};

use super::failed;
use crate::{EVENT_BACKLOG, Event, StoreError};

/// How many pieces of work wait for the writer before those who bring more must wait themselves.
const QUEUE: usize = 1024;
/// How many pieces of work share one transaction, and so one sync of the disk.
const GROUP: usize = 256;

/// The one thread that writes. It takes whatever has queued up meanwhile into one transaction,
/// and answers each only when that is durable.
pub(super) struct Writer {
    queue: Option<mpsc::Sender<Box<dyn Job>>>,
    events: Events,
    thread: Option<JoinHandle<()>>,
}

/// Who is told what was stored.
pub(super) type Events = broadcast::Sender<Event>;

/// What one piece of work has done, before the commit.
#[derive(Default)]
pub(super) struct Done<T> {
    pub(super) answer: T,
    pub(super) events: Vec<Event>,
}

/// One piece of work, and one who waits for its answer.
trait Job: Send {
    /// Does the work inside a transaction; should that fail as a whole, then again in another.
    fn apply(&mut self, db: &Connection) -> rusqlite::Result<()>;
    /// Answers once the work is durable, or has failed.
    fn answer(self: Box<Self>, events: &Events, error: Option<StoreError>);
}

struct Waiting<F, T> {
    work: F,
    done: Option<Done<T>>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<F, T> Job for Waiting<F, T>
where
    F: Fn(&Connection) -> rusqlite::Result<Done<T>> + Send,
    T: Send,
{
    fn apply(&mut self, db: &Connection) -> rusqlite::Result<()> {
        self.done = Some((self.work)(db)?);
        Ok(())
    }

    fn answer(self: Box<Self>, events: &Events, error: Option<StoreError>) {
        let answer = match (error, self.done) {
            (None, Some(done)) => {
                for event in done.events {
                    // Nobody listens: fine.
                    let _ = events.send(event);
                }
                Ok(done.answer)
            }
            (Some(error), _) => Err(error),
            // Never: what was committed has been done.
            (None, None) => return,
        };
        // Who asked has gone away meanwhile: it is stored all the same.
        let _ = self.answer.send(answer);
    }
}

impl Writer {
    pub(super) fn start(db: Connection, path: &Path) -> Result<Self, StoreError> {
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
        work: impl Fn(&Connection) -> rusqlite::Result<Done<T>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let gone = || failed("writing to", path, "the store's writer has ended");
        let (answer, answered) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or_else(gone)?;
        let job = Box::new(Waiting { work, done: None, answer });
        queue.send(job).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

impl Drop for Writer {
    /// What was submitted is still written.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A writer that panicked has told so already.
            let _ = thread.join();
        }
    }
}

fn write(mut db: Connection, path: &Path, mut jobs: mpsc::Receiver<Box<dyn Job>>, events: &Events) {
    while let Some(first) = jobs.blocking_recv() {
        let mut group = vec![first];
        while group.len() < GROUP
            && let Ok(job) = jobs.try_recv()
        {
            group.push(job);
        }
        settle(&mut db, path, group, events);
    }
}

fn settle(db: &mut Connection, path: &Path, mut group: Vec<Box<dyn Job>>, events: &Events) {
    match commit(db, &mut group) {
        Ok(()) => group.into_iter().for_each(|job| job.answer(events, None)),
        // One that can't be written must not take the others with it.
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
