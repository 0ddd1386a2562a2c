//! What a node's records mean: the cause first, then where the time went, then what else looks
//! wrong.

mod commands;
mod findings;
mod source;

use std::path::Path;
use std::time::Duration;

use provost_record::{Cause, ExitCode, Outcome, Run, Stage};
use provost_steplog::wording;
use serde::Serialize;

use super::services::{Service, ServiceDocument};
use super::status::failure;
use super::unfinished::Unfinished;
use commands::{IgnoredFailure, SlowCommand};
use provost_node::observe::console::{exit, harmless, print};
use provost_node::settings::Input;
use source::Source;

/// How many stages are blamed at most, for people.
const MOST_BLAMED: usize = 10;
/// The name of the time that no stage took.
const BETWEEN: &str = "(between the stages)";

/// `provost analyze --format json`.
#[derive(Serialize)]
struct Analysis<'a> {
    node: &'a str,
    service: &'a str,
    run: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Outcome>,
    /// The first stage that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a Stage>,
    /// The slowest first.
    blame: Vec<Blamed<'a>>,
    /// The slowest commands of its scripts, the slowest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    slowest: Vec<SlowCommand<'a>>,
    /// Failed commands after which the script went on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<IgnoredFailure<'a>>,
    findings: Vec<String>,
    /// Each service by itself, ours and others'.
    services: Vec<ServiceDocument<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Blamed<'a> {
    stage: &'a str,
    duration_ms: u64,
    /// Of the whole run, in percent.
    share: u64,
}

/// Analyzes this node's own records, or those in a bundle. The exit status says whether something is
/// wrong with a service.
pub(crate) fn analyze(input: &Input, bundle: Option<&Path>, json: bool) -> ExitCode {
    let source = match bundle {
        Some(path) => Source::bundle(path),
        None => Ok(Source::here(input)),
    };
    let shown = source.and_then(|source| {
        print(&if json { document(&source) } else { text(&source) })?;
        Ok(exit_code(&source))
    });
    shown.unwrap_or_else(|failure| exit(Err(failure)))
}

fn exit_code(source: &Source) -> ExitCode {
    match &source.services {
        services if services.iter().all(|service| service.found.is_err()) => ExitCode::Usage,
        services if services.iter().any(Service::is_bad) => ExitCode::PostscriptFailed,
        _ if source.damage.is_some() => ExitCode::PostscriptFailed,
        // A stop is no failure, but its boot is still to be finished.
        _ if Unfinished::of(&source.runs).is_some() => ExitCode::PostscriptFailed,
        _ => ExitCode::Done,
    }
}

fn document(source: &Source) -> String {
    let services: Vec<_> = source.services.iter().map(Service::document).collect();
    let findings = findings::of(source);
    let Some(run) = source.runs.last() else {
        let analysis = serde_json::json!({
            "node": source.node, "findings": findings, "services": services
        });
        return format!("{analysis:#}\n");
    };
    let analysis = Analysis {
        node: &source.node,
        service: &run.service,
        run: &run.run,
        result: run.result,
        cause: run.failed_stage(),
        blame: blame(run),
        slowest: commands::slowest(source),
        ignored: commands::ignored(source),
        findings,
        services,
    };
    format!("{}\n", serde_json::to_string_pretty(&analysis).unwrap_or_default())
}

fn text(source: &Source) -> String {
    let mut text = match source.runs.last() {
        Some(run) => run_text(source, run),
        None if source.services.is_empty() => {
            return format!("{}: nothing has run here yet\n", harmless(&source.node));
        }
        None => String::new(),
    };
    let listed: String = source.services.iter().map(Service::text).collect();
    if !listed.is_empty() {
        text += &format!("{}services:\n{listed}", if text.is_empty() { "" } else { "\n" });
    }
    let findings = findings::of(source);
    if findings.is_empty() {
        return text + "\nnothing else looks wrong\n";
    }
    text += "\nwhat else looks wrong:\n";
    for finding in findings {
        text += &format!("  - {}\n", harmless(&finding));
    }
    text
}

/// Why the run failed, and where its time went.
fn run_text(source: &Source, run: &Run) -> String {
    let verdict = match &run.result {
        Some(Outcome::Success) => "succeeded",
        Some(Outcome::Failure) if run.failed_stage().is_some_and(is_stop) => "was stopped",
        Some(Outcome::Failure) => "FAILED",
        Some(Outcome::Other(word)) => word.as_str(),
        None => "has no end",
    };
    let began = run.started.map_or(String::new(), |at| format!(" of {at}"));
    let mut text = format!("{}: {}{began} {verdict}\n", harmless(&source.node), run.service);
    if let Some(stage) = run.failed_stage() {
        text += &failure(stage);
    }
    let blamed = blame(run);
    if !blamed.is_empty() {
        let whole = run.duration_ms.map_or(String::new(), |ms| format!(", of {} in all", took(ms)));
        text += &format!("\nwhere the time went{whole}:\n");
        for Blamed { stage, duration_ms, share } in blamed.iter().take(MOST_BLAMED) {
            text += &format!("  {:>10}  {share:>3} %  {}\n", took(*duration_ms), harmless(stage));
        }
        if let Some(more @ 1..) = blamed.len().checked_sub(MOST_BLAMED) {
            text += &format!("  and {more} more that took less\n");
        }
    }
    text + &commands::text(source)
}

/// Whether a signal to the runner ended it.
fn is_stop(stage: &Stage) -> bool {
    stage.cause == Some(Cause::Interrupted) && stage.signal.is_some()
}

/// Where a run's time went, the slowest first.
fn blame(run: &Run) -> Vec<Blamed<'_>> {
    let stages = run.stages.iter().filter_map(|s| Some((s.stage.as_str(), s.duration_ms?)));
    let mut times: Vec<(&str, u64)> = stages.collect();
    let of_stages: u64 = times.iter().map(|(_, ms)| ms).sum();
    let whole = run.duration_ms.unwrap_or(of_stages).max(of_stages);
    times.push((BETWEEN, whole - of_stages));
    times.retain(|(_, ms)| *ms > 0);
    times.sort_by_key(|(_, ms)| std::cmp::Reverse(*ms));
    let share = |ms: u64| (ms * 100 + whole / 2) / whole.max(1);
    let blamed = |(stage, ms)| Blamed { stage, duration_ms: ms, share: share(ms) };
    times.into_iter().map(blamed).collect()
}

fn took(ms: u64) -> String {
    wording::duration(Duration::from_millis(ms))
}
