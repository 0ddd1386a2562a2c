//! How scripts ended last on each node, and what they take.

use std::collections::BTreeMap;

use crate::sql::{Backend, Row, Sql, Unreadable, values};
use crate::step::{Reporting, cause_of};
use crate::{Answer, ScriptReport, Step, StepTime, StepTimes};

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

impl<B: Backend> StepTimes for B {
    fn usual_times(&self, least: u64) -> Answer<'_, BTreeMap<String, u64>> {
        self.query(least as i64, |db, least| {
            // The nearest rank: a time that a node had.
            let select = "SELECT script, ms FROM (
                     SELECT script, ms, row_number() OVER (PARTITION BY script ORDER BY ms) AS nth,
                         count(*) OVER (PARTITION BY script) AS nodes
                     FROM step WHERE cause IS NULL
                 ) AS ranked
                 WHERE nth = (nodes + 1) / 2 AND nodes >= $1";
            Box::pin(async move {
                let all = db.all(select, values![*least], Row::pair::<String, u64>).await?;
                Ok(all.into_iter().collect())
            })
        })
    }

    fn long_steps(&self, ms: u64) -> Answer<'_, Vec<StepTime>> {
        self.query(ms as i64, |db, ms| {
            let select = "SELECT node, script, ms, usual, cause IS NULL FROM step
                 WHERE cause IS NULL AND ms >= $1";
            Box::pin(db.all(select, values![*ms], step_time))
        })
    }

    fn step_times(&self, steps: Vec<(String, String)>) -> Answer<'_, Vec<StepTime>> {
        self.query(steps, |db, steps| {
            let keys = steps.iter().map(|(node, script)| values![node, script]).collect();
            let select = "SELECT node, script, ms, usual, cause IS NULL FROM step
                 WHERE node = $1 AND script = $2";
            Box::pin(async move {
                let rows = db.each(select, keys).await?;
                Ok(rows.into_iter().map(step_time).collect::<Result<Vec<_>, _>>()?)
            })
        })
    }
}

fn step_time(row: Row) -> Result<StepTime, Unreadable> {
    let [node, script, ms, usual, succeeded] = row.columns()?;
    Ok(StepTime {
        node: node.get()?,
        script: script.get()?,
        ms: ms.get()?,
        usual: usual.get()?,
        succeeded: succeeded.get()?,
    })
}
