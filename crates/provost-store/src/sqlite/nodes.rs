//! All nodes at once: of 100,000 it takes a processor longer to understand what is stored than to read it.

use std::panic::resume_unwind;
use std::thread;

use rusqlite::Connection;

use super::rows;
use crate::Node;

/// How many states one thread understands. Fewer are not worth a thread.
const PART: usize = 20_000;

/// All nodes, by name.
pub(super) fn all(db: &Connection) -> rusqlite::Result<Vec<Node>> {
    // In the order of the file, which is read in a fraction of the time that the order of names takes.
    let mut select = db.prepare_cached("SELECT state FROM node")?;
    let mut rows = select.query([])?;
    let mut nodes = thread::scope(|scope| {
        let (mut threads, mut part) = (Vec::new(), Vec::new());
        while let Some(row) = rows.next()? {
            part.push(row.get::<_, String>(0)?);
            if part.len() == PART {
                let full = std::mem::take(&mut part);
                threads.push(scope.spawn(move || understood(&full)));
            }
        }
        let mut nodes = understood(&part)?;
        for thread in threads {
            nodes.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok::<_, rusqlite::Error>(nodes)
    })?;
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(nodes)
}

fn understood(states: &[String]) -> rusqlite::Result<Vec<Node>> {
    states.iter().map(|state| rows::node_of(state)).collect()
}
