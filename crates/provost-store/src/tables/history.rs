//! The points of the history, and what is still to be added to them.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::history::{Durations, HistoryScale, RunCounts};
use crate::sql::{Backend, Change, Lock, Row, Sql, Unreadable, Value, values};
use crate::{
    Answer, HistoryPoint, HistorySeries, HistoryStore, NodesByStatus, Notice, Storm, StormResult,
};

/// How many rows are added to the points in one transaction: no report waits for more.
const SOME: i64 = 5_000;

impl<B: Backend> HistoryStore for B {
    fn fold_history(&self, at: Timestamp) -> Answer<'_, ()> {
        Box::pin(async move {
            while self.change(at, |db, at| Box::pin(fold(db, *at))).await? {}
            Ok(())
        })
    }

    fn note_nodes(&self, nodes: NodesByStatus, at: Timestamp) -> Answer<'_, ()> {
        self.change((nodes, at), |db, (nodes, at)| Box::pin(note_nodes(db, nodes, *at)))
    }

    fn nodes_noted(&self) -> Answer<'_, Option<(Timestamp, NodesByStatus)>> {
        self.query((), |db, ()| {
            let select = "SELECT at, nodes FROM history WHERE step = $1 AND nodes IS NOT NULL
                 ORDER BY at DESC LIMIT 1";
            Box::pin(db.first(select, values![HistoryScale::Minute.seconds()], noted))
        })
    }

    fn history(&self, scale: HistoryScale, since: Timestamp) -> Answer<'_, HistorySeries> {
        self.query((scale, scale.begin(since)), |db, (scale, since)| {
            Box::pin(series(db, *scale, *since))
        })
    }
}

fn noted(row: Row) -> Result<(Timestamp, NodesByStatus), Unreadable> {
    let [at, nodes] = row.columns()?;
    Ok((at.get()?, serde_json::from_str(&nodes.get::<String>()?)?))
}

fn runs([began, succeeded, failed, boots]: [Value; 4]) -> Result<RunCounts, Unreadable> {
    let boots: String = boots.get()?;
    Ok(RunCounts {
        began: began.get()?,
        succeeded: succeeded.get()?,
        failed: failed.get()?,
        boots: boots.parse::<Durations>().map_err(Unreadable::new)?,
    })
}

fn part(row: Row) -> Result<(Timestamp, RunCounts), Unreadable> {
    let [at, began, succeeded, failed, boots] = row.columns()?;
    Ok((at.get()?, runs([began, succeeded, failed, boots])?))
}

fn point(row: Row) -> Result<HistoryPoint, Unreadable> {
    let [at, began, succeeded, failed, boots, nodes] = row.columns()?;
    let nodes: Option<String> = nodes.get()?;
    let nodes = nodes.map(|text| serde_json::from_str(&text)).transpose()?;
    Ok(HistoryPoint { at: at.get()?, runs: runs([began, succeeded, failed, boots])?, nodes })
}

fn storm(row: Row) -> Result<StormResult, Unreadable> {
    let [began, ended, nodes, succeeded, failed, lost] = row.columns()?;
    let storm = Storm {
        began: began.get()?,
        nodes: nodes.get()?,
        succeeded: succeeded.get()?,
        failed: failed.get()?,
        lost: lost.get()?,
    };
    Ok(StormResult { storm, ended: ended.get()? })
}

