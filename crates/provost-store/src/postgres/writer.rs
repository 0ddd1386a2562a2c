use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::batch::Batch;
use super::connect::Database;
use super::error::{Failure, within};
use super::ingest::ingest;
use crate::batch_delay::{BatchDelay, ENOUGH};
use crate::quota::{OverQuota, RecordQuota};
use crate::{Ingested, Report, StoreError};

/// How many batches can wait. Above that, those who submit one wait.
const QUEUE: usize = 1024;
/// How many transactions run at once, at most: while one waits for the disk, the next one is prepared. The second one
/// begins only for `ENOUGH` batches: two small ones cost more than one that is twice as large.
const TRANSACTIONS: usize = 2;
/// How many batches share a transaction at most, …
const GROUP: usize = 256;
/// … and how many bytes: PostgreSQL takes no statement of more than 1 GiB.
const GROUP_BYTES: usize = 64 * 1024 * 1024;

/// How long a transaction may take. A node that gets no answer sends its records again.
const SLOW: Duration = Duration::from_secs(60);

/// What stores records: all batches that have queued up, in one transaction.
pub(super) struct Writer(mpsc::Sender<Batch>);

impl Writer {
    pub(super) fn start(database: Arc<Database>, quota: RecordQuota) -> Self {
        let (queue, batches) = mpsc::channel(QUEUE);
        let (running, pace) = (JoinSet::new(), BatchDelay::default());
        tokio::spawn(Transactions { batches, running, pace }.run(database, quota));
        Self(queue)
    }

    pub(super) async fn ingest(
        &self,
        node: &str,
        reports: Vec<Report>,
        at: Timestamp,
    ) -> Result<Ingested, StoreError> {
        let gone = || StoreError::new("writing records", "start provostd again", "it is ending");
        let (answer, answered) = oneshot::channel();
        let batch = Batch { node: node.to_owned(), reports, at, answer };
        self.0.send(batch).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

/// What waits, and the transactions that run.
struct Transactions {
    batches: mpsc::Receiver<Batch>,
    running: JoinSet<()>,
    pace: BatchDelay,
}

impl Transactions {
    /// Ends when the store is dropped and all is written.
    async fn run(mut self, database: Arc<Database>, quota: RecordQuota) {
        while let Some(group) = self.next(&database.daemons).await {
            self.running.spawn(write(Arc::clone(&database), quota, group));
        }
        while self.running.join_next().await.is_some() {}
    }

    /// The batches of the next transaction, when it is to begin. None when no more will come.
    async fn next(&mut self, daemons: &AtomicU32) -> Option<Vec<Batch>> {
        let (mut group, mut bytes) = (Vec::new(), 0);
        loop {
            let is_full = group.len() >= GROUP || bytes >= GROUP_BYTES;
            let may_run = if is_full || group.len() >= ENOUGH { TRANSACTIONS } else { 1 };
            let may_begin = !group.is_empty() && self.running.len() < may_run;
            let pause = self.pace.pause(group.len(), daemons.load(Ordering::Relaxed));
            if may_begin && (is_full || pause.is_none()) {
                return Some(group);
            }
            tokio::select! {
                Some(_) = self.running.join_next() => self.pace.wrote(),
                batch = self.batches.recv(), if !is_full => {
                    let Some(batch) = batch else { return Some(group).filter(|group| !group.is_empty()) };
                    bytes += batch.bytes();
                    group.push(batch);
                    while group.len() < GROUP
                        && bytes < GROUP_BYTES
                        && let Ok(batch) = self.batches.try_recv()
                    {
                        bytes += batch.bytes();
                        group.push(batch);
                    }
                }
                () = sleep(pause.unwrap_or_default()), if may_begin => {}
            }
        }
    }
}

/// Stores batches, and answers each.
async fn write(database: Arc<Database>, quota: RecordQuota, group: Vec<Batch>) {
    match store(&database, quota, &group).await {
        Err(failure) if group.len() > 1 && failure.is_of_one_batch() => {
            // One batch that can't be written must not fail the others.
            for batch in group {
                let stored = store(&database, quota, std::slice::from_ref(&batch)).await;
                answer(&database, vec![batch], stored);
            }
        }
        stored => answer(&database, group, stored),
    }
}

type Stored = Result<Vec<Result<Ingested, OverQuota>>, Failure>;

async fn store(database: &Database, quota: RecordQuota, group: &[Batch]) -> Stored {
    within(SLOW, ingest(database, quota, group)).await
}

fn answer(database: &Database, group: Vec<Batch>, stored: Stored) {
    match stored {
        Ok(outcomes) => {
            for (batch, outcome) in group.into_iter().zip(outcomes) {
                let over = |over| StoreError::over_quota(&batch.node, "records", over);
                let answer = outcome.map_err(over);
                batch.answer(answer);
            }
        }
        Err(failure) => {
            for batch in group {
                batch.answer(Err(failure.of("writing to", &database.name)));
            }
        }
    }
}
