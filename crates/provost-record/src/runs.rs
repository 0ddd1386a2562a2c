use jiff::Timestamp;
use serde::Serialize;

use crate::inner::titled;
use crate::record::is_zero;
use crate::{Cause, Facts, Inner, Outcome, Phase, Record};

/// The stage that is no script.
pub const FETCH: &str = "fetch";

/// One run, as its records describe it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// `kickstart`, `boot` or `run`.
    pub service: String,
    /// The run's id.
    pub run: String,
    /// How it ended; none while it is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Outcome>,
    /// When it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// Which try this was since the last run that succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The bundle's generation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bundle: Option<u64>,
    /// The plan's generation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<u64>,
    /// The server from which it was fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// What kind of failure it was, where no stage caused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The same, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What has begun, in order; `fetch` is the first.
    pub stages: Vec<Stage>,
    /// What never ran, where the run failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_run: Vec<String>,
    /// What was to run, in order, where that is known.
    #[serde(skip)]
    pub planned: Vec<String>,
    /// The machine's boot in which it began.
    #[serde(skip)]
    pub boot_id: Option<String>,
    /// What the node told of itself when it began.
    #[serde(skip)]
    pub facts: Facts,
    /// The place of the stage that the run failed by, where its end says so.
    #[serde(skip)]
    pub failed_by: Option<usize>,
    /// Milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// One stage of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stage {
    /// `fetch`, or the postscript's name.
    pub stage: String,
    /// Its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// How many tries it took, where that is more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// How it ended; none while it is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Outcome>,
    /// What kind of failure it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Its exit status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Where it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_line: Option<String>,
    /// Its last three lines of output, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// The command that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The caller's line where it failed in a function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub called_from: Option<String>,
    /// How many processes it started by exec.
    #[serde(skip_serializing_if = "is_zero")]
    pub commands: u64,
    /// How many of them ended with another status than 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub commands_failed: u64,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Why it didn't need to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// Descendants that outlived it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leaked: Vec<String>,
    /// Milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The stages that the script itself recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inner: Vec<Inner>,
    /// Failures that it recovered from: tries that failed; of `fetch`, servers that failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<String>,
    /// Where its output is. No record says that; the program that shows the run fills it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
}

impl Run {
    /// The first stage that failed the run; while it is running, the first that failed.
    pub fn failed_stage(&self) -> Option<&Stage> {
        match self.failed_by {
            Some(at) => self.stages.get(at),
            None if self.cause.is_some() => None,
            None => self.stages.iter().find(|s| s.result == Some(Outcome::Failure)),
        }
    }

    /// Which stage the end `end` of the run is about: a failure that its policy ignored isn't.
    fn blamed_by(&self, end: &Record) -> Option<usize> {
        let failed = |stage: &Stage| stage.result == Some(Outcome::Failure);
        let (line, message) = (&end.error_line, &end.error_message);
        match end.stages_failed.as_slice() {
            // It repeats what the stage says; of two that say the same, the last stopped the run.
            [] => self.stages.iter().rposition(|stage| {
                failed(stage) && (&stage.error_line, &stage.error_message) == (line, message)
            }),
            names => {
                self.stages.iter().position(|stage| failed(stage) && names.contains(&stage.stage))
            }
        }
    }
}

impl Stage {
    /// What failed: `mount_scratch`, or `mount_scratch: apply` if it was in a stage of its own.
    pub fn title(&self) -> String {
        titled(&self.stage, self.result, &self.inner)
    }

    /// Whether it succeeded, and the run goes on after the reboot that it asked for.
    pub fn wants_reboot(&self) -> bool {
        self.result == Some(Outcome::Success) && self.cause == Some(Cause::Reboot)
    }

    /// The name of the log of the `index`th stage of a run, without its extension. `fetch` is stage
    /// 0, so that the first postscript's log is `01-NAME`; a script in a subfolder keeps its
    /// name in one path element. A retry has a log of its own.
    pub fn log_name(index: usize, stage: &str, attempt: Option<u32>) -> String {
        let name = format!("{index:02}-{}", stage.replace('/', "_"));
        match attempt {
            Some(attempt @ 2..) => format!("{name}.try{attempt}"),
            _ => name,
        }
    }
}

