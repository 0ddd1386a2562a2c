//! All nodes at once: of 100,000 it takes a processor longer to understand what is stored than to read it.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::thread;

use rusqlite::Connection;

use super::rows;
use crate::{Node, Status};

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
