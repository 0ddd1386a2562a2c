//! The rows of runs' records.

use std::collections::HashMap;

use deadpool_postgres::Transaction;
use tokio_postgres::Row;

use super::error::Failure;
use crate::Report;
use crate::packed::{StoredSeqs, Texts, pack, unpack};

/// Which records of runs are stored, at least from the first to the last seq of each.
pub(super) async fn known(
    change: &Transaction<'_>,
    wanted: &[(i64, (u64, u64))],
) -> Result<HashMap<i64, StoredSeqs>, Failure> {
    let mut known = HashMap::<i64, StoredSeqs>::new();
    if wanted.is_empty() {
        return Ok(known);
    }
    let runs: Vec<i64> = wanted.iter().map(|(run, _)| *run).collect();
    let firsts: Vec<i32> = wanted.iter().map(|(_, (first, _))| *first as i32).collect();
    let lasts: Vec<i32> = wanted.iter().map(|(_, (_, last))| *last as i32).collect();
    let select = "SELECT record.run, record.seq, record.last
         FROM unnest($1::bigint[], $2::integer[], $3::integer[]) AS t (run, first, last)
         JOIN record ON record.run = t.run AND record.seq <= t.last AND record.seq >= coalesce((
             SELECT before.seq FROM record AS before WHERE before.run = t.run AND before.seq <= t.first
             ORDER BY before.seq DESC LIMIT 1), t.first)";
    let select = change.prepare_cached(select).await?;
    for row in change.query(&select, &[&runs, &firsts, &lasts]).await? {
        let seq = |at| row.try_get::<_, i32>(at).map(|seq| u64::from(seq.unsigned_abs()));
        known.entry(row.try_get(0)?).or_default().add_range(seq(1)?, seq(2)?);
    }
    Ok(known)
}

/// Stores records that aren't: of each run, by its id, some.
pub(super) async fn add(
    change: &Transaction<'_>,
    fresh: &[(i64, Vec<&Report>)],
) -> Result<(), Failure> {
    let (mut runs, mut firsts, mut lasts) = (Vec::new(), Vec::new(), Vec::new());
    let (mut bytes, mut bodies) = (Vec::new(), Vec::new());
    for (run, reports) in fresh {
        for row in pack(reports.iter().map(|report| (report.record.seq, report.json.get())))? {
            runs.push(*run);
            firsts.push(row.first as i32);
            lasts.push(row.last as i32);
            bytes.push(row.bytes as i64);
            bodies.push(row.body);
        }
    }
    if runs.is_empty() {
        return Ok(());
    }
    let insert = "INSERT INTO record (run, seq, last, bytes, body)
         SELECT * FROM unnest($1::bigint[], $2::integer[], $3::integer[], $4::bigint[], $5::bytea[])";
    let insert = change.prepare_cached(insert).await?;
    change.execute(&insert, &[&runs, &firsts, &lasts, &bytes, &bodies]).await?;
    Ok(())
}

/// The texts of a row's records, by its columns `bytes` and `body`, the first of which is that column.
pub(super) fn texts(row: &Row, bytes: usize) -> Result<Texts, Failure> {
    let length = row.try_get::<_, i64>(bytes)?.unsigned_abs();
    Ok(unpack(row.try_get(bytes + 1)?, length)?)
}