/// Groups records into runs, in the order in which the runs began.
pub fn runs<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for record in records {
        let known = runs.iter().rposition(|r| r.run == record.run && r.service == record.service);
        let at = known.unwrap_or_else(|| {
            runs.push(Run {
                service: record.service.clone(),
                run: record.run.clone(),
                ..Run::default()
            });
            runs.len() - 1
        });
        runs[at].add(record);
    }
    runs
}

impl Run {
    fn add(&mut self, record: &Record) {
        match record.phase {
            // A run that goes on after a reboot has a second one.
            Phase::ServiceStart => {
                self.started = self.started.or(Some(record.timestamp));
                self.attempt = record.attempt;
                self.boot_id.clone_from(&record.boot_id);
                self.facts.clone_from(&record.facts);
            }
            Phase::StageStart => self.begin(record),
            Phase::StageEnd => {
                self.bundle = record.bundle.or(self.bundle);
                self.plan = record.plan.or(self.plan);
                self.server = record.server.clone().or(self.server.take());
                if !record.stages.is_empty() {
                    self.planned.clone_from(&record.stages);
                }
                let ends = |s: &&mut Stage| Some(&s.stage) == record.stage.as_ref();
                if let Some(stage) = self.stages.iter_mut().rfind(ends) {
                    stage.end(record);
                }
            }
            Phase::ServiceEnd => {
                self.ended = Some(record.timestamp);
                self.result = record.result;
                self.not_run.clone_from(&record.not_run);
                self.failed_by = self.blamed_by(record);
                self.duration_ms = record.duration_ms;
                if record.cause.is_some() {
                    self.cause = record.cause;
                    self.error_message.clone_from(&record.error_message);
                    self.hint.clone_from(&record.hint);
                }
            }
            // Pre- and post-commands belong to other programs' units; ours have none. What a newer program means by a
            // phase of its own isn't known.
            Phase::PreCommandStart
            | Phase::PreCommandEnd
            | Phase::PostCommandStart
            | Phase::PostCommandEnd
            | Phase::Other(_) => {}
        }
    }

    /// A stage begins; or one that is there already begins again: `fetch`, of which a run has one,
    /// and a step that is retried. The stage shows its last try.
    fn begin(&mut self, record: &Record) {
        let mut stage = Stage {
            stage: record.stage.clone().unwrap_or_default(),
            args: record.args.clone(),
            attempt: record.attempt,
            ..Stage::default()
        };
        let again = record.attempt.is_some_and(|n| n > 1) || stage.stage == FETCH;
        let same = |s: &&mut Stage| s.stage == stage.stage && s.args == stage.args;
        match self.stages.iter_mut().rfind(same).filter(|_| again) {
            Some(before) => {
                let failed = before.result == Some(Outcome::Failure);
                let failed = before.error_message.take().filter(|_| failed);
                stage.passed_over = std::mem::take(&mut before.passed_over);
                stage.passed_over.extend(failed);
                *before = stage;
            }
            None => self.stages.push(stage),
        }
    }
}

