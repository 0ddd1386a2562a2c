//! What can be written besides records, each in a transaction of its own.

use std::collections::{BTreeMap, BTreeSet};

use deadpool_postgres::Transaction;
use jiff::Timestamp;
use tokio_postgres::types::ToSql;

use super::connect::Database;
use super::error::Failure;
use super::events::notify;
use super::note::Note;
use super::{nodes, notices};
use crate::{Claim, Lost, NodeState, Notice, NoticeKind, Released};

pub(super) async fn claim(db: &Database, claim: Claim, at: Timestamp) -> Result<bool, Failure> {
    let mut client = db.client().await?;
    let change = client.transaction().await?;
    let node = claim.node.clone();
    let mut states = nodes::lock_or_add(&change, &[&node], at).await?;
    let Some(state) = states.get_mut(&node) else { return Ok(false) };
    let counts = state.claim(&claim, at);
    if counts {
        nodes::save(&change, [(&*node, &*state)]).await?;
        notify(&change, &[Note::Claim(claim)]).await?;
        change.commit().await?;
    }
    Ok(counts)
}

pub(super) async fn lose(
    db: &Database,
    due: Timestamp,
    at: Timestamp,
) -> Result<Vec<Lost>, Failure> {
    let mut client = db.client().await?;
    let change = client.transaction().await?;
    let overdue = "SELECT name FROM node WHERE due <= $1";
    let mut states = lock_those(&change, overdue, &[&due.as_millisecond()]).await?;
    // Another daemon may have marked one meanwhile, and one may have reported since it was known to be due.
    let lost: BTreeSet<String> = states
        .iter_mut()
        .filter_map(|(name, state)| state.lose(due, at).then(|| name.clone()))
        .collect();
    nodes::save_due(&change, named(&states)).await?;
    states.retain(|name, _| lost.contains(name));
    let told = states.values().map(|state| Notice::of(NoticeKind::Lost, state.node(), at));
    notices::add(&change, &db.subscriptions, &told.collect::<Vec<_>>()).await?;
    let lost = states.iter().map(|(name, state)| {
        let shown = state.node();
        Lost { node: name.clone(), stage: shown.detail.stage, last_seen: shown.last_seen }
    });
    let lost: Vec<Lost> = lost.collect();
    let notes: Vec<Note> = lost.iter().cloned().map(Note::Lost).collect();
    notify(&change, &notes).await?;
    change.commit().await?;
    Ok(lost)
}

pub(super) async fn restart_deadlines(db: &Database, at: Timestamp) -> Result<(), Failure> {
    let mut client = db.client().await?;
    let change = client.transaction().await?;
    let all = "SELECT name FROM node WHERE due IS NOT NULL";
    let mut states = lock_those(&change, all, &[]).await?;
    states.values_mut().for_each(|state| state.restart_deadlines(at));
    nodes::save_due(&change, named(&states)).await?;
    change.commit().await?;
    Ok(())
}

/// What is remembered of the nodes that `select` names.
async fn lock_those(
    change: &Transaction<'_>,
    select: &str,
    params: &[&(dyn ToSql + Sync)],
) -> Result<BTreeMap<String, NodeState>, Failure> {
    let rows = change.query(select, params).await?;
    let names = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<&str>, _>>()?;
    nodes::lock(change, &names).await
}

fn named(states: &BTreeMap<String, NodeState>) -> impl Iterator<Item = (&str, &NodeState)> {
    states.iter().map(|(name, state)| (&**name, state))
}

pub(super) async fn release(
    db: &Database,
    names: Vec<String>,
    at: Timestamp,
) -> Result<Result<Vec<Released>, Vec<String>>, Failure> {
    let mut client = db.client().await?;
    let change = client.transaction().await?;
    let mut states = nodes::lock(&change, &sorted(&names)).await?;
    if let Some(unknown) = unknown(&names, &states) {
        return Ok(Err(unknown));
    }
    let released = states.iter_mut().map(|(node, state)| (node.clone(), state.release(at)));
    let released: BTreeMap<String, u32> = released.collect();
    nodes::save(&change, named(&states)).await?;
    change.commit().await?;
    let shown =
        |node: String| Released { attempts: released.get(&node).copied().unwrap_or(0), node };
    Ok(Ok(names.into_iter().map(shown).collect()))
}

/// Removes nodes with all that is known of them.
pub(super) async fn remove(
    db: &Database,
    names: Vec<String>,
) -> Result<Result<(), Vec<String>>, Failure> {
    let mut client = db.client().await?;
    let change = client.transaction().await?;
    let states = nodes::lock(&change, &sorted(&names)).await?;
    if let Some(unknown) = unknown(&names, &states) {
        return Ok(Err(unknown));
    }
    for delete in [
        "DELETE FROM record USING run WHERE record.run = run.id AND run.node = ANY($1)",
        "DELETE FROM run WHERE node = ANY($1)",
        "DELETE FROM step WHERE node = ANY($1)",
        "DELETE FROM log WHERE node = ANY($1)",
        "DELETE FROM token WHERE node = ANY($1)",
        "DELETE FROM identity WHERE node = ANY($1) AND revoked IS NULL",
        "DELETE FROM enrolment_join WHERE node = ANY($1)",
        "DELETE FROM enrolment_window WHERE node = ANY($1)",
        "DELETE FROM enrolment_request WHERE node = ANY($1)",
        "DELETE FROM node WHERE name = ANY($1)",
    ] {
        change.execute(delete, &[&names]).await?;
    }
    change.commit().await?;
    Ok(Ok(()))
}

fn sorted(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Those of `names` that aren't known, if there are any.
fn unknown(names: &[String], known: &BTreeMap<String, NodeState>) -> Option<Vec<String>> {
    let unknown = names.iter().filter(|name| !known.contains_key(*name));
    Some(unknown.cloned().collect::<Vec<_>>()).filter(|unknown| !unknown.is_empty())
}
