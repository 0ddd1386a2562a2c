//! How scripts ended last on each node.

use deadpool_postgres::Transaction;

use super::connect::Database;
use super::error::Failure;
use crate::ScriptSummary;
use crate::step::StepOutcomes;
use provost_api::Cause;

/// Notes how steps ended, in the order of their key, as every daemon does.
pub(super) async fn save(
    change: &Transaction<'_>,
    ends: &StepOutcomes<'_, i64>,
) -> Result<(), Failure> {
    if ends.0.is_empty() {
        return Ok(());
    }
    let changed = ends.0.iter().filter(|(_, end)| end.is_change).map(|(key, _)| *key);
    let (nodes, scripts): (Vec<&str>, Vec<&str>) = changed.unzip();
    if !nodes.is_empty() {
        let forget = "DELETE FROM step USING unnest($1::text[], $2::text[]) AS old (node, script)
             WHERE (step.node, step.script) = (old.node, old.script)";
        let forget = change.prepare_cached(forget).await?;
        change.execute(&forget, &[&nodes, &scripts]).await?;
    }
    let (nodes, scripts): (Vec<&str>, Vec<&str>) = ends.0.keys().copied().unzip();
    let ends = ends.0.values();
    let times: Vec<i64> = ends.clone().map(|end| end.ms).collect();
    let causes: Vec<Option<&str>> =
        ends.clone().map(|end| end.cause.as_ref().map(Cause::as_str)).collect();
    let bundles: Vec<i64> = ends.clone().map(|end| end.since).collect();
    let runs: Vec<i64> = ends.map(|end| end.run).collect();
    let insert = "INSERT INTO step AS known (node, script, ms, cause, since, run)
         SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[])
         ON CONFLICT (node, script) DO UPDATE SET ms = excluded.ms, cause = excluded.cause,
             run = excluded.run,
             since = CASE WHEN (known.cause IS NULL) = (excluded.cause IS NULL)
                 THEN known.since ELSE excluded.since END,
             usual = CASE WHEN known.cause IS NULL
                 THEN (3 * coalesce(known.usual, known.ms) + known.ms) / 4 ELSE known.usual END";
    let insert = change.prepare_cached(insert).await?;
    change.execute(&insert, &[&nodes, &scripts, &times, &causes, &bundles, &runs]).await?;
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
