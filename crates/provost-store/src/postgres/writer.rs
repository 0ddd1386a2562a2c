use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

use super::batch::Batch;
use super::connect::Database;
use super::error::Failure;
use super::ingest::ingest;
use crate::pace::Pace;
use crate::quota::{OverQuota, Quota};
use crate::{Ingested, Report, StoreError};

/// How many batches can wait. Above that, those who submit one wait.
const QUEUE: usize = 1024;
/// How many batches share one transaction at most, …
const GROUP: usize = 256;
/// … and how many bytes: PostgreSQL takes no statement of more than 1 GiB.
const GROUP_BYTES: usize = 64 * 1024 * 1024;

/// How long a transaction may take. A node that gets no answer sends its records again.
const SLOW: Duration = Duration::from_secs(60);

/// What stores records: all batches that have queued up, in one transaction.
pub(super) struct Writer(mpsc::Sender<Batch>);

impl Writer {
    pub(super) fn start(database: Arc<Database>, quota: Quota) -> Self {
        let (queue, batches) = mpsc::channel(QUEUE);
        tokio::spawn(write(database, quota, batches));
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

/// Ends when the store is dropped and all is written.
async fn write(database: Arc<Database>, quota: Quota, mut batches: mpsc::Receiver<Batch>) {
    let mut pace = Pace::default();
    while let Some(first) = batches.recv().await {
        let mut bytes = first.bytes();
        let mut group = vec![first];
        let mut gather = |group: &mut Vec<Batch>| {
            while group.len() < GROUP
                && bytes < GROUP_BYTES
                && let Ok(batch) = batches.try_recv()
            {
                bytes += batch.bytes();
                group.push(batch);
            }
        };
        gather(&mut group);
        if let Some(pause) = pace.pause(group.len()) {
            sleep(pause).await;
            gather(&mut group);
        }
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
        pace.wrote();
    }
}

type Stored = Result<Vec<Result<Ingested, OverQuota>>, Failure>;

async fn store(database: &Database, quota: Quota, group: &[Batch]) -> Stored {
    let stored = timeout(SLOW, ingest(database, quota, group)).await;
    stored.unwrap_or(Err(Failure::Slow(SLOW)))
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
