//! Removes what is kept no longer, in bites that no report waits for.

use std::sync::atomic::Ordering;

use jiff::Timestamp;
use rusqlite::Connection;
use tokio::time::{Instant, sleep};

use super::Sqlite;
use super::prune::{self, OldRun};
use super::writer::Room;
use crate::Pruned;
use crate::StoreError;
use crate::retention::{BITE_RUNS, Retention};

impl Sqlite {
    /// Removes some of what is kept no longer, wherever it is.
    pub(super) async fn prune_all(
        &self,
        keep: Retention,
        at: Timestamp,
    ) -> Result<Pruned, StoreError> {
        let old = self.read(move |db| prune::old_runs(db, keep, at, prune::SOME)).await?;
        let mut all = self.remove_runs(&old).await?;
        all += self.logs.old(keep.oldest_log(at), old, true).await?;
        let work = move |db: &Connection| prune::forget_some(db, keep, at);
        self.writer.submit(&self.path, Room::Reserved, work).await?;
        self.give_back().await?;
        Ok(all)
    }

    /// Removes what is kept no longer of the nodes with new runs.
    pub(super) async fn prune_new(
        &self,
        keep: Retention,
        at: Timestamp,
    ) -> Result<Pruned, StoreError> {
        let mut all = Pruned::default();
        loop {
            let after = self.pruned_until.load(Ordering::Relaxed);
            let found = self.read(move |db| prune::of_new_runs(db, keep, at, after)).await?;
            if !found.runs.is_empty() {
                all += self.remove_runs(&found.runs).await?;
                all += self.logs.of_runs(found.runs).await?;
            }
            self.pruned_until.store(found.last, Ordering::Relaxed);
            if !found.more {
                self.give_back().await?;
                return Ok(all);
            }
        }
    }

    /// Removes runs with their records, in bites.
    async fn remove_runs(&self, runs: &[OldRun]) -> Result<Pruned, StoreError> {
        let (mut all, mut left) = (Pruned::default(), runs);
        while !left.is_empty() {
            let some = left[..left.len().min(BITE_RUNS)].to_vec();
            let begun = Instant::now();
            let work = move |db: &Connection| prune::remove_some(db, &some);
            let removed = self.writer.submit(&self.path, Room::Reserved, work).await?;
            left = &left[removed.runs as usize..];
            all += removed;
            // Half of the time is left for reports.
            sleep(begun.elapsed()).await;
        }
        Ok(all)
    }
}
