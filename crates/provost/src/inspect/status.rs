use std::time::Duration;

use provost_record::{Cause, ExitCode, FETCH, Outcome, Run, Stage};
use provost_steplog::wording;
use serde::Serialize;

use super::unfinished::Unfinished;
use super::{log_of, rights, runs};
use crate::xcat::{StatusMessage, describe, status_messages};
use provost_http::ShownIdentity;
use provost_node::failure::{self, Failure};
use provost_node::observe::console::{exit, harmless, print};
use provost_node::observe::report::unreported;
use provost_node::settings::{Input, Paths};
use provost_node::state::lock::RunLock;
use provost_node::state::own_stages;
use provost_node::state::progress::Paused;

/// `provost status --format json`.
#[derive(Serialize)]
struct Status<'a> {
    node: &'a str,
    #[serde(flatten)]
    run: Option<&'a Run>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unfinished: Option<&'a Unfinished>,
    unreported: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity: Option<StatusIdentity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    monitor: Option<&'a [StatusMessage]>,
}

/// By what the node proves who it is.
#[derive(Serialize)]
struct StatusIdentity {
    key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
}

/// What `provost status` waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Nothing.
    No,
    /// The end of the run that is in progress, which can't be that of the script that asks.
    Run,
    /// The same, unless it is that of the script that asks.
    OtherRun,
}

impl Wait {
    /// As `--wait` and `--any` say.
    pub(crate) fn of_flags(wait: bool, any: bool) -> Self {
        match (wait, any) {
            (false, _) => Self::No,
            (true, false) => Self::Run,
            (true, true) => Self::OtherRun,
        }
    }
}

/// Shows how the last run went, or how far the present one is. Where it waits, it shows the run that it has waited
/// for, and exits as that did.
pub(crate) fn status(input: &Input, wait: Wait, json: bool) -> ExitCode {
    let shown = match wait {
        Wait::No => show(input, None, json).map(|_| ExitCode::Done),
        Wait::Run | Wait::OtherRun => wait_for_run(input, wait, json),
    };
    shown.unwrap_or_else(|failure| exit(Err(failure)))
}

fn wait_for_run(input: &Input, wait: Wait, json: bool) -> Result<ExitCode, Failure> {
    let paths = input.paths();
    let in_progress = match RunLock::is_taken(&paths.state) {
        // A run that waited for a reboot, and goes on, may have begun before others.
        true => runs(&paths)?.into_iter().map(|(run, _)| run).rfind(|run| run.result.is_none()),
        false => None,
    };
    if let Some(run) = in_progress.as_ref().filter(|run| is_of_this_script(run)) {
        if wait == Wait::OtherRun {
            return show(input, None, json).map(|_| ExitCode::Done);
        }
        let message = format!("waiting for the run that this script is a part of: {}", run.run);
        let hint = "run `provost status --wait --any`, which doesn't wait in a script of the run";
        return Err(Failure::config(message, hint));
    }
    RunLock::wait(&paths.state).map_err(|e| {
        let message = format!("waiting for the lock {}", paths.state.join("lock").display());
        Failure::local(message, "run it as root, such as by sudo").caused_by(e)
    })?;
    if !json && runs(&paths)?.is_empty() {
        print(&format!("{}: no run yet\n", harmless(&input.node())))?;
        return Ok(ExitCode::Done);
    }
    let run = show(input, in_progress.as_ref().map(|run| run.run.as_str()), json)?;
    let run = run.as_ref();
    let paused = Paused::read(&paths.state).filter(|p| run.is_some_and(|run| p.run == run.run));
    Ok(match paused {
        Some(Paused { asked: false, .. }) => ExitCode::Interrupted,
        Some(Paused { refused: true, .. }) => ExitCode::PostscriptFailed,
        _ => run.map_or(ExitCode::Done, exit_code),
    })
}

/// Whether it is a script of `run` that runs this command.
pub(super) fn is_of_this_script(run: &Run) -> bool {
    std::env::var("PROVOST_RUN").is_ok_and(|id| id == run.run)
}

