//! How a command went on one node.

use std::time::Duration;

use provost_steplog::terminal::escape_cell;
use provost_steplog::wording;
use provost_store::{Detail, words};
use serde_json::{Value, json};

use super::printed::Printed;
use super::{printed, report};
use crate::ssh;
use crate::ssh::{RemoteError, RemoteResult};

/// The shell's exit status where there is no such command.
const NO_SUCH_COMMAND: i32 = 127;

/// How it went, in a word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Ok,
    Failed,
    Unreachable,
    Timeout,
}

impl Outcome {
    pub(super) const ALL: [Self; 4] = [Self::Ok, Self::Failed, Self::Unreachable, Self::Timeout];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Unreachable => "unreachable",
            Self::Timeout => "timeout",
        }
    }
}

#[derive(Clone)]
pub(super) struct Row {
    pub(super) node: String,
    pub(super) outcome: Outcome,
    pub(super) exit_code: Option<i32>,
    /// Why it isn't ok; nothing of it is escaped.
    pub(super) detail: Detail,
    /// What its scripts have printed, where that was asked for.
    pub(super) printed: Vec<Printed>,
    duration: Duration,
}

impl Row {
    /// `report` is what the node has printed of the run, if anything.
    pub(super) fn of_report(node: &str, result: &RemoteResult, report: &str) -> Self {
        let (status, printed) = printed::read(report);
        let printed = printed::of_run(printed, &report::ran(status));
        Self { printed, ..Self::new(node, result, report::detail(status)) }
    }

    /// `detail` is what the node itself says of a run that failed.
    pub(super) fn new(node: &str, result: &RemoteResult, detail: Option<Detail>) -> Self {
        let message = |text: String| Detail { error_message: Some(text), ..Detail::default() };
        let (outcome, exit_code, detail) = match &result.status {
            Ok(status) if status.success() => (Outcome::Ok, Some(0), Detail::default()),
            Ok(status) => {
                let detail = match status.code() {
                    Some(NO_SUCH_COMMAND) => {
                        message("provost isn't installed on this node".to_owned())
                    }
                    _ => detail.unwrap_or_else(|| Detail {
                        hint: hint_line(&result.lines),
                        ..message(error_line(&result.lines))
                    }),
                };
                (Outcome::Failed, status.code(), detail)
            }
            Err(RemoteError::Unreachable(why)) => {
                let hint = ssh::hint(why).map(str::to_owned);
                (Outcome::Unreachable, None, Detail { hint, ..message(why.clone()) })
            }
            Err(RemoteError::TimedOut(limit)) => {
                (Outcome::Timeout, None, message(format!("not finished within {limit}")))
            }
        };
        let (node, printed) = (node.to_owned(), Vec::new());
        Self { node, outcome, exit_code, detail, printed, duration: result.duration }
    }

    /// The same where the command's output was to be its result, and isn't.
    pub(super) fn without_result(self, why: &str) -> Self {
        match self.outcome {
            Outcome::Ok => {
                let detail = Detail { error_message: Some(why.to_owned()), ..Detail::default() };
                Self { outcome: Outcome::Failed, detail, ..self }
            }
            _ => self,
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.outcome == Outcome::Failed
    }

    /// For people, as soon as the node is finished.
    pub(super) fn line(&self) -> String {
        let (outcome, duration) = (self.outcome.as_str(), wording::duration(self.duration));
        let why = self.why();
        let colon = if why.is_empty() { "" } else { ": " };
        format!("{}: {outcome} after {duration}{colon}{why}", self.node)
    }

    /// `STAGE: OUTCOME at line N of FILE: MESSAGE` or `STAGE: OUTCOME: COMMAND: MESSAGE` on one line,
    /// escaped; empty if all is well.
    fn why(&self) -> String {
        let last = self.detail.error_message.as_deref().and_then(|text| text.lines().last());
        let head = head(&self.detail);
        let parts = [Some(head.as_str()), words::command_without_line(&self.detail), last];
        let parts: Vec<&str> =
            parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        escape_cell(&parts.join(": "))
    }

    pub(super) fn json(&self) -> Value {
        let duration_ms = u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX);
        let mut row = json!({
            "node": self.node,
            "result": self.outcome.as_str(),
            "durationMs": duration_ms,
        });
        if let Some(code) = self.exit_code {
            row["exitCode"] = code.into();
        }
        let why = self.why();
        if !why.is_empty() {
            row["detail"] = why.into();
        }
        if let Some(hint) = &self.detail.hint {
            row["hint"] = escape_cell(hint).into();
        }
        if !self.printed.is_empty() {
            row["output"] = printed::json(&self.printed);
        }
        row
    }
}

