//! What of the history is kept no longer.

use std::collections::BTreeSet;

use jiff::Timestamp;
use rusqlite::{Connection, Row, params};

use super::nodes::{save, state_of};
use super::writer::Applied;
use super::{rows, steps};

use crate::Pruned;
use crate::retention::{BITE, Retention};

/// How many runs are looked for at once.
pub(super) const SOME: i64 = 10_000;

/// A run that is kept no longer.
#[derive(Clone, Debug)]
pub(super) struct OldRun {
    pub(super) id: i64,
    pub(super) node: String,
    pub(super) run: String,
}

/// Some of the runs that are kept no longer, `most` of them.
pub(super) fn old_runs(
    db: &Connection,
    keep: Retention,
    at: Timestamp,
    most: i64,
) -> rusqlite::Result<Vec<OldRun>> {
    let select = "SELECT id, node, run FROM (
             SELECT id, node, run, began,
                 row_number() OVER (PARTITION BY node ORDER BY id DESC) AS nth
             FROM run WHERE pruned = 0
         )
         WHERE nth > max(1, ?1) OR (nth > 1 AND began < ?2) LIMIT ?3";
    db.prepare_cached(select)?
        .query_map(params![keep.runs, keep.oldest_run(at), most], |row| {
            Ok(OldRun { id: row.get(0)?, node: row.get(1)?, run: row.get(2)? })
        })?
        .collect()
}

/// What new runs have made too many.
pub(super) struct Found {
    pub(super) runs: Vec<OldRun>,
    /// The id of the last run that was looked at.
    pub(super) last: i64,
    /// Whether there are more runs to look at.
    pub(super) more: bool,
}

/// The runs that are kept no longer, of the nodes with runs after the id `after`.
pub(super) fn of_new_runs(
    db: &Connection,
    keep: Retention,
    at: Timestamp,
    after: i64,
) -> rusqlite::Result<Found> {
    let select = "SELECT id, node FROM run WHERE id > ? ORDER BY id LIMIT ?";
    let new: Vec<(i64, String)> = db
        .prepare_cached(select)?
        .query_map([after, SOME], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let (last, more) = (new.last().map_or(after, |(id, _)| *id), new.len() as i64 == SOME);
    let nodes: BTreeSet<String> = new.into_iter().map(|(_, node)| node).collect();
    // The newest run of a node always stays.
    let select = "SELECT id, run, began FROM run WHERE node = ? AND pruned = 0
         ORDER BY id DESC LIMIT -1 OFFSET 1";
    let mut select = db.prepare_cached(select)?;
    let mut runs = Vec::new();
    for node in nodes {
        let mut older = select.query([&node])?;
        let mut kept = 1;
        while let Some(row) = older.next()? {
            if kept < keep.runs && keep.oldest_run(at) <= row.get(2)? {
                kept += 1;
                continue;
            }
            runs.push(OldRun { id: row.get(0)?, node: node.clone(), run: row.get(1)? });
        }
    }
    Ok(Found { runs, last, more })
}

/// What `runs` have.
pub(super) fn size(db: &Connection, runs: &[OldRun]) -> rusqlite::Result<Pruned> {
    let mut all = Pruned::default();
    let select = format!("SELECT {COUNTS} FROM record WHERE id BETWEEN ? AND ?");
    let mut select = db.prepare_cached(&select)?;
    for run in runs {
        let (records, record_bytes) = select.query_row(rows::record_ids(run.id), counted)?;
        all += Pruned { runs: 1, records, record_bytes, ..Pruned::default() };
    }
    Ok(all)
}

/// How many records rows have, and their bytes.
const COUNTS: &str = "coalesce(sum(last - id + 1), 0), coalesce(sum(bytes), 0)";

/// Two numbers that count.
fn counted(row: &Row<'_>) -> rusqlite::Result<(u64, u64)> {
    Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get::<_, i64>(1)?.unsigned_abs()))
}

/// Removes the records of the first of `runs`, as many as no report has to wait for. Those runs
/// count that have none left.
pub(super) fn remove_some(db: &Connection, runs: &[OldRun]) -> rusqlite::Result<Applied<Pruned>> {
    let mut removed = Pruned::default();
    let some = "SELECT id, last, bytes FROM record WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3";
    let count = format!("SELECT count(*), {COUNTS} FROM ({some})");
    let delete = format!("DELETE FROM record WHERE id IN (SELECT id FROM ({some}))");
    let (mut count, mut delete) = (db.prepare_cached(&count)?, db.prepare_cached(&delete)?);
    let mut room = BITE as i64;
    for run in runs {
        let [first, last] = rows::record_ids(run.id);
        let range = params![first, last, room];
        let (rows, records, record_bytes) = count.query_row(range, |row| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, i64>(1)?.unsigned_abs(),
                row.get::<_, i64>(2)?.unsigned_abs(),
            ))
        })?;
        delete.execute(range)?;
        if let Some(mut state) = state_of(db, &run.node)? {
            state.records.free(record_bytes);
            save(db, &run.node, &state)?;
        }
        removed += Pruned { records, record_bytes, ..Pruned::default() };
        if rows == room {
            // It may have more.
            break;
        }
        room -= rows;
        steps::remove_run(db, &run.node, run.id)?;
        db.prepare_cached("UPDATE run SET pruned = 1 WHERE id = ?")?.execute([run.id])?;
        removed.runs += 1;
    }
    Ok(Applied::of(removed))
}

/// Forgets some of the runs that were removed long ago, and what else is too old.
pub(super) fn forget_some(
    db: &Connection,
    keep: Retention,
    at: Timestamp,
) -> rusqlite::Result<Applied<()>> {
    let runs = "DELETE FROM run WHERE id IN (
         SELECT id FROM run WHERE pruned = 1 AND began < ? LIMIT ?)";
    let some = BITE as i64;
    db.prepare_cached(runs)?.execute(params![keep.oldest_removed(at), some])?;
    let old = keep.oldest_run(at);
    let audit = "DELETE FROM audit WHERE id IN (
         SELECT id FROM audit WHERE at < ?1 AND id <= (SELECT max(id) FROM audit) - ?2 LIMIT ?3)";
    db.prepare_cached(audit)?.execute(params![old, provost_api::limits::AUDIT as i64, some])?;
    for delete in [
        "DELETE FROM enrolment_join WHERE until < ?",
        "DELETE FROM enrolment_window WHERE until < ?",
        "DELETE FROM enrolment_request WHERE last < ? AND NOT rejected",
    ] {
        db.prepare_cached(delete)?.execute([old])?;
    }
    Ok(Applied::of(()))
}
