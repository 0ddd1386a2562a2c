//! What runs did, stored with the records that say so.

use rusqlite::{Connection, params};

use crate::history::RunsByMinute;

/// Adds a row for each minute. The caller has the transaction.
pub(super) fn add(db: &Connection, runs: &RunsByMinute) -> rusqlite::Result<()> {
    for (at, runs) in &runs.0 {
        db.prepare_cached(
            "INSERT INTO history_part (at, began, succeeded, failed, boots) VALUES (?, ?, ?, ?, ?)",
        )?
        .execute(params![
            at.as_millisecond(),
            runs.began as i64,
            runs.succeeded as i64,
            runs.failed as i64,
            runs.boots.to_string()
        ])?;
    }
    Ok(())
}
