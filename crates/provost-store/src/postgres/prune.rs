//! Removing what of the history is kept no longer, in bites. Daemons that do it at once leave each
//! other's runs alone.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use tokio::time::{Instant, sleep};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::connect::Database;
use super::error::Failure;
use super::{nodes, steps};

use crate::Pruned;
use crate::retention::{BITE, BITE_RUNS, Retention};

/// The runs that are kept no longer. The newest run of a node always is.
const OLD: &str = "SELECT id, node, run FROM (
         SELECT id, node, run, began,
             row_number() OVER (PARTITION BY node ORDER BY id DESC) AS nth
         FROM run WHERE NOT pruned
     ) AS kept
     WHERE nth > greatest(1, $1::bigint) OR (nth > 1 AND began < $2)";
/// What of the logs is kept no longer whatever their runs are.
const OLD_LOGS: &str = "at < to_timestamp($1::bigint / 1000)";
/// How many runs are looked for at once.
const SOME: i64 = 10_000;
/// How long after its begin a run is there at the latest: a transaction takes no longer.
const SETTLED: SignedDuration = SignedDuration::from_mins(2);

/// What [`everywhere`] would remove, in all.
pub(super) async fn prunable(
    db: &Database,
    keep: Retention,
    at: Timestamp,
) -> Result<Pruned, Failure> {
    let client = db.client().await?;
    let (runs, oldest) = (i64::from(keep.runs), keep.oldest_run(at));
    let select = format!(
        "WITH old AS MATERIALIZED ({OLD})
         SELECT (SELECT count(*) FROM old), coalesce(sum(last - seq + 1), 0)::bigint,
             coalesce(sum(bytes), 0)::bigint
         FROM old JOIN record ON record.run = old.id"
    );
    let row = client.query_one(&select, &[&runs, &oldest]).await?;
    let number = |row: &tokio_postgres::Row, at: usize| {
        Ok::<_, Failure>(row.try_get::<_, i64>(at)?.unsigned_abs())
    };
    let mut all = Pruned {
        runs: number(&row, 0)?,
        records: number(&row, 1)?,
        record_bytes: number(&row, 2)?,
        ..Pruned::default()
    };
    let old = client.query(OLD, &[&runs, &oldest]).await?;
    let names =
        |column| old.iter().map(|row| row.try_get(column)).collect::<Result<Vec<&str>, _>>();
    let select = "SELECT count(*), coalesce(sum(octet_length(bytes)), 0)::bigint FROM log
         WHERE (node, run) IN (SELECT * FROM unnest($1::text[], $2::text[]))
             OR at < to_timestamp($3::bigint / 1000)";
    let (nodes, runs, oldest) = (names(1)?, names(2)?, keep.oldest_log(at));
    let row = client.query_one(select, &[&nodes, &runs, &oldest]).await?;
    (all.logs, all.log_bytes) = (number(&row, 0)?, number(&row, 1)?);
    Ok(all)
}

/// Removes some of what is kept no longer, wherever it is; nothing, if there is no more.
pub(super) async fn everywhere(
    db: &Database,
    keep: Retention,
    at: Timestamp,
) -> Result<Pruned, Failure> {
    let client = db.client().await?;
    let params: [&(dyn ToSql + Sync); 2] = [&i64::from(keep.runs), &keep.oldest_run(at)];
    let old = client.query(&format!("{OLD} LIMIT {SOME}"), &params).await?;
    drop(client);
    let mut all = remove(db, &old.iter().map(old_run).collect::<Result<Vec<_>, _>>()?).await?;
    let client = db.client().await?;
    let delete = format!("DELETE FROM log WHERE {OLD_LOGS} RETURNING octet_length(bytes)::bigint");
    for row in client.query(&delete, &[&keep.oldest_log(at)]).await? {
        all += one_log(&row)?;
    }
    let forget = "DELETE FROM run WHERE pruned AND began < $1";
    client.execute(forget, &[&keep.oldest_removed(at)]).await?;
    let old = keep.oldest_run(at);
    let audit =
        "DELETE FROM audit WHERE at < $1 AND id <= (SELECT max(id) FROM audit) - $2::bigint";
    client.execute(audit, &[&old, &(provost_api::limits::AUDIT as i64)]).await?;
    for delete in [
        "DELETE FROM enrolment_join WHERE until < $1",
        "DELETE FROM enrolment_window WHERE until < $1",
        "DELETE FROM enrolment_request WHERE last < $1 AND NOT rejected",
    ] {
        client.execute(delete, &[&old]).await?;
    }
    Ok(all)
}

