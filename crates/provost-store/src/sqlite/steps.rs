//! How scripts ended last on each node.

use rusqlite::{Connection, params};

use crate::step::{Reporting, cause_of, ended};
use crate::{Report, ScriptReport, ScriptSummary, Step};

/// The names of all scripts: one look for each, however many nodes have run it.
const NAMES: &str = "WITH RECURSIVE name (script) AS (
     SELECT min(script) FROM step
     UNION ALL
     SELECT (SELECT min(script) FROM step WHERE script > name.script) FROM name
     WHERE script IS NOT NULL
 )
 SELECT script FROM name WHERE script IS NOT NULL";

/// Notes the end of a step, if `report` is of one. `bundle` is the generation that the node has.
pub(super) fn note(
    db: &Connection,
    node: &str,
    report: &Report,
    bundle: u64,
) -> rusqlite::Result<()> {
    let Some((script, ms, cause)) = ended(&report.record) else { return Ok(()) };
    db.prepare_cached(
        "INSERT INTO step (script, node, ms, cause, since) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (script, node) DO UPDATE SET ms = ?3, cause = ?4,
             since = iif((cause IS NULL) = (?4 IS NULL), since, ?5)",
    )?
    .execute(params![
        script,
        node,
        ms as i64,
        cause.map(|cause| cause.as_str()),
        bundle.min(i64::MAX as u64) as i64
    ])?;
    Ok(())
}

/// Forgets a node.
pub(super) fn remove(db: &Connection, node: &str) -> rusqlite::Result<()> {
    let delete = format!("DELETE FROM step WHERE node = ? AND script IN ({NAMES})");
    db.prepare_cached(&delete)?.execute([node])?;
    Ok(())
}

pub(super) fn summaries(db: &Connection) -> rusqlite::Result<Vec<ScriptSummary>> {
    db.prepare_cached(
        "SELECT script, count(*), count(cause) FROM step GROUP BY script ORDER BY script",
    )?
    .query_map([], |row| {
        let number = |at| row.get::<_, i64>(at).map(i64::unsigned_abs);
        Ok(ScriptSummary { name: row.get(0)?, nodes: number(1)?, failed: number(2)? })
    })?
    .collect()
}

pub(super) fn report(db: &Connection, script: &str) -> rusqlite::Result<ScriptReport> {
    let mut select =
        db.prepare_cached("SELECT node, ms, cause, since FROM step WHERE script = ?")?;
    let mut rows = select.query([script])?;
    let mut reporting = Reporting::default();
    while let Some(row) = rows.next()? {
        reporting.add(Step {
            node: row.get(0)?,
            ms: row.get::<_, i64>(1)?.unsigned_abs(),
            cause: cause_of(row.get::<_, Option<String>>(2)?.as_deref()),
            since: row.get::<_, i64>(3)?.unsigned_abs(),
        });
    }
    Ok(reporting.report())
}
