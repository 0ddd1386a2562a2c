//! What has changed on a node between a stage's last success and its failure.

use std::collections::BTreeSet;
use std::fmt::Write;

use jiff::Timestamp;
use provost_api::admins::{NodeChanges, ScriptChange, ValueChange};
use provost_record::{Outcome, Run, Stage};
use provost_steplog::terminal::{escape, escape_cell};
use provost_steplog::{Paint, wording};
use serde::Serialize;
use serde_json::{Value, json};

use super::first_difference::{FirstDifference, first_difference};
use crate::client::Client;

/// How many scripts, and how many runs in between, are shown.
const MOST_SHOWN: usize = 10;

/// What has changed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Changed {
    stage: String,
    /// The run in which it succeeded, and the one in which it failed.
    success: String,
    failure: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    succeeded: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<Timestamp>,
    differences: Vec<Difference>,
    /// What ran before it in one of the two runs alone.
    before: Vec<Ran>,
    /// The runs in between, the oldest first.
    between: Vec<Between>,
    #[serde(flatten)]
    published: NodeChanges,
    output: FirstDifference,
}

/// A value then and now.
#[derive(Serialize)]
struct Difference {
    name: String,
    then: String,
    now: String,
}

/// A stage that ran before the one that failed.
#[derive(Serialize)]
struct Ran {
    stage: String,
    /// Whether it ran this time; else it ran when all went well.
    now: bool,
}

/// A run between the two.
#[derive(Serialize)]
struct Between {
    service: String,
    run: String,
    stages: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Outcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<Timestamp>,
}

/// The newest failure among `runs`, the newest of which is the first, and the last success of the same stage before it.
pub(super) async fn changed(client: &Client, node: &str, runs: &[Run]) -> Option<Changed> {
    let at = runs.iter().position(|run| run.failed_stage().is_some())?;
    let now = &runs[at];
    let failed = now.failed_stage()?;
    let succeeded = |run: &Run| success_of(run, &failed.stage).is_some();
    let then_at = at + 1 + runs[at + 1..].iter().position(succeeded)?;
    let then = &runs[then_at];
    let before = success_of(then, &failed.stage)?;
    let numbers = |then: Option<u64>, now: Option<u64>| then.zip(now).filter(|(a, b)| a != b);
    let (bundles, plans) = (numbers(then.bundle, now.bundle), numbers(then.plan, now.plan));
    let published = match bundles.is_some() || plans.is_some() {
        true => client.node_changes(node, bundles, plans, &failed.stage).await.unwrap_or_default(),
        false => NodeChanges::default(),
    };
    Some(Changed {
        stage: failed.stage.clone(),
        success: then.run.clone(),
        failure: now.run.clone(),
        succeeded: then.started,
        failed: now.started,
        differences: differences((then, before), (now, failed)),
        before: ran_before((then, before), (now, failed)),
        between: runs[at + 1..then_at].iter().rev().map(between).collect(),
        published,
        output: first_difference(client, node, (then, before), (now, failed)).await,
    })
}

fn success_of<'r>(run: &'r Run, name: &str) -> Option<&'r Stage> {
    run.stages.iter().find(|stage| {
        stage.stage == name && stage.result == Some(Outcome::Success) && stage.skipped.is_none()
    })
}

/// What the two runs and their stages tell of themselves, where that differs.
fn differences((then, before): (&Run, &Stage), (now, failed): (&Run, &Stage)) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut compare = |name: &str, then: Option<String>, now: Option<String>| {
        if let (Some(then), Some(now)) = (then, now)
            && then != now
        {
            differences.push(Difference { name: name.to_owned(), then, now });
        }
    };
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    compare("bundle", number(then.bundle), number(now.bundle));
    compare("plan", number(then.plan), number(now.plan));
    compare("service", Some(then.service.clone()), Some(now.service.clone()));
    compare("management node", then.server.clone(), now.server.clone());
    let arguments = |stage: &Stage| Some(provost_steplog::quote(&stage.args));
    compare("arguments", arguments(before), arguments(failed));
    for (name, value) in now.facts.iter() {
        compare(name, then.facts.get(name).map(str::to_owned), Some(value.to_owned()));
    }
    let time = |stage: &Stage| stage.duration_ms.map(wording::milliseconds);
    compare("took", time(before), time(failed));
    differences
}

