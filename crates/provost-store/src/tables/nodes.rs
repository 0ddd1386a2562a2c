//! What is remembered of nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::notice::Subscriptions;
use crate::sql::{Backend, Change, Row, Sql, Unreadable, values};
use crate::{
    Answer, Claim, Event, Lost, Node, NodeState, NodeStates, Notice, NoticeKind, Released,
    ReportedGenerations, Standing,
};

/// How many nodes that are due are looked at in one transaction, so that no report waits for it.
const DUE_BITE: usize = 1000;

impl<B: Backend> NodeStates for B {
    fn claim(&self, claim: Claim, at: Timestamp) -> Answer<'_, bool> {
        self.change((claim, at), |db, (claim, at)| Box::pin(accept(db, claim, *at)))
    }

    fn names(&self) -> Answer<'_, Vec<String>> {
        self.query((), |db, ()| {
            Box::pin(db.all("SELECT name FROM node ORDER BY name", [], Row::only))
        })
    }

    fn node<'a>(&'a self, name: &'a str) -> Answer<'a, Option<Node>> {
        self.query(name.to_owned(), |db, name| {
            Box::pin(async move { Ok(state(db, name).await?.map(|state| state.node())) })
        })
    }

    fn node_of_run<'a>(&'a self, run: &'a str) -> Answer<'a, Option<String>> {
        self.query(run.to_owned(), |db, run| {
            let select = "SELECT node FROM run WHERE run = $1 AND NOT pruned ORDER BY id LIMIT 1";
            Box::pin(db.first(select, values![run], Row::only))
        })
    }

    fn seen(&self) -> Answer<'_, Vec<(String, ReportedGenerations)>> {
        self.query((), |db, ()| {
            let seen =
                |row| state_of(row).map(|state| (state.name().to_owned(), state.seen().clone()));
            Box::pin(db.all("SELECT state FROM node ORDER BY name", [], seen))
        })
    }

    fn has_reported<'a>(&'a self, node: &'a str) -> Answer<'a, bool> {
        self.query(node.to_owned(), |db, node| {
            Box::pin(
                async move { Ok(state(db, node).await?.is_some_and(|state| state.has_reported())) },
            )
        })
    }

    fn standing<'a>(&'a self, node: &'a str, current: Option<&'a str>) -> Answer<'a, Standing> {
        self.query((node.to_owned(), current.map(str::to_owned)), |db, (node, current)| {
            Box::pin(async move {
                let state = state(db, node).await?;
                Ok(state.map(|state| state.standing(current.as_deref())).unwrap_or_default())
            })
        })
    }

    fn release(
        &self,
        nodes: Vec<String>,
        at: Timestamp,
    ) -> Answer<'_, Result<Vec<Released>, Vec<String>>> {
        self.change((nodes, at), |db, (nodes, at)| Box::pin(release(db, nodes, *at)))
    }

    fn note_boot_sent(&self, nodes: Vec<String>, at: Option<Timestamp>) -> Answer<'_, Vec<String>> {
        self.change((nodes, at), |db, (nodes, at)| {
            Box::pin(async {
                let mut states = db.lock_nodes(&strs(nodes)).await?;
                states.values_mut().for_each(|state| state.note_boot_sent(*at));
                db.save_nodes(&states).await?;
                Ok(states.into_keys().collect())
            })
        })
    }

    fn next_due(&self) -> Answer<'_, Option<Timestamp>> {
        self.query((), |db, ()| {
            let select = "SELECT min(due) FROM node WHERE due IS NOT NULL";
            Box::pin(async move { Ok(db.first(select, [], Row::only).await?.flatten()) })
        })
    }

    fn lose(&self, due: Timestamp, at: Timestamp) -> Answer<'_, Vec<Lost>> {
        Box::pin(async move {
            let mut lost = Vec::new();
            loop {
                let request = (Arc::clone(self.subscriptions()), due, at);
                let some = self.change(request, |db, (subscriptions, due, at)| {
                    Box::pin(lose_some(db, subscriptions, *due, *at))
                });
                let (more, looked_at) = some.await?;
                lost.extend(more);
                if looked_at < DUE_BITE {
                    return Ok(lost);
                }
            }
        })
    }

    fn restart_deadlines(&self, at: Timestamp) -> Answer<'_, ()> {
        self.change(at, |db, at| {
            Box::pin(async {
                let all = "SELECT name FROM node WHERE due IS NOT NULL";
                let names = db.all(all, [], Row::only::<String>).await?;
                let mut states = db.lock_nodes(&strs(&names)).await?;
                states.values_mut().for_each(|state| state.restart_deadlines(*at));
                db.save_due(&states).await
            })
        })
    }
}

