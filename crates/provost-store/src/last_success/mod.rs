//! What has changed on a node between a stage's last success and its failure: for `provostctl why`, and for the page.

mod first_difference;

use std::collections::BTreeSet;

use jiff::Timestamp;
use provost_api::admins::{NodeChanges, ScriptChange, ValueChange};
use provost_record::{Outcome, Run, Stage};
use provost_steplog::wording;
use serde::Serialize;

pub use self::first_difference::FirstDifference;

/// How many scripts, and how many runs in between, are shown.
const MOST_SHOWN: usize = 10;

/// A stage that failed, and its last success before.
#[derive(Clone, Copy, Debug)]
pub struct LastSuccess<'r> {
    /// The run in which it succeeded, and the stage.
    pub then: (&'r Run, &'r Stage),
    /// The run in which it failed, and the stage.
    pub now: (&'r Run, &'r Stage),
    /// The runs in between, the newest first.
    between: &'r [Run],
}

/// What has changed since a stage's last success.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SinceSuccess {
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
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<FirstDifference>,
}

/// A value then and now.
#[derive(Debug, Serialize)]
struct Difference {
    name: String,
    then: String,
    now: String,
}

/// A stage that ran before the one that failed.
#[derive(Debug, Serialize)]
struct Ran {
    stage: String,
    /// Whether it ran this time; else it ran when all went well.
    now: bool,
}

/// A run between the two.
#[derive(Debug, Serialize)]
struct Between {
    service: String,
    run: String,
    stages: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Outcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<Timestamp>,
}

/// Two generations that differ.
pub type Generations = Option<(u64, u64)>;

impl<'r> LastSuccess<'r> {
    /// Of the newest failure among `runs`, the newest of which is the first; if its stage has succeeded before.
    pub fn of(runs: &'r [Run]) -> Option<Self> {
        let at = runs.iter().position(|run| run.failed_stage().is_some())?;
        let now = &runs[at];
        let failed = now.failed_stage()?;
        let succeeded = |run: &Run| success_of(run, &failed.stage).is_some();
        let then_at = at + 1 + runs[at + 1..].iter().position(succeeded)?;
        let then = &runs[then_at];
        let before = success_of(then, &failed.stage)?;
        let between = &runs[at + 1..then_at];
        Some(Self { then: (then, before), now: (now, failed), between })
    }

    /// The bundles and the plans of the two runs, where they differ.
    pub fn generations(&self) -> (Generations, Generations) {
        let numbers = |then: Option<u64>, now: Option<u64>| then.zip(now).filter(|(a, b)| a != b);
        let ((then, _), (now, _)) = (self.then, self.now);
        (numbers(then.bundle, now.bundle), numbers(then.plan, now.plan))
    }

    /// What differs between the logs of the two stages on `node`, where both were uploaded; fetching has no log.
    pub fn first_difference(
        &self,
        node: &str,
        then: Option<&[u8]>,
        now: Option<&[u8]>,
    ) -> Option<FirstDifference> {
        FirstDifference::between(node, (self.then, then), (self.now, now))
    }

    /// What has changed; `published` is what was between the generations, `output` what differs in the logs.
    pub fn compare(&self, published: NodeChanges, output: Option<FirstDifference>) -> SinceSuccess {
        let ((then, _), (now, failed)) = (self.then, self.now);
        SinceSuccess {
            stage: failed.stage.clone(),
            success: then.run.clone(),
            failure: now.run.clone(),
            succeeded: then.started,
            failed: now.started,
            differences: differences(self.then, self.now),
            before: ran_before(self.then, self.now),
            between: self.between.iter().rev().map(between).collect(),
            published,
            output,
        }
    }
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

impl SinceSuccess {
    /// The stage.
    pub fn stage(&self) -> &str {
        &self.stage
    }

    /// When the run began in which it succeeded.
    pub fn succeeded(&self) -> Option<Timestamp> {
        self.succeeded
    }

    /// The diff of the stage's own script, if it has changed and may be read.
    pub fn diff(&self) -> Option<&str> {
        self.published.diff.as_deref()
    }

    /// What to type to see how the outputs differ, where a log isn't at the management node.
    pub fn output_command(&self) -> Option<&str> {
        self.output.as_ref()?.command()
    }

    /// What differs, for people: names and words, in which nothing is escaped.
    pub fn rows(&self) -> Vec<(String, String)> {
        let mut rows = Vec::new();
        let mut row = |name: &str, what: String| rows.push((name.to_owned(), what));
        for Difference { name, then, now } in &self.differences {
            row(name, format!("{then} -> {now}"));
        }
        for value in self.published.plan.iter().flatten() {
            row(&value.name, of_value(value));
        }
        for Ran { stage, now } in &self.before {
            let what = if *now { "ran before it, and not then" } else { "ran before it then" };
            row(stage, what.to_owned());
        }
        for run in self.between.iter().take(MOST_SHOWN) {
            row("in between", of_run(run));
        }
        if self.between.len() > MOST_SHOWN {
            row("in between", format!("{} more runs", self.between.len() - MOST_SHOWN));
        }
        let scripts = self.published.scripts.iter().flatten();
        let (own, others): (Vec<_>, Vec<_>) = scripts.partition(|one| one.script == self.stage);
        let all = own.len() + others.len();
        for script in own.into_iter().chain(others).take(MOST_SHOWN) {
            row("script", of_script(script));
        }
        if all > MOST_SHOWN {
            row("script", format!("{} more", all - MOST_SHOWN));
        }
        rows
    }

    /// Whether nothing differs that was published, that the node reports or that ran before.
    pub fn is_same(&self) -> bool {
        self.differences.is_empty()
            && self.before.is_empty()
            && self.published.plan.as_ref().is_none_or(Vec::is_empty)
            && self.published.scripts.as_ref().is_none_or(Vec::is_empty)
    }

    /// The same of the output and of the two runs, and why there is no diff.
    pub fn ends(&self) -> Vec<(&'static str, String)> {
        let runs = format!("{}, then {}", self.success, self.failure);
        let hidden = self.published.hidden.clone().filter(|_| self.published.diff.is_none());
        let hidden = hidden.map(|why| ("no diff", why));
        let output = self.output.as_ref().map(|output| ("output", output.text()));
        output.into_iter().chain([("runs", runs)]).chain(hidden).collect()
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
    // It may have ended before the first of its scripts.
    let of = match run.stages.is_empty() {
        true => String::new(),
        false => format!(" of {}", run.stages.join(" ")),
    };
    format!("{}{of} {result}{started}", run.service)
}