/// Which stages ran before the one that failed in one of the two runs alone.
fn ran_before((then, before): (&Run, &Stage), (now, failed): (&Run, &Stage)) -> Vec<Ran> {
    let names = |run: &'_ Run, end: &Stage| -> Vec<String> {
        let stages = run.stages.iter().take_while(|stage| stage.stage != end.stage);
        let ran = stages.filter(|stage| stage.skipped.is_none() && stage.result.is_some());
        ran.map(|stage| stage.stage.clone()).collect()
    };
    let (then, now) = (names(then, before), names(now, failed));
    let only = |some: &[String], others: &[String], is_now| -> Vec<Ran> {
        let others: BTreeSet<&String> = others.iter().collect();
        let only = some.iter().filter(|stage| !others.contains(stage));
        only.map(|stage| Ran { stage: stage.clone(), now: is_now }).collect()
    };
    let mut all = only(&then, &now, false);
    all.extend(only(&now, &then, true));
    all
}

fn between(run: &Run) -> Between {
    let ran = run.stages.iter().filter(|stage| stage.skipped.is_none() && stage.stage != "fetch");
    Between {
        service: run.service.clone(),
        run: run.run.clone(),
        stages: ran.map(|stage| stage.stage.clone()).collect(),
        result: run.result,
        started: run.started,
    }
}

impl Changed {
    pub(super) fn json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_else(|e| json!({ "error": e.to_string() }))
    }

    /// For people.
    pub(super) fn text(&self, paint: Paint) -> String {
        let since = self.succeeded.map(|at| format!(" ({at:.0})")).unwrap_or_default();
        let mut text = format!("since {} last succeeded{since}\n", escape_cell(&self.stage));
        let mut line = |name: &str, what: &str| {
            // Writing to a String can't fail, here and below.
            let _ = writeln!(text, "    {}", escape_cell(&format!("{name:<10}  {what}")));
        };
        for Difference { name, then, now } in &self.differences {
            line(name, &format!("{then} -> {now}"));
        }
        for value in self.published.plan.iter().flatten() {
            line(&value.name, &of_value(value));
        }
        for Ran { stage, now } in &self.before {
            let what = if *now { "ran before it, and not then" } else { "ran before it then" };
            line(stage, what);
        }
        for run in self.between.iter().take(MOST_SHOWN) {
            line("in between", &of_run(run));
        }
        if self.between.len() > MOST_SHOWN {
            line("in between", &format!("{} more runs", self.between.len() - MOST_SHOWN));
        }
        let scripts = self.published.scripts.iter().flatten();
        let (own, others): (Vec<_>, Vec<_>) = scripts.partition(|one| one.script == self.stage);
        let all = own.len() + others.len();
        for script in own.into_iter().chain(others).take(MOST_SHOWN) {
            line("script", &of_script(script));
        }
        if all > MOST_SHOWN {
            line("script", &format!("{} more", all - MOST_SHOWN));
        }
        let is_same = self.differences.is_empty()
            && self.before.is_empty()
            && self.published.plan.as_ref().is_none_or(Vec::is_empty)
            && all == 0;
        if is_same {
            text += "    nothing has changed of what the node tells\n";
        }
        let _ = writeln!(text, "    {:<10}  {}", "output", escape_cell(&self.output.text()));
        let (then, now) = (escape_cell(&self.success), escape_cell(&self.failure));
        let _ = writeln!(text, "    {:<10}  {then}, then {now}", "runs");
        if let Some(diff) = &self.published.diff {
            text.push('\n');
            text.push_str(&of_diff(diff, paint));
        } else if let Some(why) = &self.published.hidden {
            let _ = writeln!(text, "    {:<10}  {}", "no diff", escape_cell(why));
        }
        text
    }
}

/// `MASTER: 10.0.0.1 -> 10.0.0.2`, without what isn't told.
fn of_value(value: &ValueChange) -> String {
    match (&value.then, &value.now) {
        (Some(then), Some(now)) if then == now => format!("changed {then}"),
        (Some(then), Some(now)) => format!("{then} -> {now}"),
        (Some(then), None) => format!("- {then}"),
        (None, Some(now)) => format!("+ {now}"),
        (None, None) => "changed".to_owned(),
    }
}

fn of_script(change: &ScriptChange) -> String {
    let what = match (&change.then, &change.now) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => "changed",
    };
    let ScriptChange { script, generation, at, by, host, .. } = change;
    format!("{script} {what} by generation {generation}, {at} by {by} on {host}")
}

fn of_run(run: &Between) -> String {
    let started = run.started.map(|at| format!(", {at:.0}")).unwrap_or_default();
    let result = match run.result {
        Some(Outcome::Success) => "succeeded",
        Some(Outcome::Failure) => "failed",
        _ => "has no end",
    };
    format!("{} of {} {result}{started}", run.service, run.stages.join(" "))
}

/// The diff in colours.
fn of_diff(diff: &str, paint: Paint) -> String {
    let mut text = String::new();
    for line in diff.lines().map(escape) {
        let line = match line.as_bytes().first() {
            Some(b'+') => paint.good(&line),
            Some(b'-') => paint.bad(&line),
            _ => line,
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}
