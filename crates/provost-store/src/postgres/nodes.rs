//! What is remembered of nodes. A transaction that changes it has the rows' locks, taken in the order of the
//! names, so that daemons wait for each other in one direction only.

use std::collections::BTreeMap;

use deadpool_postgres::Transaction;
use jiff::Timestamp;

use super::error::Failure;
use crate::NodeState;

/// What is remembered of those of `names` that are known, which nobody else changes meanwhile.
pub(super) async fn lock(
    change: &Transaction<'_>,
    names: &[&str],
) -> Result<BTreeMap<String, NodeState>, Failure> {
    let select = "SELECT name, state FROM node WHERE name = ANY($1) ORDER BY name FOR UPDATE";
    let select = change.prepare_cached(select).await?;
    let mut states = BTreeMap::new();
    for row in change.query(&select, &[&names]).await? {
        states.insert(row.try_get(0)?, serde_json::from_str(row.try_get(1)?)?);
    }
    Ok(states)
}

/// The same of all `names`: an unknown node becomes known at the server's time `at`.
pub(super) async fn lock_or_add(
    change: &Transaction<'_>,
    names: &[&str],
    at: Timestamp,
) -> Result<BTreeMap<String, NodeState>, Failure> {
    let mut states = lock(change, names).await?;
    let unknown: Vec<&str> =
        names.iter().filter(|name| !states.contains_key(**name)).copied().collect();
    if !unknown.is_empty() {
        add(change, &unknown, at).await?;
        states.append(&mut lock(change, &unknown).await?);
    }
    Ok(states)
}

/// Makes nodes known. Returns those that weren't.
pub(super) async fn add(
    change: &Transaction<'_>,
    names: &[&str],
    at: Timestamp,
) -> Result<Vec<String>, Failure> {
    let new = |name: &&str| serde_json::to_string(&NodeState::new(name, at));
    let states = names.iter().map(new).collect::<Result<Vec<_>, _>>()?;
    let insert = "INSERT INTO node (name, state)
         SELECT * FROM unnest($1::text[], $2::text[]) AS new (name, state) ORDER BY name
         ON CONFLICT (name) DO NOTHING RETURNING name";
    let insert = change.prepare_cached(insert).await?;
    let rows = change.query(&insert, &[&names, &states]).await?;
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// Remembers `states` of nodes that are known. When a node is due is kept as it was if that is sooner: it
/// changes with each report, each change would be one of an index too, and `lose` finds out.
pub(super) async fn save<'a>(
    change: &Transaction<'_>,
    states: impl IntoIterator<Item = (&'a str, &'a NodeState)>,
) -> Result<(), Failure> {
    save_by("CASE WHEN node.due <= new.due THEN node.due ELSE new.due END", change, states).await
}

/// The same, with when each is due.
pub(super) async fn save_due<'a>(
    change: &Transaction<'_>,
    states: impl IntoIterator<Item = (&'a str, &'a NodeState)>,
) -> Result<(), Failure> {
    save_by("new.due", change, states).await
}

async fn save_by<'a>(
    due: &str,
    change: &Transaction<'_>,
    states: impl IntoIterator<Item = (&'a str, &'a NodeState)>,
) -> Result<(), Failure> {
    let (mut names, mut texts, mut dues) = (Vec::new(), Vec::new(), Vec::new());
    for (name, state) in states {
        names.push(name);
        texts.push(serde_json::to_string(state)?);
        dues.push(state.due().map(Timestamp::as_millisecond));
    }
    let update = format!(
        "UPDATE node SET state = new.state, due = {due}
         FROM unnest($1::text[], $2::text[], $3::bigint[]) AS new (name, state, due)
         WHERE node.name = new.name"
    );
    let update = change.prepare_cached(&update).await?;
    change.execute(&update, &[&names, &texts, &dues]).await?;
    Ok(())
}
