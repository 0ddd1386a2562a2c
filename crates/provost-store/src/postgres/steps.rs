//! How scripts ended last on each node.

use std::collections::BTreeMap;
use std::pin::pin;

use deadpool_postgres::Transaction;
use futures_util::TryStreamExt;

use super::connect::Database;
use super::error::Failure;
use crate::step::{Reporting, cause_of, ended};
use crate::{Report, ScriptReport, ScriptSummary, Step};

/// The names of all scripts: one look for each, however many nodes have run it.
const NAMES: &str = "WITH RECURSIVE name (script) AS (
     (SELECT script FROM step ORDER BY script LIMIT 1)
     UNION ALL
     SELECT (SELECT script FROM step WHERE script > name.script ORDER BY script LIMIT 1) FROM name
     WHERE script IS NOT NULL
 )
 SELECT script FROM name WHERE script IS NOT NULL";

/// The steps that some reports end: of a script on a node the last one.
#[derive(Default)]
pub(super) struct Steps<'r>(BTreeMap<(&'r str, &'r str), (i64, Option<&'static str>, i64)>);

impl<'r> Steps<'r> {
    /// Adds the end of a step, if `report` is of one. `bundle` is the generation that the node has.
    pub(super) fn add(&mut self, node: &'r str, report: &'r Report, bundle: u64) {
        let Some((script, ms, cause)) = ended(&report.record) else { return };
        let since = bundle.min(i64::MAX as u64) as i64;
        self.0.insert((script, node), (ms as i64, cause.map(|cause| cause.as_str()), since));
    }

    /// Stores them, in the order of their key, as every daemon does.
    pub(super) async fn save(&self, change: &Transaction<'_>) -> Result<(), Failure> {
        if self.0.is_empty() {
            return Ok(());
        }
        let (scripts, nodes): (Vec<&str>, Vec<&str>) = self.0.keys().copied().unzip();
        let times: Vec<i64> = self.0.values().map(|(ms, ..)| *ms).collect();
        let causes: Vec<Option<&str>> = self.0.values().map(|(_, cause, _)| *cause).collect();
        let since: Vec<i64> = self.0.values().map(|(.., since)| *since).collect();
        let insert = "INSERT INTO step AS known (script, node, ms, cause, since)
             SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::bigint[])
             ON CONFLICT (script, node) DO UPDATE SET ms = excluded.ms, cause = excluded.cause,
                 since = CASE WHEN (known.cause IS NULL) = (excluded.cause IS NULL)
                     THEN known.since ELSE excluded.since END";
        let insert = change.prepare_cached(insert).await?;
        change.execute(&insert, &[&scripts, &nodes, &times, &causes, &since]).await?;
        Ok(())
    }
}

/// Forgets nodes.
pub(super) async fn remove(change: &Transaction<'_>, nodes: &[String]) -> Result<(), Failure> {
    let delete = format!("DELETE FROM step WHERE node = ANY($1) AND script IN ({NAMES})");
    change.execute(&delete, &[&nodes]).await?;
    Ok(())
}

pub(super) async fn summaries(db: &Database) -> Result<Vec<ScriptSummary>, Failure> {
    let client = db.client().await?;
    let select = "SELECT script, count(*), count(cause) FROM step GROUP BY script ORDER BY script";
    let select = client.prepare_cached(select).await?;
    let summary = |row: &tokio_postgres::Row| {
        let number = |at| row.try_get::<_, i64>(at).map(i64::unsigned_abs);
        Ok(ScriptSummary { name: row.try_get(0)?, nodes: number(1)?, failed: number(2)? })
    };
    client.query(&select, &[]).await?.iter().map(summary).collect()
}

pub(super) async fn report(db: &Database, script: &str) -> Result<ScriptReport, Failure> {
    let client = db.client().await?;
    let select = "SELECT node, ms, cause, since FROM step WHERE script = $1";
    let select = client.prepare_cached(select).await?;
    let mut rows = pin!(client.query_raw(&select, [script]).await?);
    let mut reporting = Reporting::default();
    while let Some(row) = rows.try_next().await? {
        reporting.add(Step {
            node: row.try_get(0)?,
            ms: row.try_get::<_, i64>(1)?.unsigned_abs(),
            cause: cause_of(row.try_get(2)?),
            since: row.try_get::<_, i64>(3)?.unsigned_abs(),
        });
    }
    Ok(reporting.report())
}