/// How `provost` exited at the end of this run.
fn exit_code(run: &Run) -> ExitCode {
    if run.result != Some(Outcome::Failure) {
        return ExitCode::Done;
    }
    let stage = run.failed_stage();
    match run.cause.or_else(|| stage?.cause) {
        Some(Cause::Interrupted) => ExitCode::Interrupted,
        // Its end was never written.
        _ if run.ended.is_none() => ExitCode::Interrupted,
        Some(cause) if run.cause.is_some() || stage.is_some_and(|stage| stage.stage == FETCH) => {
            failure::exit_code(cause)
        }
        _ => ExitCode::PostscriptFailed,
    }
}

/// Shows the run with this id, or else the newest, and returns it.
fn show(input: &Input, run: Option<&str>, json: bool) -> Result<Option<Run>, Failure> {
    rights::of_status(input)?;
    let found = gather(&input.paths(), run)?;
    let (paths, last) = (input.paths(), found.last());
    let node = last.map_or_else(|| input.node(), |(_, node)| node.clone());
    let run = last.map(|(run, _)| run);
    let runs: Vec<Run> = found.iter().map(|(run, _)| run.clone()).collect();
    let unfinished = Unfinished::of(&runs);
    let unfinished = unfinished.as_ref();
    let monitor = (!input.takes_records()).then(|| status_messages(&paths.state));
    let monitor = monitor.as_deref();
    let unreported = unreported(input);
    let identity = ShownIdentity::read(&paths.state);
    if json {
        let identity = identity.map(|identity| StatusIdentity {
            key: identity.key.to_string(),
            until: identity.until,
        });
        let status = Status { node: &node, run, unfinished, unreported, identity, monitor };
        let text = serde_json::to_string_pretty(&status).unwrap_or_default();
        print(&format!("{text}\n"))?;
        return Ok(run.cloned());
    }
    let monitor = monitor.map_or(String::new(), describe);
    let identity = identity
        .map_or(String::new(), |identity| format!("\n{}\n", harmless(&identity.to_string())));
    print(&(tell(&node, run, unfinished, unreported) + &identity + &monitor))?;
    Ok(run.cloned())
}

/// All runs up to the one with the id `last`, if it is there.
fn gather(paths: &Paths, last: Option<&str>) -> Result<Vec<(Run, String)>, Failure> {
    let mut runs = runs(paths)?;
    if let Some(at) = last.and_then(|last| runs.iter().position(|(run, _)| run.run == last)) {
        runs.truncate(at + 1);
    }
    if let Some((run, _)) = runs.last_mut() {
        let waits = || Paused::read(&paths.state).is_some_and(|paused| paused.run == run.run);
        if run.result.is_none() && !RunLock::is_taken(&paths.state) && !waits() {
            // Its end was never written: the next run will write that.
            run.result = Some(Outcome::Failure);
        }
        let logs: Vec<_> =
            run.stages.iter().enumerate().map(|(i, s)| log_of(paths, run, i, s)).collect();
        for (stage, log) in run.stages.iter_mut().zip(logs) {
            if let Some(path) = log.as_deref().filter(|_| stage.result.is_none()) {
                stage.inner = own_stages::so_far(path);
            }
            stage.log = log.map(|path| path.display().to_string());
        }
    }
    Ok(runs)
}

