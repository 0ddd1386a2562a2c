//! What stands out among the commands that the last run's scripts ran.

use std::time::Duration;

use provost_record::{Outcome, Stage};
use provost_steplog::wording;
use provost_steplog::{FailedCommand, Status, Summary};
use serde::Serialize;

use super::source::Source;
use provost_node::observe::console::harmless;

/// How many commands of a kind are named.
const MOST: usize = 10;
/// How many of them for people.
const MOST_TOLD: usize = 5;
/// What takes less is not worth telling people.
const QUICK: Duration = Duration::from_millis(100);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SlowCommand<'a> {
    stage: &'a str,
    command: &'a str,
    duration_ms: u128,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct IgnoredFailure<'a> {
    stage: &'a str,
    command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<String>,
    times: usize,
}

/// The slowest commands, the slowest first; each by itself, without those that it ran.
pub(super) fn slowest(source: &Source) -> Vec<SlowCommand<'_>> {
    let mut slowest = Vec::new();
    for (stage, summary) in summaries(source) {
        for (command, took) in &summary.slowest {
            slowest.push(SlowCommand {
                stage: &stage.stage,
                command,
                duration_ms: took.as_millis(),
            });
        }
    }
    slowest.sort_by_key(|slow| std::cmp::Reverse(slow.duration_ms));
    slowest.truncate(MOST);
    slowest
}

/// The failed commands after which their script went on. An exit status of 1 may be an answer, as
/// grep(1) gives it: those come last.
pub(super) fn ignored(source: &Source) -> Vec<IgnoredFailure<'_>> {
    let mut ignored = Vec::new();
    for (stage, summary) in summaries(source) {
        let step_failed = stage.result == Some(Outcome::Failure);
        let failed = summary.ignored(step_failed).into_iter();
        ignored.extend(failed.map(|failed| IgnoredFailure::new(&stage.stage, failed)));
    }
    ignored.sort_by_key(|failure| failure.exit_code == Some(1));
    ignored.truncate(MOST);
    ignored
}

impl<'a> IgnoredFailure<'a> {
    fn new(stage: &'a str, failed: FailedCommand) -> Self {
        let (exit_code, signal) = match failed.status {
            Status::Exit(status) => (Some(status), None),
            Status::Signal(name) => (None, Some(name)),
        };
        Self { stage, command: failed.command, exit_code, signal, times: failed.times }
    }
}

/// The stages of the last run that have commands.
fn summaries(source: &Source) -> Vec<(&Stage, &Summary)> {
    let Some(run) = source.runs.last() else { return Vec::new() };
    let stages = run.stages.iter().enumerate().filter_map(|(index, stage)| {
        let name = Stage::log_name(index, &stage.stage, stage.attempt);
        Some((stage, source.commands.get(&format!("{}/{name}", run.run))?))
    });
    stages.collect()
}

/// Both for people.
pub(super) fn text(source: &Source) -> String {
    let mut text = String::new();
    let slowest = slowest(source);
    let slow = |slow: &&SlowCommand<'_>| slow.duration_ms >= QUICK.as_millis();
    for (at, slow) in slowest.iter().filter(slow).take(MOST_TOLD).enumerate() {
        if at == 0 {
            text += "\nthe slowest commands:\n";
        }
        let took = wording::milliseconds(slow.duration_ms.try_into().unwrap_or(u64::MAX));
        let what = harmless(&format!("{}: {}", slow.stage, slow.command));
        text += &format!("  {took:>10}  {what}\n");
    }
    let ignored = ignored(source);
    for (at, failure) in ignored.iter().take(MOST_TOLD).enumerate() {
        if at == 0 {
            text += "\ncommands that failed without ending the script:\n";
        }
        let how = wording::outcome(None, failure.exit_code, failure.signal.as_deref());
        let times =
            if failure.times > 1 { format!(", {} times", failure.times) } else { String::new() };
        let what = format!("{}: {}: {how}{times}", failure.stage, failure.command);
        text += &format!("  - {}\n", harmless(&what));
    }
    if let Some(more @ 1..) = ignored.len().checked_sub(MOST_TOLD) {
        text += &format!("  and {more} more: provost log SCRIPT --failed\n");
    }
    text
}
