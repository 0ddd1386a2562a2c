use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use serde_json::value::RawValue;
use tokio::sync::{broadcast, mpsc, oneshot};

use super::failed;
use crate::{EVENT_BACKLOG, Ingested, NodeState, Report, StoreError, Token};

/// How many pieces of work wait for the writer before those who bring more must wait themselves.
const QUEUE: usize = 1024;
/// How many pieces of work share one transaction, and so one sync of the disk.
const GROUP: usize = 256;

/// The one thread that writes. It takes whatever has queued up meanwhile into one transaction,
/// and answers each only when that is durable.
pub(super) struct Writer {
    queue: Option<mpsc::Sender<Job>>,
    events: broadcast::Sender<Arc<RawValue>>,
    thread: Option<JoinHandle<()>>,
}

/// What can be written.
pub(super) enum Work {
    Ingest { node: String, batch: Vec<Report>, at: Timestamp },
    SetTokens { tokens: Vec<Token>, at: Timestamp },
}

struct Job {
    work: Work,
    answer: oneshot::Sender<Result<Ingested, StoreError>>,
}

/// What one piece of work has done, before the commit.
#[derive(Default)]
struct Done {
    fresh: Vec<Arc<RawValue>>,
    repeats: usize,
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

    pub(super) fn events(&self) -> broadcast::Receiver<Arc<RawValue>> {
        self.events.subscribe()
    }

    pub(super) async fn submit(&self, path: &Path, work: Work) -> Result<Ingested, StoreError> {
        let gone = || failed("writing to", path, "the store's writer has ended");
        let (answer, answered) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or_else(gone)?;
        queue.send(Job { work, answer }).await.map_err(|_| gone())?;
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

fn write(
    mut db: Connection,
    path: &Path,
    mut jobs: mpsc::Receiver<Job>,
    events: &broadcast::Sender<Arc<RawValue>>,
) {
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

fn settle(
    db: &mut Connection,
    path: &Path,
    group: Vec<Job>,
    events: &broadcast::Sender<Arc<RawValue>>,
) {
    match commit(db, &group) {
        Ok(done) => answer(group, done, events),
        // One that can't be written must not take the others with it.
        Err(_) if group.len() > 1 => {
            group.into_iter().for_each(|job| settle(db, path, vec![job], events));
        }
        Err(error) => {
            if let Some(job) = group.into_iter().next() {
                let _ = job.answer.send(Err(failed("writing to", path, error)));
            }
        }
    }
}

fn commit(db: &mut Connection, group: &[Job]) -> rusqlite::Result<Vec<Done>> {
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = group.iter().map(|job| job.work.apply(&change)).collect::<Result<_, _>>()?;
    change.commit()?;
    Ok(done)
}

fn answer(group: Vec<Job>, done: Vec<Done>, events: &broadcast::Sender<Arc<RawValue>>) {
    for (job, done) in group.into_iter().zip(done) {
        let ingested = Ingested { fresh: done.fresh.len(), repeats: done.repeats };
        for json in done.fresh {
            // Nobody listens: fine.
            let _ = events.send(json);
        }
        // Who asked has gone away meanwhile: it is stored all the same.
        let _ = job.answer.send(Ok(ingested));
    }
}

impl Work {
    fn apply(&self, db: &Connection) -> rusqlite::Result<Done> {
        match self {
            Self::Ingest { node, batch, at } => ingest(db, node, batch, *at),
            Self::SetTokens { tokens, at } => set_tokens(db, tokens, *at),
        }
    }
}

fn ingest(db: &Connection, node: &str, batch: &[Report], at: Timestamp) -> rusqlite::Result<Done> {
    let mut state = state_of(db, node)?.unwrap_or_else(|| NodeState::new(node, at));
    let mut done = Done::default();
    let mut add_run = db.prepare_cached("INSERT OR IGNORE INTO run (node, run) VALUES (?, ?)")?;
    let mut add = db.prepare_cached(
        "INSERT OR IGNORE INTO record (run_id, seq, json)
         SELECT id, ?3, ?4 FROM run WHERE node = ?1 AND run = ?2",
    )?;
    for report in batch {
        let record = &report.record;
        let seq = i64::try_from(record.seq)
            .map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?;
        let is_first = add_run.execute(params![node, record.run])? == 1;
        if add.execute(params![node, record.run, seq, report.json.get()])? == 1 {
            state.apply(record, is_first);
            done.fresh.push(Arc::from(report.json.clone()));
        } else {
            done.repeats += 1;
        }
    }
    state.seen(at);
    save(db, node, &state)?;
    Ok(done)
}

fn set_tokens(db: &Connection, tokens: &[Token], at: Timestamp) -> rusqlite::Result<Done> {
    let mut set = db.prepare_cached("UPDATE node SET token = ?2 WHERE name = ?1")?;
    for token in tokens {
        if set.execute(params![token.node, token.sha256])? == 0 {
            save(db, &token.node, &NodeState::new(&token.node, at))?;
            set.execute(params![token.node, token.sha256])?;
        }
    }
    Ok(Done::default())
}

fn state_of(db: &Connection, node: &str) -> rusqlite::Result<Option<NodeState>> {
    db.prepare_cached("SELECT state FROM node WHERE name = ?")?
        .query_row([node], |row| super::json_column(row, 0))
        .optional()
}

fn save(db: &Connection, node: &str, state: &NodeState) -> rusqlite::Result<()> {
    let state = serde_json::to_string(state)
        .map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?;
    db.prepare_cached(
        "INSERT INTO node (name, state) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET state = ?2",
    )?
    .execute([node, &state])?;
    Ok(())
}
