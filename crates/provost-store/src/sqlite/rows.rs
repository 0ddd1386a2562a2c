//! From a row to what it stands for.

use rusqlite::types::Type;
use rusqlite::{Connection, Row};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::{Node, NodeState, Report, StoredRun};

pub(super) fn node(row: &Row<'_>) -> rusqlite::Result<Node> {
    json_column::<NodeState>(row, 0).map(|state| state.node())
}

pub(super) fn stored_run(db: &Connection, row: &Row<'_>) -> rusqlite::Result<StoredRun> {
    let id: i64 = row.get(0)?;
    let reports = db
        .prepare_cached("SELECT json FROM record WHERE run_id = ? ORDER BY seq")?
        .query_map([id], |row| {
            let json: Box<RawValue> = json_column(row, 0)?;
            Report::parse(&json).map_err(|e| unreadable(0, e))
        })?
        .collect::<Result<_, _>>()?;
    Ok(StoredRun { node: row.get(1)?, run: row.get(2)?, reports })
}

/// The value that a column has as JSON.
pub(super) fn json_column<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text).map_err(|e| unreadable(column, e))
}

fn unreadable(column: usize, error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error.into())
}
