use std::collections::BTreeMap;
use std::pin::pin;

use futures_util::TryStreamExt;
use serde::de::DeserializeOwned;
use tokio_postgres::types::ToSql;

use super::connect::Database;
use super::error::Failure;
use crate::status::BriefState;
use crate::{Node, NodeState, Status};

/// What is remembered of the nodes that `select` names, made into `T` one by one: all of them may be
/// a hundred thousand.
async fn states<S: DeserializeOwned, T>(
    db: &Database,
    select: &str,
    params: &[&(dyn ToSql + Sync)],
    make: impl Fn(S) -> T,
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
    states(db, "SELECT state FROM node ORDER BY name", &[], |state: NodeState| state.node()).await
}

pub(super) async fn statuses(db: &Database) -> Result<BTreeMap<Status, u64>, Failure> {
    let all = states(db, "SELECT state FROM node", &[], |state: BriefState| state.status()).await?;
    let mut counts = BTreeMap::new();
    for status in all {
        *counts.entry(status).or_default() += 1;
    }
    Ok(counts)
}

pub(super) async fn nodes_named(db: &Database, names: Vec<String>) -> Result<Vec<Node>, Failure> {
    let select = "SELECT state FROM node WHERE name = ANY($1) ORDER BY name";
    states(db, select, &[&names], |state: NodeState| state.node()).await
}
