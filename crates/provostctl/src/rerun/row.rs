//! How a rerun went on one node.

use std::time::Duration;

use provost_record::terminal::escape_cell;
use provost_record::{Cause, wording};
use serde::Deserialize;
use serde_json::{Value, json};

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
    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Unreachable => "unreachable",
            Self::Timeout => "timeout",
        }
    }
}

pub(super) struct Row {
    pub(super) node: String,
    pub(super) outcome: Outcome,
    exit_code: Option<i32>,
    detail: String,
    duration: Duration,
}

/// What `provost status --format json` prints, as far as it is needed here.
#[derive(Deserialize)]
struct Status {
    stages: Vec<Stage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stage {
    stage: String,
    result: Option<provost_record::Outcome>,
    cause: Option<Cause>,
    exit_code: Option<i32>,
    signal: Option<String>,
    error_line: Option<String>,
    error_message: Option<String>,
}

impl Row {
    /// `report` is the node's own status after a script failed, or empty.
    pub(super) fn new(node: &str, result: &RemoteResult, report: &str) -> Self {
        let (outcome, exit_code, detail) = match &result.status {
            Ok(status) if status.success() => (Outcome::Ok, Some(0), String::new()),
            Ok(status) => {
                let detail = match status.code() {
                    Some(NO_SUCH_COMMAND) => "provost isn't installed on this node".to_owned(),
                    _ => failed_stage(report).unwrap_or_else(|| error_line(&result.lines)),
                };
                (Outcome::Failed, status.code(), detail)
            }
            Err(RemoteError::Unreachable(why)) => (Outcome::Unreachable, None, why.clone()),
            Err(RemoteError::TimedOut(limit)) => {
                (Outcome::Timeout, None, format!("not finished within {limit}"))
            }
        };
        Self { node: node.to_owned(), outcome, exit_code, detail, duration: result.duration }
    }

    /// For people, as soon as the node is finished.
    pub(super) fn line(&self) -> String {
        let colon = if self.detail.is_empty() { "" } else { ": " };
        let (outcome, duration) = (self.outcome.as_str(), wording::duration(self.duration));
        format!("{}: {outcome} after {duration}{colon}{}", self.node, self.detail)
    }

    pub(super) fn cells(&self) -> [String; 5] {
        [
            self.node.clone(),
            self.outcome.as_str().to_owned(),
            self.exit_code.map(|code| code.to_string()).unwrap_or_default(),
            wording::duration(self.duration),
            self.detail.clone(),
        ]
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
        if !self.detail.is_empty() {
            row["detail"] = self.detail.clone().into();
        }
        row
    }
}

/// The first stage that failed, as `STAGE: OUTCOME at line N of FILE: MESSAGE`, escaped.
fn failed_stage(report: &str) -> Option<String> {
    let status: Status = serde_json::from_str(report).ok()?;
    let failed = |stage: &Stage| stage.result == Some(provost_record::Outcome::Failure);
    let stage = status.stages.into_iter().find(failed)?;
    let mut text = format!(
        "{}: {}",
        stage.stage,
        wording::outcome(stage.cause, stage.exit_code, stage.signal.as_deref())
    );
    let place = stage.error_line.as_deref().and_then(|line| {
        let mut words = line.splitn(3, ' ');
        Some((words.next()?, words.nth(1)?))
    });
    if let Some((line, file)) = place {
        text += &format!(" at line {line} of {file}");
    }
    if let Some(last) = stage.error_message.as_deref().and_then(|message| message.lines().last()) {
        text += &format!(": {last}");
    }
    Some(escape_cell(&text))
}

/// The error of a run that has not begun, or the last line.
fn error_line(lines: &[String]) -> String {
    let error = lines.iter().find_map(|line| line.strip_prefix("provost: error: "));
    let last = || lines.last().map_or("", |line| line.strip_prefix("provost: ").unwrap_or(line));
    error.unwrap_or_else(last).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_stage_is_named_with_its_place() {
        let report = r#"{"node": "cn001", "stages": [
            {"stage": "fetch", "result": "success"},
            {"stage": "disk", "result": "failure", "cause": "exit", "exitCode": 7,
             "errorLine": "12 main /x/disk", "errorMessage": "mkfs\nno space\u001b[2J"},
            {"stage": "slurm"}]}"#;
        let text = failed_stage(report);
        assert_eq!(
            text.as_deref(),
            Some("disk: exit status 7 at line 12 of /x/disk: no space\\u{1b}[2J")
        );
        assert_eq!(failed_stage("Killed\n"), None);
        assert_eq!(failed_stage(r#"{"stages": []}"#), None);
    }

    #[test]
    fn the_error_of_a_run_that_has_not_begun_is_its_error_line() {
        let lines =
            |lines: &[&str]| error_line(&lines.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>());
        assert_eq!(lines(&["provost: error: no plan", "provost: hint: publish"]), "no plan");
        assert_eq!(lines(&["sh: out of memory"]), "sh: out of memory");
        assert_eq!(lines(&[]), "");
    }
}
