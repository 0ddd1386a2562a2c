//! Stores a batch of a node's records. The caller has the transaction, and commits it.

use std::sync::Arc;

use jiff::Timestamp;
use provost_record::Record;
use rusqlite::{Connection, OptionalExtension, params};

use super::nodes::{save, state_of};
use super::writer::Applied;
use super::{notices, records, steps};
use crate::fold::{Folded, Fresh, Incoming};
use crate::notice::Subscriptions;
use crate::packed::StoredSeqs;
use crate::quota::{OverQuota, RecordQuota};
use crate::step::StepOutcomes;
use crate::{Arrival, Arrivals, Event, Ingested, NodeState, Report};

/// Nothing is written of a batch that is over its node's quota.
pub(super) fn ingest(
    db: &Connection,
    node: &str,
    batch: &[Report],
    quota: RecordQuota,
    subscriptions: &Subscriptions,
    at: Timestamp,
) -> rusqlite::Result<Applied<Result<Ingested, OverQuota>>> {
    let mut state = state_of(db, node)?.unwrap_or_else(|| NodeState::new(node, at));
    let mut runs = Runs::of(db, node, batch)?;
    let mut ends = StepOutcomes::default();
    let incoming = Incoming { node, reports: batch, at };
    let folded = incoming.fold(&mut state, &mut ends, quota, |report| runs.fresh(&report.record));
    let Folded { ingested, fresh, runs: counts } = match folded {
        Ok(folded) => folded,
        Err(over) => return Ok(Applied::of(Err(over))),
    };
    runs.add(db, node, at, &fresh)?;
    steps::save(db, &ends, |run| runs.0[run].id)?;
    save(db, node, &state)?;
    notices::add(db, subscriptions, &ingested.notices)?;
    let mut arrival = Arrival::new(node);
    fresh.iter().for_each(|(_, report)| arrival.add(&report.record));
    let texts = fresh.iter().map(|(_, report)| Arc::from(report.json.clone())).collect();
    let came = || Event::Records(Arc::new(Arrivals::of(vec![arrival], texts)));
    let events = (ingested.fresh > 0).then(came).into_iter().collect();
    Ok(Applied { answer: Ok(ingested), events, changes_tokens: false, runs: Some((at, counts)) })
}

/// The runs that a batch is of.
struct Runs<'r>(Vec<OfRun<'r>>);

/// A run of a batch.
struct OfRun<'r> {
    name: &'r str,
    /// Its id, unless it is new.
    id: Option<i64>,
    /// Whether its records were removed: then none is stored again.
    is_pruned: bool,
    /// What is stored of it, and what comes.
    known: StoredSeqs,
    /// Whether nothing of it has been applied yet.
    is_new: bool,
}

impl<'r> Runs<'r> {
    /// Looks them up.
    fn of(db: &Connection, node: &str, batch: &'r [Report]) -> rusqlite::Result<Self> {
        let mut seqs = Vec::<(&str, u64, u64)>::new();
        for Report { record, .. } in batch {
            match seqs.iter_mut().find(|(name, ..)| *name == record.run) {
                Some((_, first, last)) => {
                    (*first, *last) = ((*first).min(record.seq), (*last).max(record.seq));
                }
                None => seqs.push((&record.run, record.seq, record.seq)),
            }
        }
        let mut find =
            db.prepare_cached("SELECT id, pruned FROM run WHERE node = ? AND run = ?")?;
        let mut runs = Vec::new();
        for (name, first, last) in seqs {
            let found: Option<(i64, bool)> =
                find.query_row([node, name], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            let (id, is_pruned) = found.unzip();
            let known = id.map(|id| records::known(db, id, first, last)).transpose()?;
            runs.push(OfRun {
                name,
                id,
                is_pruned: is_pruned.unwrap_or_default(),
                known: known.unwrap_or_default(),
                is_new: id.is_none(),
            });
        }
        Ok(Self(runs))
    }

    /// The place of a record's run, if the record is to be stored.
    fn fresh(&mut self, record: &Record) -> Option<Fresh<usize>> {
        let run = self.0.iter().position(|of| of.name == record.run)?;
        let of = &mut self.0[run];
        let is_fresh = !of.is_pruned && of.known.add(record.seq);
        is_fresh.then(|| Fresh { run, is_first: std::mem::take(&mut of.is_new) })
    }

    /// Stores what isn't.
    fn add(
        &mut self,
        db: &Connection,
        node: &str,
        at: Timestamp,
        fresh: &[(usize, &Report)],
    ) -> rusqlite::Result<()> {
        for (run, of) in self.0.iter_mut().enumerate() {
            let mine = fresh.iter().filter(|(its, _)| *its == run);
            let mine: Vec<&Report> = mine.map(|(_, report)| *report).collect();
            if mine.is_empty() {
                continue;
            }
            let id = match of.id {
                Some(id) => id,
                None => {
                    db.prepare_cached("INSERT INTO run (node, run, began) VALUES (?, ?, ?)")?
                        .execute(params![node, of.name, at.as_millisecond()])?;
                    *of.id.insert(db.last_insert_rowid())
                }
            };
            records::add(db, id, &mine)?;
        }
        Ok(())
    }
}