/// Adds some of what happened to the points, and forgets what is too old. Returns whether there may be more.
async fn fold<C: Change>(db: &C, at: Timestamp) -> Result<bool, C::Error> {
    // A point is read before it is written.
    db.lock(Lock::History).await?;
    let take = "DELETE FROM history_part WHERE id IN (
             SELECT id FROM history_part ORDER BY id LIMIT $1)
         RETURNING at, began, succeeded, failed, boots";
    let parts = db.all(take, values![SOME], part).await?;
    let mut points = BTreeMap::<(HistoryScale, Timestamp), RunCounts>::new();
    for (at, runs) in &parts {
        for scale in HistoryScale::ALL {
            points.entry((scale, scale.begin(*at))).or_default().add(runs);
        }
    }
    for ((scale, begin), mut runs) in points {
        let select = "SELECT at, began, succeeded, failed, boots FROM history
             WHERE step = $1 AND at = $2";
        let before = db.first(select, values![scale.seconds(), begin], part).await?;
        if let Some((_, before)) = before {
            runs.add(&before);
        }
        let save = "INSERT INTO history (step, at, began, succeeded, failed, boots)
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (step, at) DO UPDATE SET
             began = excluded.began, succeeded = excluded.succeeded, failed = excluded.failed,
             boots = excluded.boots";
        let numbers = [runs.began, runs.succeeded, runs.failed].map(|n| n as i64);
        let [began, succeeded, failed] = numbers;
        let boots = runs.boots.to_string();
        let row = values![scale.seconds(), begin, began, succeeded, failed, boots];
        db.execute(save, row).await?;
    }
    for scale in HistoryScale::ALL {
        let oldest = at.checked_sub(scale.age()).unwrap_or(Timestamp::MIN);
        let forget = "DELETE FROM history WHERE step = $1 AND at < $2";
        db.execute(forget, values![scale.seconds(), oldest]).await?;
        if scale == HistoryScale::Hour {
            db.execute("DELETE FROM storm_result WHERE ended < $1", values![oldest]).await?;
        }
    }
    Ok(parts.len() as i64 == SOME)
}

async fn note_nodes<C: Change>(
    db: &C,
    nodes: &NodesByStatus,
    at: Timestamp,
) -> Result<(), C::Error> {
    db.lock(Lock::History).await?;
    let text = serde_json::to_string(nodes).map_err(Unreadable::from)?;
    for scale in HistoryScale::ALL {
        let save = "INSERT INTO history (step, at, began, succeeded, failed, boots, nodes)
             VALUES ($1, $2, 0, 0, 0, '', $3)
             ON CONFLICT (step, at) DO UPDATE SET nodes = excluded.nodes";
        db.execute(save, values![scale.seconds(), scale.begin(at), &text]).await?;
    }
    Ok(())
}

async fn series<S: Sql>(
    db: &S,
    scale: HistoryScale,
    since: Timestamp,
) -> Result<HistorySeries, S::Error> {
    let select = "SELECT at, began, succeeded, failed, boots, nodes FROM history
         WHERE step = $1 AND at >= $2 ORDER BY at";
    let stored = db.all(select, values![scale.seconds(), since], point).await?;
    let mut points: BTreeMap<Timestamp, HistoryPoint> =
        stored.into_iter().map(|point| (point.at, point)).collect();
    let select = "SELECT at, began, succeeded, failed, boots FROM history_part WHERE at >= $1";
    for (at, runs) in db.all(select, values![since], part).await? {
        let at = scale.begin(at);
        let new = || HistoryPoint { at, runs: RunCounts::default(), nodes: None };
        points.entry(at).or_insert_with(new).runs.add(&runs);
    }
    // Hours are kept for longer than minutes, and have the last number of each.
    let select = "SELECT at, nodes FROM history WHERE step = $1 AND at < $2 AND nodes IS NOT NULL
         ORDER BY at DESC LIMIT 1";
    let hour = HistoryScale::Hour;
    let before = match db.first(select, values![scale.seconds(), since], noted).await? {
        Some(before) => Some(before),
        None => db.first(select, values![hour.seconds(), hour.begin(since)], noted).await?,
    };
    let select = "SELECT began, ended, nodes, succeeded, failed, lost FROM storm_result
         WHERE ended >= $1 ORDER BY ended";
    Ok(HistorySeries {
        points: points.into_values().collect(),
        nodes_before: before.map(|(_, nodes)| nodes),
        storms: db.all(select, values![since], storm).await?,
    })
}

/// Keeps the result of the storm that `notice` tells of.
pub(super) async fn end_storm<C: Change>(db: &C, notice: &Notice) -> Result<(), C::Error> {
    let Some(storm) = &notice.storm else { return Ok(()) };
    let insert = "INSERT INTO storm_result (began, ended, nodes, succeeded, failed, lost)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
    let numbers = [storm.nodes, storm.succeeded, storm.failed, storm.lost].map(|n| n as i64);
    let [nodes, succeeded, failed, lost] = numbers;
    let row = values![storm.began, notice.at, nodes, succeeded, failed, lost];
    db.execute(insert, row).await.map(drop)
}
