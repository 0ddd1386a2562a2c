//! The outcome of a step as its record.

use std::path::Path;
use std::time::Duration;

use provost_exec::{EndCause, NotStarted, Outcome as Executed, Why};
use provost_plan::Step;
use provost_record::{Cause, Inner, Outcome, Phase, Record, Service};
use provost_steplog::{quote, wording};

use super::own_hint;
use crate::failure::Failure;

/// How many lines of output stand in a record.
const LINES: usize = 3;
/// How many descendants are named in a record; a fork bomb leaves thousands.
const MOST_LEAKED: usize = 50;
/// The most characters of a command in a record.
const MOST_COMMAND: usize = 1000;

/// The variable with the command that runs a step once more where it is only tried.
pub const AGAIN: &str = "PROVOST_AGAIN";

/// The command that an admin types once the cause of a step's failure is fixed. A failure that its
/// policy ignores leaves nothing unfinished, so that only the step itself runs again.
pub(crate) fn after_fix(service: Service, step: &Step, is_ignored: bool) -> String {
    if let Ok(again) = std::env::var(AGAIN) {
        return again;
    }
    let rest = service.continue_command().filter(|_| !is_ignored);
    rest.map_or_else(|| format!("provost run {step}"), str::to_owned)
}

/// Fills the `stage end` of `step` in, whose log is `log` and whose script lies in `folder`. `served` is where the management node has its scripts, if it
/// serves them as they are; `after_fix` is the command that the hint of a failure ends with.
pub(crate) fn fill(
    record: Record,
    step: &Step,
    executed: &Executed,
    log: &Path,
    folder: &Path,
    served: Option<&str>,
    after_fix: &str,
) -> Record {
    let ms = |d: Duration| Some(d.as_millis().try_into().unwrap_or(u64::MAX));
    let (exit_code, signal) = match &executed.end {
        EndCause::Exit(0) => (None, None),
        EndCause::Exit(code) => (Some(*code), None),
        EndCause::Leaked => (Some(0), None),
        EndCause::NotStarted(why) => (why.exit_status(), None),
        EndCause::Signal { name, .. } | EndCause::Interrupted(name) => (None, Some(name.clone())),
        EndCause::TimedOut(_) => (None, executed.ended_by.clone()),
        _ => (None, None),
    };
    let record = Record {
        stage: Some(step.script.clone()),
        args: step.args.clone(),
        result: Some(Outcome::Success),
        exit_code,
        signal,
        leaked: few(&executed.leaked),
        duration_ms: ms(executed.duration),
        user_ms: ms(executed.usage.user),
        system_ms: ms(executed.usage.system),
        max_rss_kib: Some(executed.usage.max_rss_kib),
        commands: executed.commands,
        commands_failed: executed.commands_failed,
        ..record
    };
    if let EndCause::Exit(0) = executed.end {
        // The script did what it was to do.
        let hint = executed
            .log_error
            .as_ref()
            .map(|e| format!("its log is incomplete: {e}; make room on the file system of LOG"));
        return Record { hint, ..record };
    }
    match explained(&executed.end, served) {
        Some(mut failure) => {
            failure.hint = format!("{}; then: {after_fix}", failure.hint);
            failed(record, &failure)
        }
        None => shown(record, &folder.join(&step.script), executed, log, after_fix),
    }
}

/// The failure of a step whose output doesn't say why it failed.
fn explained(end: &EndCause, served: Option<&str>) -> Option<Failure> {
    Some(match end {
        EndCause::Leaked => Failure::new(
            Cause::Exit,
            "exit status 0, but it left processes behind, which its leak = \"fail\" forbids",
            "end them in the script, or start them as a service",
        ),
        EndCause::NotStarted(why) => Failure::new(cause(why), why, why.hint(served)),
        EndCause::KeeperLost => Failure::new(
            Cause::Interrupted,
            "its supervising process was killed, and the script with it",
            "look for the OOM killer in `dmesg`",
        ),
        EndCause::NoKeeper => Failure::new(
            Cause::Exec,
            "it was not started: its supervising process was killed before",
            "check how the previous step ended, and look for the OOM killer in `dmesg`",
        ),
        _ => return None,
    })
}

/// The record of a script that ran and failed: with the end of its output and the place.
fn shown(
    mut record: Record,
    script: &Path,
    executed: &Executed,
    log: &Path,
    after_fix: &str,
) -> Record {
    let name = quote(record.stage.as_deref());
    // What is only tried leaves no log where `provost log` looks.
    let again = match std::env::var_os(AGAIN) {
        Some(_) => format!("fix it, then: {after_fix}"),
        None => {
            format!("see all its output on the node: provost log {name}; fix it, then: {after_fix}")
        }
    };
    let mut lines = executed.last_lines.clone();
    if !matches!(executed.end, EndCause::Exit(_)) {
        lines.retain(|line| !is_terminated(line));
    }
    let (cause, hint) = match &executed.end {
        EndCause::Signal { name: signal, .. } if signal == "SIGKILL" => {
            (Cause::Signal, format!("look for the OOM killer in `dmesg`; {again}"))
        }
        EndCause::Signal { core: true, .. } => {
            (Cause::Signal, format!("it left a core file, see core(5); {again}"))
        }
        EndCause::Signal { .. } => (Cause::Signal, again),
        EndCause::TimedOut(limit) => {
            let limit = wording::duration(*limit);
            let hint = format!(
                "see where it hangs: provost log {name}; fix it or raise its `timeout` ({limit} \
                 now), then: {after_fix}"
            );
            (Cause::Timeout, hint)
        }
        EndCause::Interrupted(signal) => {
            (Cause::Interrupted, format!("{signal} ended the run; go on with: {after_fix}"))
        }
        _ => {
            // Its own hint has a key of its own.
            (Cause::Exit, own_hint::take(&mut lines, log, script).unwrap_or(again))
        }
    };
    record.result = Some(Outcome::Failure);
    record.cause = Some(cause);
    record.hint = Some(hint);
    record.error_message = Some(message(executed, &lines[lines.len().saturating_sub(LINES)..]));
    if let Some(place) = &executed.place {
        record.error_line.clone_from(&place.line);
        record.called_from.clone_from(&place.called_from);
        record.command = place.command.as_ref().map(|c| c.chars().take(MOST_COMMAND).collect());
    }
    record
}

