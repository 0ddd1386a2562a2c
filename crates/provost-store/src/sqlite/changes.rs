//! What can be written. The caller has the transaction, and commits it.

use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::rows::{self, json_column};
use super::writer::Applied;
use super::{notices, steps};
use crate::notice::Subscriptions;
use crate::{Claim, Event, Lost, NodeState, Notice, NoticeKind, Released, ReportedGenerations};

/// How many pages are given back to the file system at once, so that no report waits for it.
const BITE: u32 = 1024;
/// How many nodes that are due are looked at in one transaction, for the same reason.
pub(super) const DUE_BITE: usize = 1000;

pub(super) fn claim(
    db: &Connection,
    claim: &Claim,
    at: Timestamp,
) -> rusqlite::Result<Applied<bool>> {
    let mut state = state_of(db, &claim.node)?.unwrap_or_else(|| NodeState::new(&claim.node, at));
    let counts = state.claim(claim, at);
    if counts {
        save(db, &claim.node, &state)?;
    }
    let events = counts.then(|| Event::Claim(Arc::new(claim.clone())));
    let events = events.into_iter().collect();
    Ok(Applied { answer: counts, events, changes_tokens: false })
}

/// Returns also how many nodes were looked at: some of them, if it is [`DUE_BITE`].
pub(super) fn lose(
    db: &Connection,
    due: Timestamp,
    subscriptions: &Subscriptions,
    at: Timestamp,
) -> rusqlite::Result<Applied<(Vec<Lost>, usize)>> {
    let mut applied = Applied::<(Vec<Lost>, usize)>::default();
    let select = format!("SELECT name, state FROM node WHERE due <= ? LIMIT {DUE_BITE}");
    let overdue = states(db, &select, [due.as_millisecond()])?;
    applied.answer.1 = overdue.len();
    for (name, mut state) in overdue {
        if !state.lose(due, at) {
            set_due(db, &name, &state)?;
            continue;
        }
        save(db, &name, &state)?;
        let node = state.node();
        let notice = Notice::of(NoticeKind::Lost, node.clone(), at);
        notices::add(db, subscriptions, [&notice])?;
        let lost = Lost { node: name, stage: node.detail.stage, last_seen: node.last_seen };
        applied.events.push(Event::Lost(Arc::new(lost.clone())));
        applied.answer.0.push(lost);
    }
    Ok(applied)
}

pub(super) fn restart_deadlines(db: &Connection, at: Timestamp) -> rusqlite::Result<Applied<()>> {
    for (name, mut state) in states(db, "SELECT name, state FROM node WHERE due IS NOT NULL", [])? {
        state.restart_deadlines(at);
        save(db, &name, &state)?;
        set_due(db, &name, &state)?;
    }
    Ok(Applied::default())
}

fn states(
    db: &Connection,
    query: &str,
    params: impl rusqlite::Params,
) -> rusqlite::Result<Vec<(String, NodeState)>> {
    db.prepare_cached(query)?
        .query_map(params, |row| Ok((row.get(0)?, json_column(row, 1)?)))?
        .collect()
}

pub(super) fn release(
    db: &Connection,
    nodes: &[String],
    at: Timestamp,
) -> rusqlite::Result<Applied<Result<Vec<Released>, Vec<String>>>> {
    let mut states = Vec::new();
    let mut unknown = Vec::new();
    for node in nodes {
        match state_of(db, node)? {
            Some(state) => states.push((node, state)),
            None => unknown.push(node.clone()),
        }
    }
    if !unknown.is_empty() {
        return Ok(Applied::of(Err(unknown)));
    }
    let mut released = Vec::new();
    for (node, mut state) in states {
        let attempts = state.release(at);
        save(db, node, &state)?;
        released.push(Released { node: node.clone(), attempts });
    }
    Ok(Applied::of(Ok(released)))
}

/// Removes nodes with their runs and records.
pub(super) fn remove(
    db: &Connection,
    nodes: &[String],
) -> rusqlite::Result<Applied<Result<(), Vec<String>>>> {
    let mut unknown = Vec::new();
    for node in nodes {
        if state_of(db, node)?.is_none() {
            unknown.push(node.clone());
        }
    }
    if !unknown.is_empty() {
        return Ok(Applied::of(Err(unknown)));
    }
    for node in nodes {
        let runs: Vec<i64> = db
            .prepare_cached("SELECT id FROM run WHERE node = ?")?
            .query_map([node], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for run in runs {
            db.prepare_cached("DELETE FROM record WHERE id BETWEEN ? AND ?")?
                .execute(rows::record_ids(run))?;
        }
        for delete in [
            "DELETE FROM run WHERE node = ?",
            "DELETE FROM node WHERE name = ?",
            "DELETE FROM token WHERE node = ?",
            "DELETE FROM identity WHERE node = ? AND revoked IS NULL",
            "DELETE FROM enrolment_join WHERE node = ?",
            "DELETE FROM enrolment_window WHERE node = ?",
            "DELETE FROM enrolment_request WHERE node = ?",
        ] {
            db.prepare_cached(delete)?.execute([node])?;
        }
        steps::remove(db, node)?;
    }
    Ok(Applied { changes_tokens: true, ..Applied::of(Ok(())) })
}

/// Gives some of the free pages back to the file system. Returns whether there are more.
pub(super) fn give_back(db: &Connection) -> rusqlite::Result<Applied<bool>> {
    let free = || db.pragma_query_value(None, "freelist_count", |row| row.get::<_, u32>(0));
    let before = free()?;
    let mut pages = db.prepare_cached(&format!("PRAGMA incremental_vacuum({BITE})"))?;
    let mut freed = pages.query([])?;
    // Each step frees one.
    while freed.next()?.is_some() {}
    let left = free()?;
    // None is freed of a file that was too large to be rewritten when it was opened.
    Ok(Applied::of(0 < left && left < before))
}

/// What each node has fetched.
pub(super) fn seen(db: &Connection) -> rusqlite::Result<Vec<(String, ReportedGenerations)>> {
    let states = states(db, "SELECT name, state FROM node ORDER BY name", [])?;
    Ok(states.into_iter().map(|(name, state)| (name, state.seen())).collect())
}

pub(super) fn state_of(db: &Connection, node: &str) -> rusqlite::Result<Option<NodeState>> {
    db.prepare_cached("SELECT state FROM node WHERE name = ?")?
        .query_row([node], |row| json_column(row, 0))
        .optional()
}

/// Remembers the state of a node. When it is due is kept as it was if that is sooner: it changes with
/// each report, and [`lose`] finds out.
pub(super) fn save(db: &Connection, node: &str, state: &NodeState) -> rusqlite::Result<()> {
    let json = serde_json::to_string(state)
        .map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?;
    db.prepare_cached(
        "INSERT INTO node (name, state) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET state = ?2",
    )?
    .execute(params![node, json])?;
    let sooner = "UPDATE node SET due = ?2
         WHERE name = ?1 AND due IS NOT ?2 AND (due IS NULL OR ?2 IS NULL OR due > ?2)";
    db.prepare_cached(sooner)?.execute(params![node, milliseconds(state.due())])?;
    Ok(())
}

/// Remembers when a node is due.
fn set_due(db: &Connection, node: &str, state: &NodeState) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE node SET due = ?2 WHERE name = ?1 AND due IS NOT ?2")?
        .execute(params![node, milliseconds(state.due())])?;
    Ok(())
}

fn milliseconds(due: Option<Timestamp>) -> Option<i64> {
    due.map(Timestamp::as_millisecond)
}
