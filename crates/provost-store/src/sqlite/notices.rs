//! The queues of notices.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::writer::Applied;
use crate::Notice;
use crate::notice::Subscriptions;

/// Adds notices for those who have subscribed. The caller has the transaction.
pub(super) fn add<'a>(
    db: &Connection,
    subscriptions: &Subscriptions,
    notices: impl IntoIterator<Item = &'a Notice>,
) -> rusqlite::Result<()> {
    let rows = subscriptions.rows(notices);
    let rows = rows.map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?;
    for (receiver, at, body) in rows {
        db.prepare_cached("INSERT INTO notice (receiver, at, body) VALUES (?, ?, ?)")?
            .execute(params![receiver, at, body])?;
    }
    Ok(())
}

pub(super) fn drop_some(
    db: &Connection,
    receiver: &str,
    most: u64,
    before: Timestamp,
) -> rusqlite::Result<Applied<u64>> {
    let old = db
        .prepare_cached("DELETE FROM notice WHERE receiver = ? AND at < ?")?
        .execute(params![receiver, before.as_millisecond()])?;
    let many = db
        .prepare_cached(
            "DELETE FROM notice WHERE receiver = ?1 AND id <= (
                 SELECT id FROM notice WHERE receiver = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
        )?
        .execute(params![receiver, most as i64])?;
    Ok(Applied::of((old + many) as u64))
}
