//! How scripts ended last on each node.

use crate::sql::{Row, Sql, Unreadable, values};
use crate::step::{Reporting, cause_of};
use crate::{ScriptReport, Step};

pub(crate) async fn report<S: Sql>(db: &S, script: &str) -> Result<ScriptReport, S::Error> {
    // CROSS: SQLite has each node's row by the key, and would read all steps.
    let select = "SELECT step.node, ms, cause, since FROM node CROSS JOIN step
         WHERE step.node = node.name AND step.script = $1";
    let mut reporting = Reporting::default();
    db.all(select, values![script], step).await?.into_iter().for_each(|step| reporting.add(step));
    Ok(reporting.report())
}

fn step(row: Row) -> Result<Step, Unreadable> {
    let [node, ms, cause, since] = row.columns()?;
    Ok(Step {
        node: node.get()?,
        ms: ms.get()?,
        cause: cause_of(cause.get::<Option<String>>()?.as_deref()),
        since: since.get()?,
    })
}
