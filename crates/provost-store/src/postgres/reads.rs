use std::collections::HashSet;
use std::pin::pin;

use futures_util::TryStreamExt;
use jiff::Timestamp;
use serde_json::value::RawValue;
use tokio_postgres::types::ToSql;

use super::connect::Database;
use super::error::Failure;
use crate::store::{MAX_HISTORY, MAX_PART};
use crate::{MAX_RUNS, MAX_SEQ, Node, NodeState, Report, Seen, Standing, StoredRun};

/// How many records are looked at for a part of a run.
const PART_ROWS: i64 = 4096;

/// What is remembered of the nodes that `select` names, made into `T` one by one: all of them may be
/// a hundred thousand.
async fn states<T>(
    db: &Database,
    select: &str,
    params: &[&(dyn ToSql + Sync)],
    make: impl Fn(NodeState) -> T,
) -> Result<Vec<T>, Failure> {
    let client = db.client().await?;
    let select = client.prepare_cached(select).await?;
    let rows = client.query_raw(&select, params.iter().copied()).await?;
    let mut rows = pin!(rows);
    let mut made = Vec::new();
    while let Some(row) = rows.try_next().await? {
        made.push(make(serde_json::from_str(row.try_get(0)?)?));
    }
    Ok(made)
}

pub(super) async fn nodes(db: &Database) -> Result<Vec<Node>, Failure> {
    states(db, "SELECT state FROM node ORDER BY name", &[], |state| state.node()).await
}

pub(super) async fn nodes_named(db: &Database, names: Vec<String>) -> Result<Vec<Node>, Failure> {
    let select = "SELECT state FROM node WHERE name = ANY($1) ORDER BY name";
    states(db, select, &[&names], |state| state.node()).await
}

pub(super) async fn seen(db: &Database) -> Result<Vec<(String, Seen)>, Failure> {
    let select = "SELECT state FROM node ORDER BY name";
    states(db, select, &[], |state| (state.name().to_owned(), state.seen())).await
}

/// What is remembered of one node.
pub(super) async fn state<T>(
    db: &Database,
    name: &str,
    make: impl Fn(NodeState) -> T,
) -> Result<Option<T>, Failure> {
    let select = "SELECT state FROM node WHERE name = $1";
    Ok(states(db, select, &[&name], make).await?.pop())
}

pub(super) async fn standing(
    db: &Database,
    name: &str,
    current: Option<&str>,
) -> Result<Standing, Failure> {
    Ok(state(db, name, |state| state.standing(current)).await?.unwrap_or_default())
}

pub(super) async fn has_reported(db: &Database, name: &str) -> Result<bool, Failure> {
    Ok(state(db, name, |state| state.has_reported()).await?.unwrap_or_default())
}

pub(super) async fn next_due(db: &Database) -> Result<Option<Timestamp>, Failure> {
    let client = db.client().await?;
    let select = client.prepare_cached("SELECT min(due) FROM node WHERE due IS NOT NULL").await?;
    let due: Option<i64> = client.query_one(&select, &[]).await?.try_get(0)?;
    Ok(due.and_then(|due| Timestamp::from_millisecond(due).ok()))
}

/// The node whose token has this digest at the time `at`. Using it ends the node's earlier one.
pub(super) async fn token_owner(
    db: &Database,
    sha256: [u8; 32],
    at: Timestamp,
) -> Result<Option<String>, Failure> {
    let client = db.client().await?;
    let select = "SELECT node, sha256 = $1 AND old_sha256 IS NOT NULL FROM token
         WHERE sha256 = $1 OR old_sha256 = $1 AND old_until > $2";
    let select = client.prepare_cached(select).await?;
    let row = client.query_opt(&select, &[&&sha256[..], &at.as_millisecond()]).await?;
    let Some(row) = row else { return Ok(None) };
    if row.try_get(1)? {
        let end = "UPDATE token SET old_sha256 = NULL, old_until = NULL WHERE sha256 = $1";
        // Where it can't be written, the earlier one stays until its time comes.
        let _ = client.execute(end, &[&&sha256[..]]).await;
    }
    Ok(Some(row.try_get(0)?))
}

/// Those of `names` that have no token.
pub(super) async fn without_token(
    db: &Database,
    names: Vec<String>,
) -> Result<Vec<String>, Failure> {
    let client = db.client().await?;
    let select = client.prepare_cached("SELECT node FROM token WHERE node = ANY($1)").await?;
    let rows = client.query(&select, &[&names]).await?;
    let with: HashSet<String> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    Ok(names.into_iter().filter(|name| !with.contains(name)).collect())
}

pub(super) async fn node_of_run(db: &Database, run: &str) -> Result<Option<String>, Failure> {
    let client = db.client().await?;
    let select = "SELECT node FROM run WHERE run = $1 AND NOT pruned ORDER BY id LIMIT 1";
    let select = client.prepare_cached(select).await?;
    let row = client.query_opt(&select, &[&run]).await?;
    row.map(|row| Ok(row.try_get(0)?)).transpose()
}

/// The newest runs of a node, within the limits of [`crate::Store::runs`].
pub(super) async fn newest_runs(db: &Database, node: &str) -> Result<Vec<StoredRun>, Failure> {
    let client = db.client().await?;
    let select = "SELECT id, run FROM run WHERE node = $1 AND NOT pruned ORDER BY id DESC LIMIT $2";
    let select = client.prepare_cached(select).await?;
    let rows = client.query(&select, &[&node, &(MAX_RUNS as i64)]).await?;
    drop(client);
    let mut runs = Vec::new();
    let mut room = MAX_HISTORY;
    for row in rows {
        let reports = reports(db, row.try_get(0)?).await?;
        let bytes = reports.iter().map(|report| report.json.get().len()).sum();
        if bytes > room && !runs.is_empty() {
            break;
        }
        room = room.saturating_sub(bytes);
        runs.push(StoredRun { node: node.to_owned(), run: row.try_get(1)?, reports });
    }
    Ok(runs)
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
                reports.push(last_report(db, run).await?);
                return Ok(reports);
            }
            reports.push(Report::parse(&json)?);
        }
    }
}

async fn last_report(db: &Database, run: i64) -> Result<Report, Failure> {
    let client = db.client().await?;
    let select = "SELECT json FROM record WHERE run = $1 ORDER BY seq DESC LIMIT 1";
    let row = client.query_one(select, &[&run]).await?;
    let json: Box<RawValue> = serde_json::from_str(row.try_get(0)?)?;
    Ok(Report::parse(&json)?)
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
    let select = "SELECT seq, json FROM (
             SELECT seq, json,
                 sum(octet_length(json)) OVER (ORDER BY seq) - octet_length(json) AS before
             FROM (
                 SELECT seq, json FROM record WHERE run = $1 AND seq > $2 ORDER BY seq LIMIT $3
             ) AS next
         ) AS counted
         WHERE before < $4 ORDER BY seq";
    let select = client.prepare_cached(select).await?;
    let after = after.min(MAX_SEQ) as i32;
    let params: [&(dyn ToSql + Sync); 4] = [&run, &after, &PART_ROWS, &(MAX_PART as i64)];
    let rows = client.query(&select, &params).await?;
    let record = |row: &tokio_postgres::Row| {
        let seq: i32 = row.try_get(0)?;
        Ok((u64::from(seq.unsigned_abs()), serde_json::from_str(row.try_get(1)?)?))
    };
    rows.iter().map(record).collect()
}
