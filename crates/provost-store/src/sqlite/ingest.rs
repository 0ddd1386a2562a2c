//! Stores a batch of a node's records. The caller has the transaction, and commits it.

use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::changes::{save, state_of};
use super::writer::Applied;
use super::{notices, records, steps};
use crate::notice::Subscriptions;
use crate::packed::Known;
use crate::quota::{OverQuota, Quota};
use crate::step::Ends;
use crate::{Arrival, Arrivals, Event, Ingested, MAX_SEQ, NodeState, Report};

/// Nothing is written of a batch that is over its node's quota.
pub(super) fn ingest(
    db: &Connection,
    node: &str,
    batch: &[Report],
    quota: Quota,
    subscriptions: &Subscriptions,
    at: Timestamp,
) -> rusqlite::Result<Applied<Result<Ingested, OverQuota>>> {
    let mut state = state_of(db, node)?.unwrap_or_else(|| NodeState::new(node, at));
    let (mut runs, mut ingested) = (Vec::<OfRun>::new(), Ingested::default());
    let (mut arrival, mut texts) = (Arrival::new(node), Vec::new());
    let came = Report::came(batch, at);
    let mut bytes = 0;
    for report in batch {
        let record = &report.record;
        let index = runs.iter().position(|of| of.name == record.run);
        let of = match index {
            Some(index) => &mut runs[index],
            None => {
                runs.push(OfRun::find(db, node, &record.run, batch)?);
                let last = runs.len() - 1;
                &mut runs[last]
            }
        };
        if !of.is_pruned && of.known.add(record.seq) {
            let is_first = of.id.is_none() && of.fresh.is_empty();
            let kind = state.apply(record, is_first.then_some(came));
            let notice = kind.map(|kind| state.notice(kind, &record.run, at));
            ingested.notices.extend(notice);
            arrival.add(record);
            texts.push(Arc::from(report.json.clone()));
            bytes += report.json.get().len() as u64;
            of.fresh.push(report);
            of.bundle = state.seen().bundle;
            ingested.fresh += 1;
        } else {
            ingested.repeats += 1;
        }
        state.heard(&record.run, report.sent.as_ref(), at);
    }
    if let Err(over) = state.records.add(bytes, quota, at) {
        return Ok(Applied::of(Err(over)));
    }
    let mut ends = Ends::default();
    for of in &runs {
        of.add(db, node, at, &mut ends)?;
    }
    steps::save(db, &ends)?;
    save(db, node, &state)?;
    notices::add(db, subscriptions, &ingested.notices)?;
    ingested.standing = state.standing(batch.last().map(|report| report.record.run.as_str()));
    ingested.due = state.due();
    let came = || Event::Records(Arc::new(Arrivals::of(vec![arrival], texts)));
    let events = (ingested.fresh > 0).then(came).into_iter().collect();
    Ok(Applied { answer: Ok(ingested), events, changes_tokens: false })
}

/// A run of a batch.
struct OfRun<'r> {
    name: &'r str,
    /// Its id, unless it is new.
    id: Option<i64>,
    /// Whether its records were removed: then none is stored again.
    is_pruned: bool,
    /// What is stored of it.
    known: Known,
    /// What isn't.
    fresh: Vec<&'r Report>,
    /// The generation of the bundle that the node has then.
    bundle: u64,
}

impl<'r> OfRun<'r> {
    fn find(
        db: &Connection,
        node: &str,
        name: &'r str,
        batch: &[Report],
    ) -> rusqlite::Result<Self> {
        let seqs = batch.iter().filter(|report| report.record.run == name);
        let seqs = seqs.map(|report| report.record.seq);
        let (first, last) =
            seqs.fold((MAX_SEQ, 0), |(first, last), seq| (first.min(seq), last.max(seq)));
        let found: Option<(i64, bool)> = db
            .prepare_cached("SELECT id, pruned FROM run WHERE node = ? AND run = ?")?
            .query_row([node, name], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let (id, is_pruned) = found.unzip();
        let known =
            id.map(|id| records::known(db, id, first, last)).transpose()?.unwrap_or_default();
        let is_pruned = is_pruned.unwrap_or_default();
        Ok(Self { name, id, is_pruned, known, fresh: Vec::new(), bundle: 0 })
    }

    /// Stores what isn't.
    fn add(
        &self,
        db: &Connection,
        node: &'r str,
        at: Timestamp,
        ends: &mut Ends<'r>,
    ) -> rusqlite::Result<()> {
        if self.fresh.is_empty() {
            return Ok(());
        }
        let id = match self.id {
            Some(id) => id,
            None => {
                db.prepare_cached("INSERT INTO run (node, run, began) VALUES (?, ?, ?)")?
                    .execute(params![node, self.name, at.as_millisecond()])?;
                db.last_insert_rowid()
            }
        };
        for report in &self.fresh {
            ends.add(node, &report.record, self.bundle, id);
        }
        records::add(db, id, &self.fresh)
    }
}