/// Whether a shell says here that SIGTERM ended one of its commands: `Terminated`, or, as bash,
/// `SCRIPT: line N: PID Terminated COMMAND`. The record has the signal already.
fn is_terminated(line: &str) -> bool {
    let is_number = |c: char| c.is_ascii_digit() || c == ':' || c == ' ';
    let what = line.split_once(": line ").map_or(line, |(_, at)| at.trim_start_matches(is_number));
    what == "Terminated" || what.starts_with("Terminated ")
}

/// Adds what the script recorded of its own stages. The shell library knows where a script that
/// sources it failed, because its traps take the place of those that would note it.
pub(crate) fn add_inner(end: &mut Record, records: &[Record], folder: &Path) {
    end.inner = Inner::of(records);
    if end.cause == Some(Cause::Interrupted) {
        // The script can't know that the signal was the runner's.
        let stopped = end.inner.iter_mut().filter(|i| i.signal.is_some() && i.signal == end.signal);
        stopped.for_each(|inner| inner.cause = end.cause);
    }
    let own = end.stage.as_deref().map(|script| folder.join(script)).unwrap_or_default();
    let last = records.iter().rfind(|record| record.phase == Phase::ServiceEnd);
    let last = last.filter(|last| {
        end.cause == Some(Cause::Exit) && last.is_failure() && last.exit_code == end.exit_code
    });
    let Some(line) = last.and_then(|last| with_path(last.error_line.as_deref()?, folder, &own))
    else {
        return;
    };
    end.error_line = Some(line);
    end.command = last.and_then(|last| last.command.clone()).or(end.command.take());
    let caller = last.and_then(|last| last.called_from.as_deref());
    end.called_from = caller.map(|line| with_path(line, folder, &own).unwrap_or(line.to_owned()));
}

/// A line `LINE FUNCTION FILE` with the path of the step's `own` script; None if that isn't its file.
fn with_path(line: &str, folder: &Path, own: &Path) -> Option<String> {
    let mut words = line.splitn(3, ' ');
    let (number, function, file) = (words.next()?, words.next()?, words.next()?);
    let is_own = folder.join(file.strip_prefix("./").unwrap_or(file)) == own;
    is_own.then(|| format!("{number} {function} {}", own.display()))
}

/// The end of a stage that failed by `failure`.
pub(crate) fn failed(end: Record, failure: &Failure) -> Record {
    Record {
        result: Some(Outcome::Failure),
        cause: Some(failure.cause),
        error_message: Some(failure.text()),
        hint: Some(failure.hint.clone()),
        skipped: None,
        waiting: failure.awaited.map(|what| what.words().to_owned()),
        ..end
    }
}

/// That a step is done, or isn't, could not be noted.
pub(crate) fn not_noted(why: String) -> Failure {
    let message = format!("writing its progress to STATE: {why}");
    let hint = "make room on the file system of STATE; the step runs again then";
    Failure::local(message, hint)
}

fn few(leaked: &[String]) -> Vec<String> {
    let mut few: Vec<String> = leaked.iter().take(MOST_LEAKED).cloned().collect();
    if leaked.len() > MOST_LEAKED {
        few.push(format!("and {} more", leaked.len() - MOST_LEAKED));
    }
    few
}

fn cause(why: &NotStarted) -> Cause {
    match why.why {
        Why::Missing => Cause::Missing,
        Why::Changed | Why::ChangedRunning => Cause::Verify,
        _ => Cause::Exec,
    }
}

/// The last lines of output; where there are none, what is known instead.
fn message(executed: &Executed, lines: &[String]) -> String {
    if !lines.is_empty() {
        return lines.join("\n");
    }
    match &executed.log_error {
        Some(e) => format!("its output could not be written to the log: {e}"),
        None => "it printed nothing".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_says_of_a_terminated_command_is_known() {
        for line in ["Terminated", "Terminated                 sleep 600"] {
            assert!(is_terminated(line), "{line}");
            assert!(is_terminated(&format!("/x/scratch: line 12:  4711 {line}")), "{line}");
        }
        for line in
            ["Terminated: 3 of 4", "terminated", "x: line 2: Terminate it", "was Terminated"]
        {
            assert!(!is_terminated(line), "{line}");
        }
    }
}