/// Removes what is kept no longer of the nodes with runs after the one with the id `after`. Returns also
/// the last run that was looked at.
pub(super) async fn of_new_runs(
    db: &Database,
    keep: Retention,
    at: Timestamp,
    mut after: i64,
) -> Result<(Pruned, i64), Failure> {
    // Ids are given before the commit: one that is lower may still appear.
    let settled = at.checked_sub(SETTLED).unwrap_or(Timestamp::MIN).as_millisecond();
    let select = "SELECT id, node FROM run WHERE id > $1 AND began <= $2 ORDER BY id LIMIT $3";
    let select_old = "SELECT old.id, t.node, old.run FROM unnest($1::text[]) AS t (node)
         CROSS JOIN LATERAL (
             SELECT id, run, began, row_number() OVER (ORDER BY id DESC) AS nth
             FROM run WHERE run.node = t.node AND NOT pruned
         ) AS old
         WHERE nth > greatest(1, $2::bigint) OR (nth > 1 AND began < $3)";
    let mut all = Pruned::default();
    loop {
        let client = db.client().await?;
        let new = client.query(select, &[&after, &settled, &SOME]).await?;
        let Some(last) = new.last() else { return Ok((all, after)) };
        after = last.try_get(0)?;
        let nodes = new.iter().map(|row| row.try_get(1)).collect::<Result<BTreeSet<&str>, _>>()?;
        let nodes: Vec<&str> = nodes.into_iter().collect();
        let (runs, oldest) = (i64::from(keep.runs), keep.oldest_run(at));
        let old = client.query(select_old, &[&nodes, &runs, &oldest]).await?;
        drop(client);
        all += remove(db, &old.iter().map(old_run).collect::<Result<Vec<_>, _>>()?).await?;
        if (new.len() as i64) < SOME {
            return Ok((all, after));
        }
    }
}

/// Removes runs with their records, in bites, and with their logs.
async fn remove(db: &Database, old: &[OldRun]) -> Result<Pruned, Failure> {
    let mut all = Pruned::default();
    for some in old.chunks(BITE_RUNS) {
        let mut is_done = false;
        while !is_done {
            let begun = Instant::now();
            let (removed, done) = remove_some(db, some).await?;
            all += removed;
            is_done = done;
            // Half of the time is left for reports.
            sleep(begun.elapsed()).await;
        }
    }
    let (nodes, runs): (Vec<&str>, Vec<&str>) =
        old.iter().map(|(_, node, run)| (node.as_str(), run.as_str())).unzip();
    let delete = "DELETE FROM log USING unnest($1::text[], $2::text[]) AS old (node, run)
         WHERE log.node = old.node AND log.run = old.run
         RETURNING octet_length(bytes)::bigint";
    for row in db.client().await?.query(delete, &[&nodes, &runs]).await? {
        all += one_log(&row)?;
    }
    Ok(all)
}

fn one_log(row: &Row) -> Result<Pruned, Failure> {
    let log_bytes = row.try_get::<_, i64>(0)?.unsigned_abs();
    Ok(Pruned { logs: 1, log_bytes, ..Pruned::default() })
}

fn old_run(row: &Row) -> Result<OldRun, Failure> {
    Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
}

/// The id of a run, its node and its name.
type OldRun = (i64, String, String);

/// Removes records of `runs`, as many as no report has to wait for. Returns also whether they have none
/// left.
async fn remove_some(db: &Database, runs: &[OldRun]) -> Result<(Pruned, bool), Failure> {
    let ids: Vec<i64> = runs.iter().map(|(id, ..)| *id).collect();
    let names: BTreeSet<&str> = runs.iter().map(|(_, node, _)| node.as_str()).collect();
    let mut client = db.client().await?;
    let change = client.transaction().await?;
    let mut states = nodes::lock(&change, &names.into_iter().collect::<Vec<_>>()).await?;
    let delete = format!(
        "DELETE FROM record USING (
             SELECT run, seq FROM record WHERE run = ANY($1) LIMIT {BITE}
         ) AS old
         WHERE (record.run, record.seq) = (old.run, old.seq)
         RETURNING record.run, bytes, (last - record.seq + 1)::bigint"
    );
    let delete = change.prepare_cached(&delete).await?;
    let (mut removed, mut rows) = (Pruned::default(), 0);
    for row in change.query(&delete, &[&ids]).await? {
        rows += 1;
        let (id, bytes) = (row.try_get::<_, i64>(0)?, row.try_get::<_, i64>(1)?.unsigned_abs());
        let node = runs.iter().find(|run| run.0 == id).map(|(_, node, _)| node);
        if let Some(state) = node.and_then(|node| states.get_mut(node)) {
            state.records.free(bytes);
        }
        let records = row.try_get::<_, i64>(2)?.unsigned_abs();
        removed += Pruned { records, record_bytes: bytes, ..Pruned::default() };
    }
    let is_done = rows < BITE;
    if is_done {
        let nodes: Vec<&str> = runs.iter().map(|(_, node, _)| node.as_str()).collect();
        steps::remove_runs(&change, &nodes, &ids).await?;
        let mark = "UPDATE run SET pruned = true WHERE id = ANY($1) AND NOT pruned";
        removed.runs = change.execute(mark, &[&ids]).await?;
    }
    nodes::save(&change, states.iter().map(|(name, state)| (&**name, state))).await?;
    change.commit().await?;
    Ok((removed, is_done))
}
