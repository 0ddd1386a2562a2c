use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use jiff::Timestamp;
use provost_fs::free_room;
use rusqlite::Connection;
use tokio::sync::{broadcast, mpsc, oneshot};

use super::checkpoints::Checkpoints;
use super::error::{failed, has_no_room};
use super::history;
use super::owners::Owners;
use super::reserve::Reserve;
use super::schema::{self, SchemaError};
use crate::batch_delay::{BatchDelay, ENOUGH};
use crate::history::{RunCounts, RunsByMinute};
use crate::{EVENT_BACKLOG, Event, StoreError};

/// How many jobs can wait for the writer. Above that, those who submit one wait.
const QUEUE: usize = 1024;
/// How many jobs share one transaction, and so one sync of the disk.
const GROUP: usize = 256;

/// The one thread that writes. It commits all jobs that have queued up in one transaction, and
/// answers each only when that is durable.
pub(super) struct Writer {
    queue: Option<mpsc::Sender<Box<dyn Job>>>,
    events: broadcast::Sender<Event>,
    thread: Option<JoinHandle<()>>,
}

/// Who is told of a write once it is durable.
struct Audience {
    events: broadcast::Sender<Event>,
    owners: Arc<Owners>,
}

/// The result of one job, before the commit.
#[derive(Default)]
pub(super) struct Applied<T> {
    pub(super) answer: T,
    pub(super) events: Vec<Event>,
    /// Whether another node's token, or none, may be what was known as this one's.
    pub(super) changes_tokens: bool,
    /// What runs did when, for the history.
    pub(super) runs: Option<(Timestamp, RunCounts)>,
}

impl<T> Applied<T> {
    /// A write that nobody is told of.
    pub(super) fn of(answer: T) -> Self {
        Self { answer, events: Vec::new(), changes_tokens: false, runs: None }
    }
}

/// What room of the disk a write may take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// What is free.
    Free,
    /// Also what is [reserved](Reserve) for it.
    Reserved,
}

/// One write, and the caller that waits for its answer.
trait Job: Send {
    fn room(&self) -> Room;
    /// Does the write inside a transaction. If that fails as a whole, it is called again in
    /// another one.
    fn apply(&mut self, db: &mut Connection) -> rusqlite::Result<()>;
    /// What runs did, as far as it was applied.
    fn runs(&self) -> Option<&(Timestamp, RunCounts)>;
    /// Answers when the write is durable, or has failed.
    fn answer(self: Box<Self>, audience: &Audience, error: Option<StoreError>);
}

