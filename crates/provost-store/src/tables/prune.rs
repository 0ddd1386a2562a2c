//! Removing what of the history is kept no longer, in bites that no report waits for. Daemons that do it at once leave
//! each other's runs alone.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};
use provost_record::Phase;
use tokio::time::{Instant, sleep};

use crate::packed::unpack;
use crate::retention::{BITE, BITE_RUNS, OldRun};
use crate::sql::{Backend, Change, Row, Sql, Unreadable, values};
use crate::{PruneScope, Pruned, Report, Retention, StoreError};

/// How many runs are looked for at once.
const SOME: i64 = 10_000;
/// How long after its begin a run is there at the latest: a transaction takes no longer. Ids are given before.
const SETTLED: SignedDuration = SignedDuration::from_mins(2);

/// What there is to remove, in all.
pub(crate) async fn prunable<B: Backend>(
    store: &B,
    keep: Retention,
    at: Timestamp,
) -> Result<Pruned, StoreError> {
    let (mut all, old) = store
        .query((keep, at), |db, (keep, at)| {
            Box::pin(async move {
                let old = old_runs(db, *keep, *at, i64::MAX).await?;
                Ok((size(db, &old).await?, old))
            })
        })
        .await?;
    all += store.old_logs(old, Some(keep.oldest_log(at)), false).await?;
    Ok(all)
}

/// Removes some of it; nothing, if `look` finds no more.
pub(crate) async fn prune<B: Backend>(
    store: &B,
    keep: Retention,
    look: PruneScope,
    at: Timestamp,
    until: &AtomicI64,
) -> Result<Pruned, StoreError> {
    match look {
        PruneScope::Everywhere => everywhere(store, keep, at).await,
        PruneScope::AtNewRuns => of_new_runs(store, keep, at, until).await,
    }
}

async fn everywhere<B: Backend>(
    store: &B,
    keep: Retention,
    at: Timestamp,
) -> Result<Pruned, StoreError> {
    let find = store.query((keep, at), |db, (keep, at)| Box::pin(old_runs(db, *keep, *at, SOME)));
    let pruned = remove(store, find.await?, Some(keep.oldest_log(at))).await?;
    let forget = || {
        store.change_reserved((keep, at), |db, (keep, at)| Box::pin(forget_some(db, *keep, *at)))
    };
    while forget().await? {}
    Ok(pruned)
}

/// What is too much of the nodes with runs after the one with the id `until`, which moves on.
async fn of_new_runs<B: Backend>(
    store: &B,
    keep: Retention,
    at: Timestamp,
    until: &AtomicI64,
) -> Result<Pruned, StoreError> {
    let mut all = Pruned::default();
    loop {
        let request = (keep, at, until.load(Ordering::Relaxed));
        let find = store
            .query(request, |db, (keep, at, after)| Box::pin(new_runs(db, *keep, *at, *after)));
        let (old, last) = find.await?;
        all += remove(store, old, None).await?;
        let Some(last) = last else { return Ok(all) };
        until.store(last, Ordering::Relaxed);
    }
}

/// Removes runs with their records and logs, and all logs that were written before `oldest`.
async fn remove<B: Backend>(
    store: &B,
    old: Vec<OldRun>,
    oldest: Option<i64>,
) -> Result<Pruned, StoreError> {
    let mut all = Pruned::default();
    for some in old.chunks(BITE_RUNS) {
        let mut is_done = false;
        while !is_done {
            let begun = Instant::now();
            let bite = store.change_reserved(some.to_vec(), |db, runs| Box::pin(bite(db, runs)));
            let (removed, done) = bite.await?;
            all += removed;
            is_done = done;
            // Half of the time is left for reports.
            sleep(begun.elapsed()).await;
        }
    }
    all += store.old_logs(old, oldest, true).await?;
    Ok(all)
}

fn old_run(row: Row) -> Result<OldRun, Unreadable> {
    let [id, node, run] = row.columns()?;
    Ok(OldRun { id: id.get()?, node: node.get()?, run: run.get()? })
}

/// The runs that are kept no longer, `most` of them. The newest run of a node always is.
async fn old_runs<S: Sql>(
    db: &S,
    keep: Retention,
    at: Timestamp,
    most: i64,
) -> Result<Vec<OldRun>, S::Error> {
    let select = "SELECT id, node, run FROM (
             SELECT id, node, run, began,
                 row_number() OVER (PARTITION BY node ORDER BY id DESC) AS nth
             FROM run WHERE NOT pruned
         ) AS kept
         WHERE nth > $1 OR (nth > 1 AND began < $2) LIMIT $3";
    let kept = i64::from(keep.runs.max(1));
    db.all(select, values![kept, keep.oldest_run(at), most], old_run).await
}

