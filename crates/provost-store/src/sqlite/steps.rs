//! How scripts ended last on each node.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use crate::ScriptSummary;
use crate::step::StepOutcomes;
use provost_api::Cause;

/// Notes how steps ended; `id` is that of a run, which is stored.
pub(super) fn save<R: Copy>(
    db: &Connection,
    ends: &StepOutcomes<'_, R>,
    id: impl Fn(R) -> Option<i64>,
) -> rusqlite::Result<()> {
    let mut forget = db.prepare_cached("DELETE FROM step WHERE node = ? AND script = ?")?;
    let mut add = db.prepare_cached(
        "INSERT INTO step (node, script, ms, cause, since, run) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (node, script) DO UPDATE SET ms = ?3, cause = ?4, run = ?6,
             since = iif((cause IS NULL) = (?4 IS NULL), since, ?5),
             usual = iif(cause IS NULL, (3 * coalesce(usual, ms) + ms) / 4, usual)",
    )?;
    for ((node, script), end) in &ends.0 {
        if end.is_change {
            forget.execute([node, script])?;
        }
        let cause = end.cause.as_ref().map(Cause::as_str);
        add.execute(params![node, script, end.ms, cause, end.since, id(end.run)])?;
    }
    Ok(())
}

pub(super) fn summaries(db: &Connection) -> rusqlite::Result<Vec<ScriptSummary>> {
    let mut select = db.prepare_cached("SELECT script, cause IS NOT NULL FROM step")?;
    let mut rows = select.query([])?;
    // By script: on how many nodes it ended, and failed.
    let mut scripts = BTreeMap::<String, (u64, u64)>::new();
    while let Some(row) = rows.next()? {
        let (script, has_failed) = (row.get_ref(0)?.as_str()?, row.get::<_, bool>(1)?);
        let of = match scripts.get_mut(script) {
            Some(of) => of,
            None => scripts.entry(script.to_owned()).or_default(),
        };
        *of = (of.0 + 1, of.1 + u64::from(has_failed));
    }
    let summary = |(name, (nodes, failed))| ScriptSummary { name, nodes, failed };
    Ok(scripts.into_iter().map(summary).collect())
}