impl Stage {
    fn end(&mut self, record: &Record) {
        self.result = record.result;
        self.cause = record.cause;
        self.exit_code = record.exit_code;
        self.signal.clone_from(&record.signal);
        self.error_line.clone_from(&record.error_line);
        self.error_message.clone_from(&record.error_message);
        self.command.clone_from(&record.command);
        self.called_from.clone_from(&record.called_from);
        self.commands = record.commands;
        self.commands_failed = record.commands_failed;
        self.hint.clone_from(&record.hint);
        self.skipped.clone_from(&record.skipped);
        self.leaked.clone_from(&record.leaked);
        self.inner.clone_from(&record.inner);
        self.duration_ms = record.duration_ms;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(phase: Phase, stage: &str, attempt: Option<u32>, result: Option<Outcome>) -> Record {
        let stage = (!stage.is_empty()).then(|| stage.to_owned());
        Record { stage, attempt, result, ..Record::new(phase) }
    }

    #[test]
    fn a_retried_step_is_one_stage_that_shows_its_last_try() {
        use Phase::*;
        let (good, bad) = (Some(Outcome::Success), Some(Outcome::Failure));
        let records = [
            record(ServiceStart, "", Some(1), None),
            record(StageStart, "fetch", None, None),
            record(StageEnd, "fetch", None, good),
            record(StageStart, "a", None, None),
            record(StageEnd, "a", None, bad),
            record(StageStart, "a", Some(2), None),
            record(StageEnd, "a", None, good),
            record(StageStart, "a", None, None),
            record(StageEnd, "a", None, good),
            record(ServiceStart, "", Some(1), None),
            record(StageStart, "fetch", None, None),
            record(StageEnd, "fetch", None, good),
            record(StageStart, "b", None, None),
        ];
        let runs = runs(&records);
        let stages: Vec<_> =
            runs[0].stages.iter().map(|s| (s.stage.as_str(), s.attempt, s.result)).collect();
        let expected =
            [("fetch", None, good), ("a", Some(2), good), ("a", None, good), ("b", None, None)];
        assert_eq!(stages, expected);
        assert!(runs[0].failed_stage().is_none());
        assert_eq!(Stage::log_name(1, "sub/a", None), "01-sub_a");
        assert_eq!(Stage::log_name(1, "a", Some(2)), "01-a.try2");
    }

    #[test]
    fn a_failure_that_is_ignored_is_not_what_a_run_failed_by() {
        use Phase::*;
        let (good, bad) = (Some(Outcome::Success), Some(Outcome::Failure));
        let of = |end: Record| {
            let failed = |stage, message: &str| Record {
                error_message: Some(message.to_owned()),
                ..record(StageEnd, stage, None, bad)
            };
            let records = [
                record(StageStart, "ignored", None, None),
                failed("ignored", "a"),
                record(StageStart, "fails", None, None),
                failed("fails", "b"),
                end,
            ];
            let runs = runs(&records);
            runs[0].failed_stage().map(|stage| stage.stage.clone())
        };
        let end = record(ServiceEnd, "", None, bad);
        let stopped = Record { error_message: Some("b".to_owned()), ..end.clone() };
        assert_eq!(of(stopped).as_deref(), Some("fails"));
        let went_on = Record { stages_failed: vec!["fails".to_owned()], ..end.clone() };
        assert_eq!(of(went_on).as_deref(), Some("fails"));
        let held = Record { cause: Some(Cause::Held), ..end.clone() };
        assert_eq!(of(held), None);
        assert_eq!(of(end).as_deref(), Some("ignored"), "nothing more is known");
        assert_eq!(of(record(ServiceEnd, "", None, good)).as_deref(), Some("ignored"));
    }

    #[test]
    fn a_fetch_that_was_served_by_its_second_server_is_one_stage() {
        let record = |phase, result, message: &str| Record {
            error_message: (!message.is_empty()).then(|| message.to_owned()),
            ..record(phase, "fetch", None, result)
        };
        let (start, end) = (Phase::StageStart, Phase::StageEnd);
        let bad = Some(Outcome::Failure);
        let records = [
            record(start, None, ""),
            record(end, bad, "a is bad"),
            record(start, None, ""),
            record(end, bad, "b is down"),
            record(start, None, ""),
            record(end, Some(Outcome::Success), ""),
        ];
        let runs = runs(&records);
        let [fetch] = runs[0].stages.as_slice() else { panic!("{runs:?}") };
        assert_eq!((fetch.result, &fetch.error_message), (Some(Outcome::Success), &None));
        assert_eq!(fetch.passed_over, ["a is bad", "b is down"]);
        assert_eq!(runs[0].failed_stage(), None);
    }
}