/// The same of the nodes with runs after the id `after`. Returns also the last run that was looked at; none where
/// there is none.
async fn new_runs<S: Sql>(
    db: &S,
    keep: Retention,
    at: Timestamp,
    after: i64,
) -> Result<(Vec<OldRun>, Option<i64>), S::Error> {
    let settled = at.checked_sub(SETTLED).unwrap_or(Timestamp::MIN);
    let select = "SELECT id, node FROM run WHERE id > $1 AND began <= $2 ORDER BY id LIMIT $3";
    let new = db.all(select, values![after, settled, SOME], Row::pair::<i64, String>).await?;
    let last = new.last().map(|(id, _)| *id);
    let nodes: BTreeSet<String> = new.into_iter().map(|(_, node)| node).collect();
    let mut old = Vec::new();
    for node in nodes {
        let select = "SELECT id, node, run FROM run WHERE node = $1 AND NOT pruned AND id < (
                 SELECT max(id) FROM run WHERE node = $1 AND NOT pruned) AND (began < $2 OR id <= (
                 SELECT id FROM run WHERE node = $1 AND NOT pruned
                 ORDER BY id DESC LIMIT 1 OFFSET $3))";
        let kept = i64::from(keep.runs.max(1));
        old.extend(db.all(select, values![node, keep.oldest_run(at), kept], old_run).await?);
    }
    Ok((old, last))
}

/// What `runs` have.
async fn size<S: Sql>(db: &S, runs: &[OldRun]) -> Result<Pruned, S::Error> {
    let ids =
        runs.iter().map(|run| (S::RECORDS.ids)(run.id)).map(|[first, last]| values![first, last]);
    let mut all = Pruned { runs: runs.len() as u64, ..Pruned::default() };
    for row in db.each(S::RECORDS.count, ids.collect()).await? {
        let (records, record_bytes) = row.pair()?;
        all += Pruned { records, record_bytes, ..Pruned::default() };
    }
    Ok(all)
}

/// Whether the last record of a row ends its run, or can't be read.
fn is_end(row: Row) -> Result<bool, Unreadable> {
    let [bytes, body] = row.columns()?;
    let texts = unpack(&body.get::<Vec<u8>>()?, bytes.get()?);
    let last = texts.ok().and_then(|texts| texts.iter().next_back()?.and_then(Report::parse).ok());
    Ok(last.is_none_or(|last| last.record.phase == Phase::ServiceEnd))
}

/// Removes the records of the first of `runs`, as many as no report has to wait for. Of a run that has ended it is
/// remembered that there was one: its node may send it again. Nothing is left of one that was only begun. Returns also
/// whether all are done.
async fn bite<C: Change>(db: &C, runs: &[OldRun]) -> Result<(Pruned, bool), C::Error> {
    let names: BTreeSet<&str> = runs.iter().map(|run| run.node.as_str()).collect();
    let mut states = db.lock_nodes(&names.into_iter().collect::<Vec<_>>()).await?;
    let (mut removed, mut rows) = (Pruned::default(), 0);
    for run in runs {
        let [first, last] = (C::RECORDS.ids)(run.id);
        let has_ended = db.first(C::RECORDS.last, values![first, last], is_end).await?;
        let room = (BITE - rows) as i64;
        let some = db.all(C::RECORDS.remove, values![first, last, room], Row::pair).await?;
        rows += some.len();
        for (records, record_bytes) in some {
            removed += Pruned { records, record_bytes, ..Pruned::default() };
            if let Some(state) = states.get_mut(&run.node) {
                state.records.free(record_bytes);
            }
        }
        if rows == BITE {
            // It may have more.
            break;
        }
        // How a script ended last goes with the run in which it did, or with a newer one.
        let forget = "DELETE FROM step WHERE node = $1 AND run <= $2";
        db.execute(forget, values![&run.node, run.id]).await?;
        // Another daemon may have done it.
        removed.runs += match has_ended {
            Some(false) => db.execute("DELETE FROM run WHERE id = $1", values![run.id]).await?,
            _ => {
                let mark = "UPDATE run SET pruned = $2 WHERE id = $1 AND NOT pruned";
                db.execute(mark, values![run.id, true]).await?
            }
        };
    }
    db.save_nodes(&states).await?;
    Ok((removed, rows < BITE))
}

/// Forgets some of the runs that were removed long ago, and what else is too old. Returns whether there may be more.
async fn forget_some<C: Change>(db: &C, keep: Retention, at: Timestamp) -> Result<bool, C::Error> {
    let (some, old) = (BITE as i64, keep.oldest_run(at));
    let runs = "DELETE FROM run WHERE id IN (
         SELECT id FROM run WHERE pruned AND began < $1 LIMIT $2)";
    let runs = db.execute(runs, values![keep.oldest_removed(at), some]).await?;
    let audit = "DELETE FROM audit WHERE id IN (
         SELECT id FROM audit
         WHERE at < $1 AND id <= (SELECT max(id) FROM audit) - CAST($2 AS bigint) LIMIT $3)";
    let newest = provost_api::limits::AUDIT as i64;
    let audit = db.execute(audit, values![old, newest, some]).await?;
    for delete in [
        "DELETE FROM enrolment_join WHERE until < $1",
        "DELETE FROM enrolment_window WHERE until < $1",
        "DELETE FROM enrolment_request WHERE last < $1 AND NOT rejected",
    ] {
        db.execute(delete, values![old]).await?;
    }
    let more_jobs = super::jobs::forget_some(db, keep, at).await?;
    Ok(more_jobs || runs.max(audit) == BITE as u64)
}