struct PendingJob<F, T> {
    room: Room,
    work: F,
    applied: Option<Applied<T>>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<F, T> Job for PendingJob<F, T>
where
    F: Fn(&mut Connection) -> rusqlite::Result<Applied<T>> + Send,
    T: Send,
{
    fn room(&self) -> Room {
        self.room
    }

    fn apply(&mut self, db: &mut Connection) -> rusqlite::Result<()> {
        self.applied = Some((self.work)(db)?);
        Ok(())
    }

    fn runs(&self) -> Option<&(Timestamp, RunCounts)> {
        self.applied.as_ref()?.runs.as_ref()
    }

    fn answer(self: Box<Self>, audience: &Audience, error: Option<StoreError>) {
        let answer = match (error, self.applied) {
            (None, Some(applied)) => {
                // Before the answer, and whether or not the caller still waits for it.
                if applied.changes_tokens {
                    audience.owners.forget();
                }
                for event in applied.events {
                    // Fails where nobody has subscribed.
                    let _ = audience.events.send(event);
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
    pub(super) fn start(
        db: Option<Connection>,
        path: &Path,
        reserve: Arc<Reserve>,
        owners: Arc<Owners>,
    ) -> Result<Self, StoreError> {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let (events, _) = broadcast::channel(EVENT_BACKLOG);
        let audience = Audience { events: events.clone(), owners };
        let file = DataFile { path: path.to_owned(), reserve };
        let thread = thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || write(db, &file, jobs, &audience))
            .map_err(|e| failed("starting the writer of", path, e))?;
        Ok(Self { queue: Some(queue), events, thread: Some(thread) })
    }

    pub(super) fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    pub(super) async fn submit<T: Send + 'static>(
        &self,
        path: &Path,
        room: Room,
        work: impl Fn(&Connection) -> rusqlite::Result<Applied<T>> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.submit_exclusive(path, room, move |db| work(db)).await
    }

    /// The same of work that has the connection for itself.
    pub(super) async fn submit_exclusive<T: Send + 'static>(
        &self,
        path: &Path,
        room: Room,
        work: impl Fn(&mut Connection) -> rusqlite::Result<Applied<T>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let gone = || failed("writing to", path, "the store's writer has ended");
        let (answer, answered) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or_else(gone)?;
        let job = Box::new(PendingJob { room, work, applied: None, answer });
        queue.send(job).await.map_err(|_| gone())?;
        // It may be in a pause, which isn't for so many.
        if queue.max_capacity() - queue.capacity() >= ENOUGH
            && let Some(writer) = &self.thread
        {
            writer.thread().unpark();
        }
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

/// The file, and what is kept free for it.
struct DataFile {
    path: PathBuf,
    reserve: Arc<Reserve>,
}

/// Opens the file to write to it, on a full disk too.
pub(super) fn open(path: &Path, reserve: &Reserve) -> Result<Connection, SchemaError> {
    let opened = schema::open_writer(path);
    let is_full = matches!(&opened, Err(SchemaError::Sqlite(e)) if has_no_room(e));
    match is_full.then(|| reserve.release()).flatten() {
        Some(_released) => schema::open_writer(path),
        None => opened,
    }
}

fn write(
    mut db: Option<Connection>,
    file: &DataFile,
    mut jobs: mpsc::Receiver<Box<dyn Job>>,
    audience: &Audience,
) {
    let (mut pace, mut checkpoints) = (BatchDelay::default(), None);
    while let Some(first) = jobs.blocking_recv() {
        while let Some(pause) = pace.pause(1 + jobs.len(), 1) {
            thread::park_timeout(pause);
        }
        let mut group = vec![first];
        while group.len() < GROUP
            && let Ok(job) = jobs.try_recv()
        {
            group.push(job);
        }
        let open = match db.take() {
            Some(db) => Ok(db),
            None => open(&file.path, &file.reserve),
        };
        match open {
            Ok(open) => {
                let db = db.insert(open);
                settle(db, file, group, audience);
                if checkpoints.is_none() {
                    // Without it SQLite merges the log by itself, in the writer.
                    checkpoints = Checkpoints::of(db, &file.path).ok();
                }
                if let Some(checkpoints) = &mut checkpoints {
                    checkpoints.after_commit(db);
                }
            }
            Err(error) => refuse(group, &file.path, &error.to_string(), audience),
        }
        pace.wrote();
    }
}

fn refuse(group: Vec<Box<dyn Job>>, path: &Path, error: &str, audience: &Audience) {
    let folder = path.parent().unwrap_or(Path::new("/")).display();
    for job in group {
        let hint = format!("make room on the file system of {folder}");
        let error = StoreError::new(format!("opening {}", path.display()), hint, error);
        job.answer(audience, Some(error));
    }
}

fn settle(db: &mut Connection, file: &DataFile, mut group: Vec<Box<dyn Job>>, audience: &Audience) {
    if let Err(full) = file.reserve.fill() {
        for job in group.extract_if(.., |job| job.room() == Room::Free) {
            let full = io::Error::new(full.kind(), full.to_string());
            job.answer(audience, Some(failed("writing to", &file.path, full)));
        }
    }
    let mut committed = commit(db, &mut group);
    if let Err(error) = &committed
        && let [job] = &*group
        && job.room() == Room::Reserved
        && has_no_room(error)
        && let Some(_released) = file.reserve.release()
    {
        committed = commit(db, &mut group);
        // What fails is tried again after the next one.
        let _ = shorten_log(db, &file.path);
    }
    match committed {
        Ok(()) => group.into_iter().for_each(|job| job.answer(audience, None)),
        // One job that can't be written must not fail the others.
        Err(_) if group.len() > 1 => {
            group.into_iter().for_each(|job| settle(db, file, vec![job], audience));
        }
        Err(error) => {
            if has_no_room(&error) {
                // The log may have filled the disk: what is merged makes room for the next try.
                let _ = db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
            }
            if let Some(job) = group.into_iter().next() {
                job.answer(audience, Some(failed("writing to", &file.path, error)));
            }
        }
    }
}

/// Merges the log into the file, so that its room is free again, if half of what is free stays so: the next write needs
/// some before it can make room.
fn shorten_log(db: &Connection, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let number = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let merged = (number("page_count")? * number("page_size")?).unsigned_abs();
    let grows = merged.saturating_sub(fs::metadata(path)?.len());
    if grows <= free_room(path.parent().unwrap_or(Path::new("/")))? / 2 {
        db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
    }
    Ok(())
}

fn commit(db: &mut Connection, group: &mut [Box<dyn Job>]) -> rusqlite::Result<()> {
    db.execute_batch("BEGIN IMMEDIATE")?;
    let applied = group.iter_mut().try_for_each(|job| job.apply(db));
    let mut runs = RunsByMinute::default();
    group.iter().filter_map(|job| job.runs()).for_each(|(at, counts)| runs.add(*at, counts));
    let noted = applied.and_then(|()| history::add(db, &runs));
    let committed = noted.and_then(|()| db.execute_batch("COMMIT"));
    // Where it failed SQLite may have rolled back by itself.
    if committed.is_err() && !db.is_autocommit() {
        let _ = db.execute_batch("ROLLBACK");
    }
    committed
}
