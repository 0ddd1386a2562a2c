//! Uploaded logs are rows: all daemons have them.

use super::connect::Database;
use super::error::Failure;
use crate::UploadedLog;
use crate::quota::{OverQuota, Quota};
use crate::store::is_file_name;

/// What a log counts at least, in bytes, as it does where it is a file.
const SMALLEST: i64 = 64 * 1024;
/// Seconds of an hour.
const HOUR: i64 = 3600;

pub(super) async fn put(
    db: &Database,
    node: &str,
    log: &UploadedLog,
    bytes: &[u8],
    quota: Quota,
) -> Result<Result<(), OverQuota>, Failure> {
    for name in [node, &log.run, &log.name] {
        if !is_file_name(name) {
            return Err(Failure::Refused(format!("{name:?} isn't a file name")));
        }
    }
    let mut client = db.client().await?;
    let change = client.transaction().await?;
    // Logs of one node at the same time can't exceed its quota together.
    change.execute("SELECT pg_advisory_xact_lock(hashtext('log'), hashtext($1))", &[&node]).await?;
    let select = "WITH counted AS (
             SELECT greatest(octet_length(bytes), $4) AS bytes,
                 extract(epoch FROM clock_timestamp() - at)::bigint AS age
             FROM log WHERE node = $1 AND (run, name) <> ($2, $3)
         )
         SELECT coalesce(sum(bytes), 0)::bigint,
             coalesce(sum(bytes) FILTER (WHERE age < $5), 0)::bigint,
             coalesce(max(age) FILTER (WHERE age < $5), 0)
         FROM counted";
    let used =
        change.query_one(select, &[&node, &log.run, &log.name, &(SMALLEST as i32), &HOUR]).await?;
    let (all, in_hour, oldest): (i64, i64, i64) =
        (used.try_get(0)?, used.try_get(1)?, used.try_get(2)?);
    let counted = (bytes.len() as i64).max(SMALLEST);
    let sum = |used: i64| (used + counted).unsigned_abs();
    if let Err(over) = quota.check(sum(in_hour), sum(all), (HOUR - oldest).max(0).unsigned_abs()) {
        return Ok(Err(over));
    }
    let insert = "INSERT INTO log (node, run, name, bytes) VALUES ($1, $2, $3, $4)
         ON CONFLICT (node, run, name) DO UPDATE SET bytes = excluded.bytes, at = excluded.at";
    change.execute(insert, &[&node, &log.run, &log.name, &bytes]).await?;
    change.commit().await?;
    Ok(Ok(()))
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