/// `STAGE: OUTCOME at line N of FILE`, as far as it is known; not escaped.
pub(super) fn head(detail: &Detail) -> String {
    let Some(stage) = &detail.stage else { return String::new() };
    let outcome = wording::outcome(detail.cause, detail.exit_code, detail.signal.as_deref());
    let place = words::first_line(detail).and_then(|line| {
        let mut words = line.splitn(3, ' ');
        Some((words.next()?, words.nth(1)?))
    });
    let place = place.map_or(String::new(), |(line, file)| format!(" at line {line} of {file}"));
    format!("{stage}: {outcome}{place}")
}

/// The error of a run that has not begun, or the last line.
fn error_line(lines: &[String]) -> String {
    let error = lines.iter().find_map(|line| line.strip_prefix("provost: error: "));
    let last = || lines.last().map_or("", |line| line.strip_prefix("provost: ").unwrap_or(line));
    error.unwrap_or_else(last).to_owned()
}

/// The hint of that error: notes before it may have hints too.
fn hint_line(lines: &[String]) -> Option<String> {
    let hint = lines.iter().rev().find_map(|line| line.strip_prefix("provost: hint: "));
    hint.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(report: &str) -> Option<String> {
        let detail = report::detail(report)?;
        let (node, printed, duration) = ("cn001".to_owned(), Vec::new(), Duration::ZERO);
        let (outcome, exit_code) = (Outcome::Failed, Some(1));
        Some(Row { node, outcome, exit_code, detail, printed, duration }.why())
    }

    #[test]
    fn a_failed_stage_is_named_with_its_place() {
        let report = r#"{"node": "cn001", "stages": [
            {"stage": "fetch", "result": "success"},
            {"stage": "disk", "result": "failure", "cause": "exit", "exitCode": 7,
             "errorLine": "12 main /x/disk", "errorMessage": "mkfs\nno space\u001b[2J"},
            {"stage": "slurm"}]}"#;
        assert_eq!(
            why(report).as_deref(),
            Some("disk: exit status 7 at line 12 of /x/disk: no space\\u{1b}[2J")
        );
        let hung = r#"{"stages": [
            {"stage": "disk", "result": "failure", "cause": "timeout", "command": "mkfs /dev/sdb",
             "errorMessage": "12 %"}]}"#;
        assert_eq!(why(hung).as_deref(), Some("disk: time-out: mkfs /dev/sdb: 12 %"));
        let held = r#"{"stages": [], "cause": "held", "errorMessage": "this node is held"}"#;
        assert_eq!(why(held).as_deref(), Some("this node is held"));
        assert_eq!(why("Killed\n"), None);
        assert_eq!(why(r#"{"stages": []}"#), None);
    }

    #[test]
    fn the_error_of_a_run_that_has_not_begun_is_its_error_line() {
        let lines =
            |lines: &[&str]| error_line(&lines.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>());
        assert_eq!(lines(&["provost: error: no plan", "provost: hint: publish"]), "no plan");
        assert_eq!(lines(&["sh: out of memory"]), "sh: out of memory");
        assert_eq!(lines(&[]), "");
        let lines =
            ["provost: note: a", "provost: hint: b", "provost: error: c"].map(str::to_owned);
        assert_eq!(hint_line(&lines).as_deref(), Some("b"));
        let lines = [&lines[..], &["provost: hint: d".to_owned()]].concat();
        assert_eq!(hint_line(&lines).as_deref(), Some("d"));
    }
}
