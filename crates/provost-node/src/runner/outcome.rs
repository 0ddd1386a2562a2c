//! The outcome of a step as its record.

use provost_record::wording;
use std::time::Duration;

use provost_exec::{Ended, NotStarted, Outcome as Executed, Why};
use provost_plan::Step;
use provost_record::{Cause, Outcome, Record};

use crate::failure::Failure;

/// A line of output that begins so is the script's own hint.
const HINT: &str = "hint: ";
/// How many lines of output stand in a record.
const LINES: usize = 3;
/// How many descendants are named in a record; a fork bomb leaves thousands.
const MOST_LEAKED: usize = 50;
/// The most characters of a command in a record.
const MOST_COMMAND: usize = 1000;

/// Fills the `stage end` of `step` in. `served` is where the management node has its scripts, if it
/// serves them as they are.
pub(crate) fn fill(
    record: Record,
    step: &Step,
    executed: &Executed,
    served: Option<&str>,
) -> Record {
    let ms = |d: Duration| Some(d.as_millis().try_into().unwrap_or(u64::MAX));
    let mut record = Record {
        stage: Some(step.script.clone()),
        args: step.args.clone(),
        result: Some(Outcome::Failure),
        leaked: few(&executed.leaked),
        duration_ms: ms(executed.duration),
        user_ms: ms(executed.usage.user),
        system_ms: ms(executed.usage.system),
        max_rss_kib: Some(executed.usage.max_rss_kib),
        commands: executed.commands,
        commands_failed: executed.commands_failed,
        ..record
    };
    let name = &step.script;
    let again = format!(
        "on the node, provost log {name} shows all it printed; fix it, then: provost run {name}"
    );
    let mut lines = executed.last_lines.clone();
    let mut hint = again.clone();
    match &executed.ended {
        Ended::Exit(0) => {
            record.result = Some(Outcome::Success);
            return record;
        }
        Ended::Exit(code) => {
            record.exit_code = Some(*code);
            record.cause = Some(Cause::Exit);
            if let Some(at) = lines.iter().rposition(|l| l.starts_with(HINT)) {
                // It has a key of its own.
                hint = lines.remove(at)[HINT.len()..].to_owned();
            }
        }
        Ended::Leaked => {
            record.exit_code = Some(0);
            record.cause = Some(Cause::Exit);
            let left =
                "it ended with 0, but left processes behind, which its leak = \"fail\" forbids";
            record.error_message = Some(left.to_owned());
            record.hint = Some("end them in the script, or start them as a service".to_owned());
            return record;
        }
        Ended::Signal { name: signal, core } => {
            record.signal = Some(signal.clone());
            record.cause = Some(Cause::Signal);
            if signal == "SIGKILL" {
                hint = format!("look for the OOM killer in `dmesg`; {again}");
            } else if *core {
                hint = format!("it left a core file, see core(5); {again}");
            }
        }
        Ended::TimedOut(limit) => {
            record.cause = Some(Cause::Timeout);
            hint = format!(
                "it was ended after {}; see where it hangs with provost log {name}, or raise its \
                 `timeout`",
                wording::duration(*limit)
            );
        }
        Ended::Interrupted(signal) => {
            record.signal = Some(signal.clone());
            record.cause = Some(Cause::Interrupted);
            hint = format!("somebody ended the run with {signal}; start it again");
        }
        Ended::NotStarted(why) => {
            record.cause = Some(cause(why));
            record.error_message = Some(why.to_string());
            record.hint = Some(why.hint(served));
            return record;
        }
        Ended::KeeperLost => {
            record.cause = Some(Cause::Interrupted);
            let lost = "the process that watched over it was killed, and it with that";
            record.error_message = Some(lost.to_owned());
            record.hint = Some("look for the OOM killer in `dmesg`; start it again".to_owned());
            return record;
        }
        Ended::NoKeeper => {
            record.cause = Some(Cause::Exec);
            let lost = "it did not begin: the process that starts scripts was lost before";
            record.error_message = Some(lost.to_owned());
            let hint = "see how the step before ended, and look for the OOM killer in `dmesg`; \
                        start it again";
            record.hint = Some(hint.to_owned());
            return record;
        }
    }
    let lines = &lines[lines.len().saturating_sub(LINES)..];
    record.hint = Some(hint);
    record.error_message = Some(message(executed, lines));
    if let Some(place) = &executed.place {
        record.error_line.clone_from(&place.line);
        record.command = place.command.as_ref().map(|c| c.chars().take(MOST_COMMAND).collect());
    }
    record
}

/// The end of a stage that failed by `failure`.
pub(crate) fn failed(end: Record, failure: &Failure) -> Record {
    Record {
        result: Some(Outcome::Failure),
        cause: Some(failure.cause),
        error_message: Some(failure.text()),
        hint: Some(failure.hint.clone()),
        skipped: None,
        ..end
    }
}

/// That a step is done, or isn't, could not be noted.
pub(crate) fn not_noted(why: String) -> Failure {
    let message = format!("how far it is could not be noted in STATE: {why}");
    let hint = "make room on the file system of STATE; it runs again then";
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
