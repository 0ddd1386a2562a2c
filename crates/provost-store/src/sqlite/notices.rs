//! The queues of notices.

use rusqlite::{Connection, params};

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