fn tell(
    node: &str,
    run: Option<&Run>,
    unfinished: Option<&Unfinished>,
    unreported: usize,
) -> String {
    let Some(run) = run else {
        return format!("{node}: nothing has run here yet\n");
    };
    let earlier = unfinished.filter(|unfinished| unfinished.run != run.run);
    let mut text = earlier.map_or(String::new(), |unfinished| first(node, unfinished));
    let verdict = match run.result {
        Some(Outcome::Success) => "succeeded".to_owned(),
        Some(Outcome::Failure) if run.ended.is_none() => "was cut off".to_owned(),
        Some(Outcome::Failure) => "FAILED".to_owned(),
        Some(Outcome::Other(word)) => word.as_str().to_owned(),
        None if run.stages.last().is_some_and(Stage::wants_reboot) => {
            "waits for a reboot".to_owned()
        }
        None => "is running".to_owned(),
    };
    text += &format!("{}: {} {verdict}", harmless(node), run.service);
    if let Some(started) = run.started {
        text += &format!(", began {started}");
    }
    if let Some(ms) = run.duration_ms {
        text += &format!(", took {}", wording::duration(Duration::from_millis(ms)));
    }
    text += "\n";
    let is_running = |stage: &Stage| stage.result.is_none() && run.result.is_none();
    for stage in &run.stages {
        text += &line(stage, is_running(stage));
        for inner in &stage.inner {
            let title = inner.title(&stage.stage);
            let is_running = is_running(stage) && inner.result.is_none();
            let words =
                if is_running { "running".to_owned() } else { wording::inner_outcome(inner) };
            text += &format!("    {:<22} {}\n", harmless(&title), harmless(&words));
        }
        if !stage.leaked.is_empty() {
            text += &format!("    left behind: {}\n", harmless(&stage.leaked.join(", ")));
        }
        for failure in &stage.passed_over {
            text += &format!("    passed over: {}\n", harmless(failure));
        }
    }
    for name in &run.not_run {
        text += &format!("  {:<24} not run\n", harmless(name));
    }
    if let Some(stage) = run.failed_stage() {
        text += &failure(stage);
    } else if let Some(cause) = run.cause {
        let (cause, error_message, hint) =
            (Some(cause), run.error_message.clone(), run.hint.clone());
        text += &failure(&Stage {
            stage: run.service.clone(),
            cause,
            error_message,
            hint,
            ..Stage::default()
        });
    }
    // A script's own hint doesn't say how to go on.
    let command = unfinished.filter(|_| earlier.is_none()).map(|unfinished| &unfinished.command);
    if let Some(command) = command.filter(|command| !text.contains(command.as_str())) {
        text += &format!("\nto go on with what is unfinished: {command}\n");
    }
    if unreported > 0 {
        text += &format!("\n{} not sent yet\n", wording::count(unreported, "record"));
    }
    text
}

/// An earlier run that is unfinished, which comes before the last one.
fn first(node: &str, unfinished: &Unfinished) -> String {
    let began = unfinished.started.map_or(String::new(), |at| format!(" of {at}"));
    let summary = harmless(&unfinished.summary());
    let Unfinished { service, command, .. } = unfinished;
    format!(
        "{}: UNFINISHED: the {service}{began}: {summary}\n  to go on: {command}\n\n",
        harmless(node)
    )
}

fn line(stage: &Stage, running: bool) -> String {
    let name = [std::slice::from_ref(&stage.stage), &stage.args].concat().join(" ");
    let result = match (stage.result, &stage.skipped) {
        (Some(Outcome::Success), Some(why)) => format!("skipped: {}", harmless(why)),
        (Some(Outcome::Success), None) if stage.wants_reboot() => {
            "ok, asked for a reboot".to_owned()
        }
        (Some(Outcome::Success), None) => "ok".to_owned(),
        (Some(Outcome::Failure), _) => {
            format!(
                "FAILED ({})",
                wording::outcome(stage.cause, stage.exit_code, stage.signal.as_deref())
            )
        }
        (Some(Outcome::Other(word)), _) => word.as_str().to_owned(),
        (None, _) if running => "running".to_owned(),
        (None, _) => "cut off".to_owned(),
    };
    let took =
        stage.duration_ms.map_or(String::new(), |ms| wording::duration(Duration::from_millis(ms)));
    let line = format!("  {:<24} {result:<32} {took}", harmless(&name));
    format!("{}\n", line.trim_end())
}

/// What is known of a failure: script, line, command, status, output, hint.
pub(super) fn failure(stage: &Stage) -> String {
    let mut text = format!("\n{}: ", harmless(&stage.title()));
    text += &wording::outcome(stage.cause, stage.exit_code, stage.signal.as_deref());
    text += "\n";
    let mut fact = |name: &str, value: &str| {
        text += &format!("  {name:<8} {}\n", harmless(value));
    };
    if let Some(line) = &stage.called_from {
        fact("caller", line);
    }
    if let Some(line) = &stage.error_line {
        fact("line", line);
    }
    if let Some(command) = &stage.command {
        fact("command", &command.replace('\n', " "));
    }
    if let Some(commands) = wording::commands(stage.commands, stage.commands_failed) {
        fact("commands", &commands);
    }
    for (at, line) in stage.error_message.iter().flat_map(|m| m.lines()).enumerate() {
        fact(if at == 0 { "output" } else { "" }, line);
    }
    if let Some(log) = &stage.log {
        fact("log", log);
    }
    if let Some(hint) = &stage.hint {
        fact("hint", hint);
    }
    text
}
