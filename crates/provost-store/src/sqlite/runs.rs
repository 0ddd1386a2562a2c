//! A node's runs and their records.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::value::RawValue;

use super::rows::{json_column, record_ids, unreadable};
use crate::run_query::HEAD;
use crate::store::{MAX_HISTORY, MAX_PART};
use crate::{MAX_SEQ, NewestRuns, Report, RunQuery, StoredRun};

/// The newest runs of a node, within the limits of [`crate::Store::runs`].
pub(super) fn newest(
    db: &Connection,
    node: &str,
    query: &RunQuery,
) -> rusqlite::Result<NewestRuns> {
    let most = query.most();
    let mut ids = ids(db, node, most + 1)?;
    let mut newest = NewestRuns { runs: Vec::new(), more: ids.len() > most };
    ids.truncate(most);
    if let Some(also) = &query.also
        && !ids.iter().any(|(_, run)| run == also)
    {
        let select = "SELECT id, run FROM run WHERE node = ? AND run = ? AND pruned = 0";
        let mut select = db.prepare_cached(select)?;
        ids.extend(select.query_row([node, also], id_and_name).optional()?);
    }
    let mut room = MAX_HISTORY;
    for (nth, (id, run)) in ids.into_iter().enumerate() {
        let is_brief = !query.is_whole(nth, &run);
        let reports = if is_brief { ends(db, id)? } else { reports(db, id)? };
        let bytes = reports.iter().map(|report| report.json.get().len()).sum();
        if bytes > room && !newest.runs.is_empty() {
            newest.more = true;
            break;
        }
        room = room.saturating_sub(bytes);
        newest.runs.push(StoredRun { node: node.to_owned(), run, reports, is_brief });
    }
    Ok(newest)
}

/// The ids and names of so many newest runs.
fn ids(db: &Connection, node: &str, most: usize) -> rusqlite::Result<Vec<(i64, String)>> {
    let select = "SELECT id, run FROM run WHERE node = ? AND pruned = 0 ORDER BY id DESC LIMIT ?";
    db.prepare_cached(select)?.query_map(params![node, most as i64], id_and_name)?.collect()
}

fn id_and_name(row: &Row<'_>) -> rusqlite::Result<(i64, String)> {
    Ok((row.get(0)?, row.get(1)?))
}

/// A run's records: the first ones, and the last one.
fn reports(db: &Connection, run: i64) -> rusqlite::Result<Vec<Report>> {
    let range = record_ids(run);
    let select = "SELECT json FROM record WHERE id BETWEEN ? AND ? ORDER BY id";
    let mut select = db.prepare_cached(select)?;
    let mut rows = select.query(range)?;
    let (mut reports, mut room) = (Vec::new(), MAX_HISTORY);
    while let Some(row) = rows.next()? {
        room = room.saturating_sub(row.get_ref(0)?.as_str()?.len());
        if room == 0 {
            break;
        }
        reports.push(report(row)?);
    }
    if rows.next()?.is_some() || room == 0 {
        let last = "SELECT json FROM record WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1";
        reports.push(db.prepare_cached(last)?.query_row(range, report)?);
    }
    Ok(reports)
}

/// The first records of a run, and the last one.
fn ends(db: &Connection, run: i64) -> rusqlite::Result<Vec<Report>> {
    let [first, last] = record_ids(run);
    let select = "SELECT json, id FROM record WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?";
    let mut select = db.prepare_cached(select)?;
    let mut rows = select.query(params![first, last, HEAD as i64])?;
    let (mut reports, mut after) = (Vec::new(), first);
    while let Some(row) = rows.next()? {
        after = row.get(1)?;
        reports.push(report(row)?);
    }
    let select = "SELECT json FROM record WHERE id > ? AND id <= ? ORDER BY id DESC LIMIT 1";
    let mut select = db.prepare_cached(select)?;
    reports.extend(select.query_row([after, last], report).optional()?);
    Ok(reports)
}

fn report(row: &Row<'_>) -> rusqlite::Result<Report> {
    let json: Box<RawValue> = json_column(row, 0)?;
    Report::parse(&json).map_err(|e| unreadable(0, e))
}

/// Some records of a run after the seq `after`.
pub(super) fn records(
    db: &Connection,
    run: &str,
    after: u64,
) -> rusqlite::Result<Vec<(u64, Box<RawValue>)>> {
    let first = "SELECT id FROM run WHERE run = ? AND pruned = 0 ORDER BY id LIMIT 1";
    let first: Option<i64> =
        db.prepare_cached(first)?.query_row([run], |row| row.get(0)).optional()?;
    let Some(run) = first else { return Ok(Vec::new()) };
    let [first, last] = record_ids(run);
    let mut select =
        db.prepare_cached("SELECT id, json FROM record WHERE id > ? AND id <= ? ORDER BY id")?;
    let mut rows = select.query([first + after.min(MAX_SEQ) as i64, last])?;
    let (mut records, mut bytes) = (Vec::new(), 0);
    while bytes < MAX_PART
        && let Some(row) = rows.next()?
    {
        let json: Box<RawValue> = json_column(row, 1)?;
        bytes += json.get().len();
        records.push(((row.get::<_, i64>(0)? - first).unsigned_abs(), json));
    }
    Ok(records)
}
