//! Batches of many nodes, stored in one transaction by a few statements of many rows each.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use deadpool_postgres::Transaction;

use super::batch::Batch;
use super::connect::Database;
use super::error::Failure;
use super::events::notify;
use super::note::{Note, RecordRange};
use super::{history, nodes, notices, records, steps};
use crate::fold::{Fresh, Incoming};
use crate::history::RunsByMinute;
use crate::packed::StoredSeqs;
use crate::quota::{OverQuota, RecordQuota};
use crate::step::StepOutcomes;
use crate::{Ingested, MAX_SEQ, Report};

/// Stores `batches`, each whole unless its node is over its quota.
pub(super) async fn ingest(
    database: &Database,
    quota: RecordQuota,
    batches: &[Batch],
) -> Result<Vec<Result<Ingested, OverQuota>>, Failure> {
    if let Some(seq) = batches.iter().flat_map(Batch::seqs).find(|seq| *seq > MAX_SEQ) {
        return Err(Failure::Refused(format!("the seq {seq} is greater than {MAX_SEQ}")));
    }
    let mut refused = BTreeMap::<usize, OverQuota>::new();
    let mut client = database.client().await?;
    loop {
        let change = client.transaction().await?;
        let rest = batches.iter().enumerate().filter(|(index, _)| !refused.contains_key(index));
        let (mut stored, more) = store(&change, quota, &rest.collect::<Vec<_>>()).await?;
        if !more.is_empty() {
            // Without these, what the others may store is the same.
            change.rollback().await?;
            refused.extend(more);
            continue;
        }
        let told = stored.values().flat_map(|ingested: &Ingested| &ingested.notices);
        notices::add(&change, &database.subscriptions, told).await?;
        change.commit().await?;
        let outcome = |index| match refused.remove(&index) {
            Some(over) => Err(over),
            None => Ok(stored.remove(&index).unwrap_or_default()),
        };
        return Ok((0..batches.len()).map(outcome).collect());
    }
}

type Stored = BTreeMap<usize, Ingested>;
type Refused = BTreeMap<usize, OverQuota>;

/// Stores batches, each with its index. Returns also which can't be stored; then nothing counts.
async fn store(
    change: &Transaction<'_>,
    quota: RecordQuota,
    batches: &[(usize, &Batch)],
) -> Result<(Stored, Refused), Failure> {
    let (mut stored, mut refused) = (Stored::new(), Refused::new());
    let Some((_, first)) = batches.first() else { return Ok((stored, refused)) };
    let names: BTreeSet<&str> = batches.iter().map(|(_, batch)| &*batch.node).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let mut states = nodes::lock_or_add(change, &names, first.at).await?;
    let mut runs = Runs::of(change, batches).await?;
    let (mut parts, mut ends) = (Vec::new(), StepOutcomes::default());
    let mut runs_by_minute = RunsByMinute::default();
    let mut fresh = Vec::<(i64, Vec<&Report>)>::new();
    for (index, batch) in batches {
        let Some(state) = states.get_mut(&batch.node) else { continue };
        let incoming = Incoming { node: &batch.node, reports: &batch.reports, at: batch.at };
        let folded =
            incoming.fold(state, &mut ends, quota, |report| runs.fresh(&batch.node, report));
        let folded = match folded {
            Ok(folded) => folded,
            Err(over) => {
                refused.insert(*index, over);
                continue;
            }
        };
        runs_by_minute.add(batch.at, &folded.runs);
        for (id, report) in folded.fresh {
            match fresh.last_mut().filter(|(of, _)| *of == id) {
                Some((_, reports)) => reports.push(report),
                None => fresh.push((id, vec![report])),
            }
            RecordRange::add_record(&mut parts, &batch.node, id, &report.record);
        }
        stored.insert(*index, folded.ingested);
    }
    if refused.is_empty() {
        let notes = Note::of(parts);
        // Sent one after the other, without waiting for answers.
        tokio::try_join!(
            records::add(change, &fresh),
            nodes::save(change, states.iter().map(|(name, state)| (&**name, state))),
            steps::save(change, &ends),
            history::add(change, &runs_by_minute),
            notify(change, &notes),
        )?;
    }
    Ok((stored, refused))
}

/// The runs that batches are of.
#[derive(Default)]
struct Runs {
    /// Their ids, by node and by run.
    ids: HashMap<String, HashMap<String, i64>>,
    /// Those of which no record has been applied yet.
    new: HashSet<i64>,
    /// Those whose records were removed: none is stored again.
    pruned: HashSet<i64>,
    /// What is stored of them.
    known: HashMap<i64, StoredSeqs>,
}

impl Runs {
    /// Looks them up, and adds those that are new. Their nodes are locked, so that nobody else adds
    /// them.
    async fn of(change: &Transaction<'_>, batches: &[(usize, &Batch)]) -> Result<Self, Failure> {
        let (mut nodes, mut names) = (Vec::<&str>::new(), Vec::<&str>::new());
        // The first and the last seq of each.
        let mut seqs = HashMap::<(&str, &str), (u64, u64)>::new();
        for (_, batch) in batches {
            for Report { record, .. } in &batch.reports {
                let (first, last) = seqs.entry((&batch.node, &record.run)).or_insert_with(|| {
                    nodes.push(&batch.node);
                    names.push(&record.run);
                    (record.seq, record.seq)
                });
                (*first, *last) = ((*first).min(record.seq), (*last).max(record.seq));
            }
        }
        // Each by the index (LATERAL, LIMIT), however few runs the planner believes there are: it counts them
        // once a minute, and a storm adds thousands meanwhile.
        let select = "WITH named AS (
                 SELECT id, node, run, pruned, n
                 FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS named (node, run, n)
                 LEFT JOIN LATERAL (
                     SELECT id, pruned FROM run WHERE (run.node, run.run) = (named.node, named.run) LIMIT 1
                 ) AS known ON true
             ), added AS (
                 INSERT INTO run (node, run, began)
                 SELECT node, run, $3 FROM named WHERE id IS NULL ORDER BY n
                 RETURNING id, node, run
             )
             SELECT id, node, run, true, false FROM added
             UNION ALL
             SELECT id, node, run, false, pruned FROM named WHERE id IS NOT NULL";
        let select = change.prepare_cached(select).await?;
        let began = batches.first().map_or(0, |(_, batch)| batch.at.as_millisecond());
        let mut runs = Self::default();
        let mut wanted = Vec::new();
        for row in change.query(&select, &[&nodes, &names, &began]).await? {
            let id: i64 = row.try_get(0)?;
            runs.ids.entry(row.try_get(1)?).or_default().insert(row.try_get(2)?, id);
            let seqs = seqs.get(&(row.try_get(1)?, row.try_get(2)?));
            if row.try_get(3)? {
                runs.new.insert(id);
            } else if row.try_get(4)? {
                runs.pruned.insert(id);
            } else {
                wanted.extend(seqs.map(|seqs| (id, *seqs)));
            }
        }
        runs.known = records::known(change, &wanted).await?;
        Ok(runs)
    }

    /// The run of a record, if the record is to be stored. All runs were looked up.
    fn fresh(&mut self, node: &str, report: &Report) -> Option<Fresh<i64>> {
        let run = *self.ids.get(node)?.get(&report.record.run)?;
        let is_fresh = !self.pruned.contains(&run)
            && self.known.entry(run).or_default().add(report.record.seq);
        is_fresh.then(|| Fresh { run, is_first: self.new.remove(&run) })
    }
}
