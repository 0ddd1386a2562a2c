//! From a row to what it stands for.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::store::{MAX_HISTORY, MAX_PART};
use crate::{MAX_RUNS, MAX_SEQ, Node, NodeState, Report, StoredRun};

/// The ids of a run's records: all between these two.
pub(super) fn record_ids(run: i64) -> [i64; 2] {
    let first = run * (MAX_SEQ as i64 + 1);
    [first, first + MAX_SEQ as i64]
}

/// The id of one record.
pub(super) fn record_id(run: i64, seq: u64) -> rusqlite::Result<i64> {
    if seq > MAX_SEQ {
        let why = format!("the seq {seq} is greater than {MAX_SEQ}");
        return Err(rusqlite::Error::ToSqlConversionFailure(why.into()));
    }
    Ok(record_ids(run)[0] + seq as i64)
}

pub(super) fn node(row: &Row<'_>) -> rusqlite::Result<Node> {
    json_column::<NodeState>(row, 0).map(|state| state.node())
}

/// The newest runs of a node, within the limits of [`crate::Store::runs`].
pub(super) fn newest_runs(db: &Connection, node: &str) -> rusqlite::Result<Vec<StoredRun>> {
    let mut select = db.prepare_cached(
        "SELECT id, node, run FROM run WHERE node = ? AND pruned = 0 ORDER BY id DESC LIMIT ?",
    )?;
    let mut rows = select.query(params![node, MAX_RUNS as i64])?;
    let mut runs = Vec::new();
    let mut room = MAX_HISTORY;
    while let Some(row) = rows.next()? {
        let reports = reports(db, row.get(0)?)?;
        let bytes = reports.iter().map(|report| report.json.get().len()).sum();
        if bytes > room && !runs.is_empty() {
            break;
        }
        room = room.saturating_sub(bytes);
        runs.push(StoredRun { node: row.get(1)?, run: row.get(2)?, reports });
    }
    Ok(runs)
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

/// The value that a column has as JSON.
pub(super) fn json_column<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text).map_err(|e| unreadable(column, e))
}

fn unreadable(column: usize, error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error.into())
}
