//! From a row to what it stands for.

use rusqlite::Row;
use rusqlite::types::Type;
use serde::de::DeserializeOwned;

use crate::status::BriefState;
use crate::{MAX_SEQ, Node, NodeState, Status};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The ids of a run's records: all between these two.
pub(super) fn record_ids(run: i64) -> [i64; 2] {
    let first = run * (MAX_SEQ as i64 + 1);
    [first, first + MAX_SEQ as i64]
}

/// The id of one record.
pub(super) fn record_id(run: i64, seq: u64) -> rusqlite::Result<i64> {
    if seq > MAX_SEQ {
        let why = format!("the seq {seq} is greater than {MAX_SEQ}");
        return Err(rusqlite::Error::ToSqlConversionFailure(why.into()));
    }
    Ok(record_ids(run)[0] + seq as i64)
}

pub(super) fn node(row: &Row<'_>) -> rusqlite::Result<Node> {
    node_of(row.get_ref(0)?.as_str()?)
}

/// The node whose state this is, the first column of a row.
pub(super) fn node_of(state: &str) -> rusqlite::Result<Node> {
    let state = serde_json::from_str::<NodeState>(state).map_err(|e| unreadable(0, e))?;
    Ok(state.node())
}

/// The status of the node whose state this is.
pub(super) fn status_of(state: &str) -> rusqlite::Result<Status> {
    let state = serde_json::from_str::<BriefState>(state).map_err(|e| unreadable(0, e))?;
    Ok(state.status())
}

/// The value that a column has as JSON.
pub(super) fn json_column<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text).map_err(|e| unreadable(column, e))
}

pub(super) fn unreadable(column: usize, error: impl Into<Failure>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error.into())
}
