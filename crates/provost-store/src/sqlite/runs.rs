//! A node's runs and their records.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::value::RawValue;

use super::records::{COLUMNS, texts};
use super::rows::{record_ids, unreadable};
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
        let select = "SELECT id, run FROM run WHERE node = ? AND run = ? AND NOT pruned";
        let mut select = db.prepare_cached(select)?;
        ids.extend(select.query_row([node, also], id_and_name).optional()?);
    }
    let mut room = MAX_HISTORY;
    for (nth, (id, run)) in ids.into_iter().enumerate() {
        let is_brief = !query.is_whole(nth, &run);
        let reports = if is_brief { ends(db, id)? } else { reports(db, id)? };
        let node = node.to_owned();
        if !newest.add(StoredRun { node, run, reports, is_brief }, &mut room) {
            break;
        }
    }
    Ok(newest)
}

/// The ids and names of so many newest runs.
fn ids(db: &Connection, node: &str, most: usize) -> rusqlite::Result<Vec<(i64, String)>> {
    let select = "SELECT id, run FROM run WHERE node = ? AND NOT pruned ORDER BY id DESC LIMIT ?";
    db.prepare_cached(select)?.query_map(params![node, most as i64], id_and_name)?.collect()
}

fn id_and_name(row: &Row<'_>) -> rusqlite::Result<(i64, String)> {
    Ok((row.get(0)?, row.get(1)?))
}

/// A run's records: the first ones, and the last one.
fn reports(db: &Connection, run: i64) -> rusqlite::Result<Vec<Report>> {
    let select = format!("SELECT {COLUMNS} FROM record WHERE id BETWEEN ? AND ? ORDER BY id");
    let mut select = db.prepare_cached(&select)?;
    let mut rows = select.query(record_ids(run))?;
    let (mut reports, mut room) = (Vec::new(), MAX_HISTORY);
    while let Some(row) = rows.next()? {
        let (_, texts) = texts(row)?;
        for text in texts.iter() {
            let report = report(text)?;
            room = room.saturating_sub(report.json.get().len());
            if room == 0 {
                reports.push(last_report(db, run)?);
                return Ok(reports);
            }
            reports.push(report);
        }
    }
    Ok(reports)
}

/// The first records of a run, and the last one.
fn ends(db: &Connection, run: i64) -> rusqlite::Result<Vec<Report>> {
    let select = format!("SELECT {COLUMNS} FROM record WHERE id BETWEEN ? AND ? ORDER BY id");
    let mut select = db.prepare_cached(&select)?;
    let first = record_ids(run)[0];
    let last = first + i64::from(HEAD);
    let mut rows = select.query([first, last])?;
    let mut reports = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, texts) = texts(row)?;
        for text in (id..=last).zip(texts.iter()).map(|(_, text)| text) {
            reports.push(report(text)?);
        }
    }
    let tail = last_report(db, run)?;
    if reports.last().is_none_or(|report| report.record.seq < tail.record.seq) {
        reports.push(tail);
    }
    Ok(reports)
}

fn last_report(db: &Connection, run: i64) -> rusqlite::Result<Report> {
    let select =
        format!("SELECT {COLUMNS} FROM record WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1");
    let mut select = db.prepare_cached(&select)?;
    let (_, texts) = select.query_row(record_ids(run), texts)?;
    // There is no row without a record.
    texts.iter().next_back().map_or(Err(rusqlite::Error::QueryReturnedNoRows), report)
}

fn report(text: serde_json::Result<&RawValue>) -> rusqlite::Result<Report> {
    text.and_then(Report::parse).map_err(|e| unreadable(2, e))
}

/// Some records of a run after the seq `after`.
pub(super) fn records(
    db: &Connection,
    run: &str,
    after: u64,
) -> rusqlite::Result<Vec<(u64, Box<RawValue>)>> {
    let first = "SELECT id FROM run WHERE run = ? AND NOT pruned ORDER BY id LIMIT 1";
    let first: Option<i64> =
        db.prepare_cached(first)?.query_row([run], |row| row.get(0)).optional()?;
    let Some(run) = first else { return Ok(Vec::new()) };
    let [first, last] = record_ids(run);
    let select = format!(
        "SELECT {COLUMNS} FROM record
         WHERE id BETWEEN coalesce((SELECT max(id) FROM record WHERE id BETWEEN ?1 AND ?2), ?1) AND ?3
         ORDER BY id"
    );
    let mut select = db.prepare_cached(&select)?;
    let mut rows = select.query([first, first + after.min(MAX_SEQ) as i64, last])?;
    let (mut records, mut bytes) = (Vec::new(), 0);
    while bytes < MAX_PART
        && let Some(row) = rows.next()?
    {
        let (id, texts) = texts(row)?;
        for (seq, text) in ((id - first).unsigned_abs()..).zip(texts.iter()) {
            let text = text.map_err(|e| unreadable(2, e))?;
            if seq > after {
                bytes += text.get().len();
                records.push((seq, text.to_owned()));
            }
        }
    }
    Ok(records)
}
