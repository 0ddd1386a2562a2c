//! Uploaded logs are rows: all daemons have them.

use deadpool_postgres::Transaction;
use provost_api::LogKind;
use tokio_postgres::Row;

use super::connect::Database;
use super::error::Failure;
use crate::quota::{LogUsage, OverQuota, Quota, Removable, SMALLEST_LOG};
use crate::retention::OldRun;
use crate::store::is_file_name;
use crate::{Pruned, UploadedLog};

/// Seconds of an hour.
const HOUR: i64 = 3600;

pub(super) async fn put(
    db: &Database,
    node: &str,
    log: &UploadedLog,
    kind: LogKind,
    bytes: &[u8],
    quota: Quota,
) -> Result<Result<Pruned, OverQuota>, Failure> {
    for name in [node, &log.run, &log.name] {
        if !is_file_name(name) {
            return Err(Failure::Refused(format!("{name:?} isn't a file name")));
        }
    }
    let mut client = db.client().await?;
    let change = client.transaction().await?;
    // Logs of one node at the same time can't exceed its quota together.
    change.execute("SELECT pg_advisory_xact_lock(hashtext('log'), hashtext($1))", &[&node]).await?;
    let usage = usage(&change, node, log, bytes.len() as u64).await?;
    let oldest = match quota.check(usage.in_hour, usage.all, usage.left) {
        Ok(()) => Vec::new(),
        Err(_) => removable(&change, node, log).await?,
    };
    let gone = match quota.make_room(usage, oldest) {
        Ok(gone) => gone,
        Err(over) => return Ok(Err(over)),
    };
    let mut removed = Pruned::default();
    for (run, name, bytes) in gone {
        let delete = "DELETE FROM log WHERE node = $1 AND run = $2 AND name = $3";
        let logs = change.execute(delete, &[&node, &run, &name]).await?;
        removed += Pruned { logs, log_bytes: bytes, ..Pruned::default() };
    }
    let insert = "INSERT INTO log (node, run, name, success, bytes) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (node, run, name) DO UPDATE
         SET bytes = excluded.bytes, at = excluded.at, success = excluded.success";
    let success = kind == LogKind::Success;
    change.execute(insert, &[&node, &log.run, &log.name, &success, &bytes]).await?;
    change.commit().await?;
    Ok(Ok(removed))
}

/// What a node's logs take, with `log` of `bytes` bytes.
async fn usage(
    client: &Transaction<'_>,
    node: &str,
    log: &UploadedLog,
    bytes: u64,
) -> Result<LogUsage, Failure> {
    let select = "WITH counted AS (
             SELECT greatest(octet_length(bytes), $4) AS bytes,
                 extract(epoch FROM clock_timestamp() - at)::bigint AS age
             FROM log WHERE node = $1 AND (run, name) <> ($2, $3)
         )
         SELECT coalesce(sum(bytes), 0)::bigint,
             coalesce(sum(bytes) FILTER (WHERE age < $5), 0)::bigint,
             coalesce(max(age) FILTER (WHERE age < $5), 0)
         FROM counted";
    let smallest = SMALLEST_LOG as i32;
    let used = client.query_one(select, &[&node, &log.run, &log.name, &smallest, &HOUR]).await?;
    let (all, in_hour, oldest): (i64, i64, i64) =
        (used.try_get(0)?, used.try_get(1)?, used.try_get(2)?);
    let sum = |used: i64| used.unsigned_abs() + bytes.max(SMALLEST_LOG);
    let left = (HOUR - oldest).max(0).unsigned_abs();
    Ok(LogUsage { in_hour: sum(in_hour), all: sum(all), left })
}

/// The node's logs of successful steps but for `log`, the oldest first: each by its run, its name and its size.
async fn removable(
    client: &Transaction<'_>,
    node: &str,
    log: &UploadedLog,
) -> Result<Vec<Removable<(String, String, u64)>>, Failure> {
    let select = "SELECT run, name, octet_length(bytes)::bigint,
             extract(epoch FROM clock_timestamp() - at)::bigint < $4
         FROM log WHERE node = $1 AND (run, name) <> ($2, $3) AND success ORDER BY at, run";
    let rows = client.query(select, &[&node, &log.run, &log.name, &HOUR]).await?;
    let removable = |row: Row| {
        let bytes = row.try_get::<_, i64>(2)?.unsigned_abs();
        let key = (row.try_get(0)?, row.try_get(1)?, bytes);
        Ok(Removable { key, bytes: bytes.max(SMALLEST_LOG), in_hour: row.try_get(3)? })
    };
    rows.into_iter().map(removable).collect()
}

pub(super) async fn list(db: &Database, node: &str) -> Result<Vec<UploadedLog>, Failure> {
    let client = db.client().await?;
    let select = "SELECT run, name FROM log WHERE node = $1 ORDER BY run, name";
    let rows = client.query(select, &[&node]).await?;
    rows.iter().map(|row| Ok(UploadedLog { run: row.try_get(0)?, name: row.try_get(1)? })).collect()
}

pub(super) async fn get(
    db: &Database,
    node: &str,
    log: &UploadedLog,
) -> Result<Option<Vec<u8>>, Failure> {
    let client = db.client().await?;
    let select = "SELECT bytes FROM log WHERE node = $1 AND run = $2 AND name = $3";
    let row = client.query_opt(select, &[&node, &log.run, &log.name]).await?;
    row.map(|row| Ok(row.try_get(0)?)).transpose()
}

/// Counts the logs of `runs`, and those that were written before `oldest`, in milliseconds of Unix time.
pub(super) async fn count_old(
    db: &Database,
    runs: &[OldRun],
    oldest: Option<i64>,
) -> Result<Pruned, Failure> {
    let select = "SELECT count(*), coalesce(sum(octet_length(bytes)), 0)::bigint FROM log
         WHERE (node, run) IN (SELECT * FROM unnest($1::text[], $2::text[]))
             OR at < to_timestamp($3::bigint / 1000)";
    let (nodes, runs) = names(runs);
    let row = db.client().await?.query_one(select, &[&nodes, &runs, &oldest]).await?;
    let number = |at| row.try_get::<_, i64>(at).map(i64::unsigned_abs);
    Ok(Pruned { logs: number(0)?, log_bytes: number(1)?, ..Pruned::default() })
}

/// Removes them.
pub(super) async fn remove_old(
    db: &Database,
    runs: &[OldRun],
    oldest: Option<i64>,
) -> Result<Pruned, Failure> {
    let of_runs = "DELETE FROM log USING unnest($1::text[], $2::text[]) AS old (node, run)
         WHERE log.node = old.node AND log.run = old.run
         RETURNING octet_length(bytes)::bigint";
    let before = "DELETE FROM log WHERE at < to_timestamp($1::bigint / 1000)
         RETURNING octet_length(bytes)::bigint";
    let (nodes, runs) = names(runs);
    let client = db.client().await?;
    let mut rows = client.query(of_runs, &[&nodes, &runs]).await?;
    rows.extend(client.query(before, &[&oldest]).await?);
    let mut all = Pruned { logs: rows.len() as u64, ..Pruned::default() };
    for row in rows {
        all.log_bytes += row.try_get::<_, i64>(0)?.unsigned_abs();
    }
    Ok(all)
}

/// The nodes of these runs, and their own names.
fn names(runs: &[OldRun]) -> (Vec<&str>, Vec<&str>) {
    runs.iter().map(|old| (old.node.as_str(), old.run.as_str())).unzip()
}
