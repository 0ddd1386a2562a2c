//! A node's runs and their records.

use std::collections::HashMap;

use serde_json::value::RawValue;
use tokio_postgres::types::ToSql;

use super::connect::Database;
use super::error::Failure;
use super::records::texts;
use crate::run_query::HEAD;
use crate::store::{MAX_HISTORY, MAX_PART};
use crate::{MAX_SEQ, NewestRuns, Report, RunQuery, StoredRun};

/// How many rows are looked at for a part of a run.
const PART_ROWS: i64 = 4096;

/// The newest runs of a node, within the limits of [`crate::Store::runs`].
pub(super) async fn newest(
    db: &Database,
    node: &str,
    query: RunQuery,
) -> Result<NewestRuns, Failure> {
    let most = query.most();
    let mut ids = ids(db, node, most + 1).await?;
    let mut newest = NewestRuns { runs: Vec::new(), more: ids.len() > most };
    ids.truncate(most);
    if let Some(also) = &query.also
        && !ids.iter().any(|(_, run)| run == also)
    {
        ids.extend(id(db, node, also).await?);
    }
    let ids = ids.into_iter().enumerate();
    let (whole, brief): (Vec<_>, Vec<_>) =
        ids.partition(|(nth, (_, run))| query.is_whole(*nth, run));
    let mut ends = ends(db, brief.iter().map(|(_, (id, _))| *id).collect()).await?;
    let mut ids = [whole, brief].concat();
    ids.sort_unstable();
    let mut room = MAX_HISTORY;
    for (nth, (id, run)) in ids {
        let is_brief = !query.is_whole(nth, &run);
        let reports = match is_brief {
            true => ends.remove(&id).unwrap_or_default(),
            false => reports(db, id).await?,
        };
        let node = node.to_owned();
        if !newest.add(StoredRun { node, run, reports, is_brief }, &mut room) {
            break;
        }
    }
    Ok(newest)
}

/// The ids and names of so many newest runs.
async fn ids(db: &Database, node: &str, most: usize) -> Result<Vec<(i64, String)>, Failure> {
    let client = db.client().await?;
    let select = "SELECT id, run FROM run WHERE node = $1 AND NOT pruned ORDER BY id DESC LIMIT $2";
    let select = client.prepare_cached(select).await?;
    let rows = client.query(&select, &[&node, &(most as i64)]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

/// The id and the name of one run.
async fn id(db: &Database, node: &str, run: &str) -> Result<Option<(i64, String)>, Failure> {
    let client = db.client().await?;
    let select = "SELECT id, run FROM run WHERE node = $1 AND run = $2 AND NOT pruned";
    let select = client.prepare_cached(select).await?;
    let row = client.query_opt(&select, &[&node, &run]).await?;
    row.map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).transpose()
}

/// Of each of these runs the first records and the last one.
async fn ends(db: &Database, runs: Vec<i64>) -> Result<HashMap<i64, Vec<Report>>, Failure> {
    let mut ends = HashMap::<i64, Vec<Report>>::new();
    if runs.is_empty() {
        return Ok(ends);
    }
    let client = db.client().await?;
    let select = "SELECT ends.run, ends.seq, ends.last, ends.bytes, ends.body
         FROM unnest($1::bigint[]) AS t (id) CROSS JOIN LATERAL (
             (SELECT * FROM record WHERE run = t.id AND seq <= $2)
             UNION
             (SELECT * FROM record WHERE run = t.id ORDER BY seq DESC LIMIT 1)
         ) AS ends ORDER BY ends.run, ends.seq";
    let select = client.prepare_cached(select).await?;
    let rows = client.query(&select, &[&runs, &HEAD]).await?;
    for (at, row) in rows.iter().enumerate() {
        let id: i64 = row.try_get(0)?;
        let is_last = match rows.get(at + 1) {
            Some(next) => next.try_get::<_, i64>(0)? != id,
            None => true,
        };
        let reports = ends.entry(id).or_default();
        let (first, last) = (row.try_get::<_, i32>(1)?, row.try_get::<_, i32>(2)?);
        for (seq, text) in (first..=last).zip(texts(row, 3)?.iter()) {
            if seq <= HEAD || is_last && seq == last {
                reports.push(Report::parse(text?)?);
            }
        }
    }
    Ok(ends)
}

/// A run's records: the first ones, and the last one.
async fn reports(db: &Database, run: i64) -> Result<Vec<Report>, Failure> {
    let (mut reports, mut room, mut after) = (Vec::new(), MAX_HISTORY, 0);
    loop {
        let part = part(db, run, after).await?;
        let Some((last, _)) = part.last() else { return Ok(reports) };
        after = *last;
        for (_, json) in part {
            room = room.saturating_sub(json.get().len());
            if room == 0 {
                reports.extend(last_report(db, run).await?);
                return Ok(reports);
            }
            reports.push(Report::parse(&json)?);
        }
    }
}

async fn last_report(db: &Database, run: i64) -> Result<Option<Report>, Failure> {
    let client = db.client().await?;
    let select = "SELECT bytes, body FROM record WHERE run = $1 ORDER BY seq DESC LIMIT 1";
    let row = client.query_one(select, &[&run]).await?;
    let texts = texts(&row, 0)?;
    Ok(texts.iter().next_back().transpose()?.map(Report::parse).transpose()?)
}

/// Some records of a run after the seq `after`.
pub(super) async fn records(
    db: &Database,
    run: &str,
    after: u64,
) -> Result<Vec<(u64, Box<RawValue>)>, Failure> {
    let client = db.client().await?;
    let select = "SELECT id FROM run WHERE run = $1 AND NOT pruned ORDER BY id LIMIT 1";
    let select = client.prepare_cached(select).await?;
    let first = client.query_opt(&select, &[&run]).await?;
    drop(client);
    let Some(first) = first else { return Ok(Vec::new()) };
    part(db, first.try_get(0)?, after).await
}

/// The same of the run with this id. A seq is never 0.
async fn part(db: &Database, run: i64, after: u64) -> Result<Vec<(u64, Box<RawValue>)>, Failure> {
    let client = db.client().await?;
    let select = "SELECT seq, bytes, body FROM (
             SELECT seq, bytes, body, (sum(bytes) OVER (ORDER BY seq) - bytes)::bigint AS before
             FROM (
                 SELECT seq, bytes, body FROM record WHERE run = $1 AND seq >= coalesce((
                     SELECT seq FROM record WHERE run = $1 AND seq <= $2 ORDER BY seq DESC LIMIT 1), $2)
                 ORDER BY seq LIMIT $3
             ) AS next
         ) AS counted
         WHERE before < $4 ORDER BY seq";
    let select = client.prepare_cached(select).await?;
    // It may be in the middle of a row, and is never the last record of the whole part.
    let next = after.min(MAX_SEQ - 1) as i32 + 1;
    let params: [&(dyn ToSql + Sync); 4] = [&run, &next, &PART_ROWS, &(MAX_PART as i64)];
    let mut records = Vec::new();
    for row in client.query(&select, &params).await? {
        let first: i32 = row.try_get(0)?;
        for (seq, text) in (u64::from(first.unsigned_abs())..).zip(texts(&row, 1)?.iter()) {
            let text = text?;
            if seq > after {
                records.push((seq, text.to_owned()));
            }
        }
    }
    Ok(records)
}
