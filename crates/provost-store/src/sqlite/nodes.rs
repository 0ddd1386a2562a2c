//! What is remembered of nodes. Of all 100,000 at once it takes a processor longer to understand it than to read it.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::thread;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::rows::{self, json_column};
use crate::{Node, NodeState, Status};

/// How many states one thread understands. Fewer are not worth a thread.
const PART: usize = 20_000;

/// All nodes, by name.
pub(super) fn all(db: &Connection) -> rusqlite::Result<Vec<Node>> {
    let mut nodes = understood(db, rows::node_of)?;
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(nodes)
}

/// How many nodes have each status.
pub(super) fn statuses(db: &Connection) -> rusqlite::Result<BTreeMap<Status, u64>> {
    let mut counts = BTreeMap::new();
    for status in understood(db, rows::status_of)? {
        *counts.entry(status).or_default() += 1;
    }
    Ok(counts)
}

/// What `understand` makes of the state of each node, in any order.
fn understood<T: Send>(
    db: &Connection,
    understand: fn(&str) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    let of_part = |states: &[String]| -> rusqlite::Result<Vec<T>> {
        states.iter().map(|state| understand(state)).collect()
    };
    // In the order of the file, which is read in a fraction of the time that the order of names takes.
    let mut select = db.prepare_cached("SELECT state FROM node")?;
    let mut rows = select.query([])?;
    thread::scope(|scope| {
        let (mut threads, mut part) = (Vec::new(), Vec::new());
        while let Some(row) = rows.next()? {
            part.push(row.get::<_, String>(0)?);
            if part.len() == PART {
                let full = std::mem::take(&mut part);
                threads.push(scope.spawn(move || of_part(&full)));
            }
        }
        let mut all = of_part(&part)?;
        for thread in threads {
            all.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok(all)
    })
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

/// The same of a node that is known, with when it is due.
pub(super) fn save_due(db: &Connection, node: &str, state: &NodeState) -> rusqlite::Result<()> {
    let json = serde_json::to_string(state)
        .map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?;
    db.prepare_cached("UPDATE node SET state = ?2, due = ?3 WHERE name = ?1")?.execute(params![
        node,
        json,
        milliseconds(state.due())
    ])?;
    Ok(())
}

fn milliseconds(due: Option<Timestamp>) -> Option<i64> {
    due.map(Timestamp::as_millisecond)
}