async fn state<S: Sql>(db: &S, node: &str) -> Result<Option<NodeState>, S::Error> {
    db.first("SELECT state FROM node WHERE name = $1", values![node], state_of).await
}

fn state_of(row: Row) -> Result<NodeState, Unreadable> {
    Ok(serde_json::from_str(&row.only::<String>()?)?)
}

async fn accept<S: Change>(db: &S, claim: &Claim, at: Timestamp) -> Result<bool, S::Error> {
    let node = [&*claim.node];
    let mut states = db.lock_nodes(&node).await?;
    if states.is_empty() {
        db.add_nodes(&node, at).await?;
        states = db.lock_nodes(&node).await?;
    }
    let counts = states.values_mut().any(|state| state.claim(claim, at));
    if counts {
        db.save_nodes(&states).await?;
        db.announce(vec![Event::Claim(Arc::new(claim.clone()))]).await?;
    }
    Ok(counts)
}

fn strs(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

/// Returns also how many nodes were looked at: some of those that are due, if it is [`DUE_BITE`].
async fn lose_some<S: Change>(
    db: &S,
    subscriptions: &Subscriptions,
    due: Timestamp,
    at: Timestamp,
) -> Result<(Vec<Lost>, usize), S::Error> {
    let select = "SELECT name FROM node WHERE due <= $1 LIMIT $2";
    let names = db.all(select, values![due, DUE_BITE as i64], Row::only::<String>).await?;
    // Another daemon may have marked one meanwhile, and one may have reported since it was known to be due.
    let mut states = db.lock_nodes(&strs(&names)).await?;
    let overdue =
        states.iter_mut().filter_map(|(_, state)| state.lose(due, at).then(|| state.node()));
    let overdue: Vec<Node> = overdue.collect();
    db.save_due(&states).await?;
    let notice = |node: &Node| Notice::of(NoticeKind::Lost, node.clone(), at);
    db.add_notices(subscriptions, &overdue.iter().map(notice).collect::<Vec<_>>()).await?;
    let lost =
        |node: Node| Lost { node: node.name, stage: node.detail.stage, last_seen: node.last_seen };
    let lost: Vec<Lost> = overdue.into_iter().map(lost).collect();
    db.announce(lost.iter().map(|lost| Event::Lost(Arc::new(lost.clone()))).collect()).await?;
    Ok((lost, names.len()))
}

async fn release<S: Change>(
    db: &S,
    names: &[String],
    at: Timestamp,
) -> Result<Result<Vec<Released>, Vec<String>>, S::Error> {
    let mut states = match lock_all(db, names).await? {
        Ok(states) => states,
        Err(unknown) => return Ok(Err(unknown)),
    };
    let released = states.iter_mut().map(|(node, state)| (node.clone(), state.release(at)));
    let released: BTreeMap<String, u32> = released.collect();
    db.save_nodes(&states).await?;
    let shown = |node: &String| Released {
        attempts: released.get(node).copied().unwrap_or_default(),
        node: node.clone(),
    };
    Ok(Ok(names.iter().map(shown).collect()))
}

/// What is remembered of all `names`: `Err` has the unknown ones.
pub(super) async fn lock_all<S: Change>(
    db: &S,
    names: &[String],
) -> Result<Result<BTreeMap<String, NodeState>, Vec<String>>, S::Error> {
    let states = db.lock_nodes(&strs(names)).await?;
    let unknown: Vec<String> =
        names.iter().filter(|name| !states.contains_key(*name)).cloned().collect();
    Ok(if unknown.is_empty() { Ok(states) } else { Err(unknown) })
}

/// Removes nodes with all that is known of them. A key that was revoked stays so.
pub(crate) async fn remove<S: Change>(
    db: &S,
    names: &[String],
) -> Result<Result<(), Vec<String>>, S::Error> {
    if let Err(unknown) = lock_all(db, names).await? {
        return Ok(Err(unknown));
    }
    db.remove_records(names).await?;
    for delete in [
        "DELETE FROM run WHERE node = $1",
        "DELETE FROM step WHERE node = $1",
        "DELETE FROM token WHERE node = $1",
        "DELETE FROM identity WHERE node = $1 AND revoked IS NULL",
        "DELETE FROM enrolment_join WHERE node = $1",
        "DELETE FROM enrolment_window WHERE node = $1",
        "DELETE FROM enrolment_request WHERE node = $1",
        "DELETE FROM node WHERE name = $1",
    ] {
        db.each(delete, names.iter().map(|name| values![name]).collect()).await?;
    }
    db.change_owners();
    Ok(Ok(()))
}
