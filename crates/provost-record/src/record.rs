use jiff::{Timestamp, Unit};
use serde::{Deserialize, Serialize};

use crate::inner::titled;
use crate::{Cause, Facts, Inner, Outcome, Phase};

/// One event of a run. The same bytes stand in the node's journal, on the wire and in the store.
///
/// The first eight keys, their order and their texts are OpenShift's; ours follow. An empty key
/// is left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// When, UTC, in whole seconds; the epoch where another writer gave no time.
    #[serde(default, deserialize_with = "crate::service_file::time")]
    pub timestamp: Timestamp,
    /// The pre-command's name, in an entry of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_command: Option<String>,
    /// The post-command's name, in an entry of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post_command: Option<String>,
    /// The stage's name: `fetch`, or a postscript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// What began or ended.
    pub phase: Phase,
    /// How it ended; only where something ended.
    #[serde(
        default,
        deserialize_with = "crate::service_file::outcome",
        skip_serializing_if = "Option::is_none"
    )]
    pub result: Option<Outcome>,
    /// Where it failed: `LINE FUNCTION FILE`, as bash's `caller` prints it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_line: Option<String>,
    /// The last three lines of output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,

    /// `kickstart`, `boot` or `run`; the journal's file is named after it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub service: String,
    /// The node that reports.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub node: String,
    /// The run's id, a UUIDv7.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub run: String,
    /// 1, 2, 3 … within the run, without a gap.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub seq: u64,
    /// On `service start`: which try this is since the last run that succeeded. On the `stage
    /// start` of a step that is retried, or goes on after a reboot: which try of it, from 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// On `service start`: the kernel's id of this boot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    /// On `service start`: what distinguishes this node from another.
    #[serde(default, skip_serializing_if = "Facts::is_empty")]
    pub facts: Facts,
    /// On `stage start`: the longest time until the node's next report, in milliseconds. It covers
    /// the stage's time-out and all that follows it, so a node that is silent for longer is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_ms: Option<u64>,
    /// On the end of `fetch`: the bundle's generation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<u64>,
    /// On the end of `fetch`: the plan's generation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<u64>,
    /// On the end of `fetch`: the ids of the publisher's keys that the node trusts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// On the end of `fetch`: the server that served it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// On the end of `fetch`: what will run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<String>,
    /// The step's arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The exit status, where the process ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended the process, e.g. `SIGKILL`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// What kind of failure it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The command that failed inside the script, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The caller's line where `error_line` is in a function: `LINE FUNCTION FILE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called_from: Option<String>,
    /// How many processes the step started by exec.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub commands: u64,
    /// How many of them ended with another status than 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub commands_failed: u64,
    /// What to do about it, one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// On a `stage end` that is a success: why the step didn't need to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// On the end of a `fetch`, and of its run, that failed only because it came too early: what isn't there yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<String>,
    /// Descendants that outlived the script, each `PID COMM`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaked: Vec<String>,
    /// On a failed `service end`: what never ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_run: Vec<String>,
    /// On the failed `service end` of a run that went on to its end: the steps that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages_failed: Vec<String>,
    /// On a `stage end`: the stages that the script itself recorded, and how each ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inner: Vec<Inner>,
    /// Wall time in milliseconds, by the monotonic clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Processor time in user mode, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_ms: Option<u64>,
    /// Processor time in the kernel, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_ms: Option<u64>,
    /// Peak resident memory in KiB.
    #[serde(rename = "maxRssKiB", default, skip_serializing_if = "Option::is_none")]
    pub max_rss_kib: Option<u64>,
}

/// The present time as a record holds it: UTC, whole seconds, never rounded up.
pub fn now() -> Timestamp {
    whole_seconds(Timestamp::now())
}

fn whole_seconds(at: Timestamp) -> Timestamp {
    let floor = jiff::TimestampRound::new().smallest(Unit::Second).mode(jiff::RoundMode::Floor);
    at.round(floor).unwrap_or(at)
}

impl Record {
    /// A record of `phase`, now, with nothing else in it.
    pub fn new(phase: Phase) -> Self {
        Self {
            timestamp: now(),
            pre_command: None,
            post_command: None,
            stage: None,
            phase,
            result: None,
            error_line: None,
            error_message: None,
            service: String::new(),
            node: String::new(),
            run: String::new(),
            seq: 0,
            attempt: None,
            boot_id: None,
            facts: Facts::default(),
            limit_ms: None,
            bundle: None,
            plan: None,
            keys: Vec::new(),
            server: None,
            stages: Vec::new(),
            args: Vec::new(),
            exit_code: None,
            signal: None,
            cause: None,
            command: None,
            called_from: None,
            commands: 0,
            commands_failed: 0,
            hint: None,
            skipped: None,
            waiting: None,
            leaked: Vec::new(),
            not_run: Vec::new(),
            stages_failed: Vec::new(),
            inner: Vec::new(),
            duration_ms: None,
            user_ms: None,
            system_ms: None,
            max_rss_kib: None,
        }
    }

    /// When its run began, by the node's clock: a run's id says so (UUIDv7, RFC 9562).
    pub fn run_began(&self) -> Timestamp {
        let time = uuid::Uuid::parse_str(&self.run).ok().and_then(|id| id.get_timestamp());
        let at = time.map(|time| time.to_unix()).and_then(|(seconds, nanoseconds)| {
            Timestamp::new(seconds.try_into().ok()?, nanoseconds.try_into().ok()?).ok()
        });
        at.unwrap_or(self.timestamp)
    }

    /// Whether this is the end of something that failed.
    pub fn is_failure(&self) -> bool {
        self.result == Some(Outcome::Failure)
    }

    /// What failed, of a step's end: `mount_scratch`, or `mount_scratch: apply`.
    pub fn title(&self) -> String {
        titled(self.stage.as_deref().unwrap_or_default(), self.result, &self.inner)
    }

    /// The texts that may come from a script, its arguments or its output.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let Self {
            error_line,
            error_message,
            command,
            hint,
            skipped,
            args,
            leaked,
            inner,
            called_from,
            ..
        } = self;
        let texts = [error_line, error_message, command, called_from, hint, skipped];
        let inner = inner.iter_mut().flat_map(Inner::texts_mut);
        texts.into_iter().flatten().chain(args).chain(leaked).chain(inner)
    }

    /// Returns an error for a record that can't be reported: a management node files records by
    /// node, run and seq, so it refuses one that lacks one of them.
    pub fn check_reportable(&self) -> Result<(), Invalid> {
        let ends = matches!(
            self.phase,
            Phase::ServiceEnd | Phase::StageEnd | Phase::PreCommandEnd | Phase::PostCommandEnd
        );
        let of_stage = matches!(self.phase, Phase::StageStart | Phase::StageEnd);
        if self.service.is_empty() {
            Err(Invalid::Lacks("service"))
        } else if self.timestamp == Timestamp::default() {
            Err(Invalid::Lacks("timestamp"))
        } else if self.node.is_empty() {
            Err(Invalid::Lacks("node"))
        } else if uuid::Uuid::parse_str(&self.run).is_err() {
            Err(Invalid::Run(self.run.clone()))
        } else if self.seq == 0 {
            Err(Invalid::Lacks("seq"))
        } else if of_stage && self.stage.as_deref().unwrap_or_default().is_empty() {
            Err(Invalid::Lacks("stage"))
        } else if ends != self.result.is_some() && !matches!(self.phase, Phase::Other(_)) {
            Err(Invalid::Result)
        } else {
            Ok(())
        }
    }
}

/// Why a record can't be reported.
#[derive(Debug, thiserror::Error)]
pub enum Invalid {
    /// A key without which the record can't be filed.
    #[error("the record has no {0}")]
    Lacks(&'static str),
    /// The run's id is not a UUID.
    #[error("the record's run {0:?} is not a UUID")]
    Run(String),
    /// An end without a result, or a start with one.
    #[error("the record is an end without a result, or a start with one")]
    Result,
}

pub(crate) fn is_zero(n: &u64) -> bool {
    *n == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The design's sample entry: our text must be this very text, key order included.
    const FAILED: &str = r#"{"timestamp":"2026-11-20T17:00:09Z","stage":"otherpkgs","phase":"stage end","result":"failure","errorLine":"88 install_all /xcatpost/otherpkgs","errorMessage":"Reading package lists...\nE: Unable to locate package slurmd\notherpkgs: 1 of 3 packages failed","service":"boot","node":"cn001","run":"0198","seq":7,"exitCode":100,"cause":"exit","command":"apt-get install -y slurmd","hint":"add the repository","durationMs":7130}"#;

    #[test]
    fn the_text_of_a_record_is_the_designs() {
        let record: Record = serde_json::from_str(FAILED).unwrap();
        assert_eq!(serde_json::to_string(&record).unwrap(), FAILED);
        assert_eq!(record.cause, Some(Cause::Exit));
        assert_eq!(record.exit_code, Some(100));
    }

    #[test]
    fn commands_are_counted_between_the_command_and_the_hint() {
        let counts =
            r#""command":"apt-get install -y slurmd","commands":12,"commandsFailed":1,"hint""#;
        let text = FAILED.replace(r#""command":"apt-get install -y slurmd","hint""#, counts);
        let record: Record = serde_json::from_str(&text).unwrap();
        assert_eq!((record.commands, record.commands_failed), (12, 1));
        assert_eq!(serde_json::to_string(&record).unwrap(), text);
    }

    #[test]
    fn times_are_whole_seconds_of_utc_and_never_ahead() {
        let at: Timestamp = "2026-11-20T17:00:09.999Z".parse().unwrap();
        assert_eq!(whole_seconds(at).to_string(), "2026-11-20T17:00:09Z");
    }

    #[test]
    fn unknown_keys_are_ignored() {
        let text = r#"{"timestamp":"2026-11-20T17:00:09Z","phase":"service start","colour":1}"#;
        assert!(serde_json::from_str::<Record>(text).is_ok());
    }

    #[test]
    fn what_cannot_be_filed_is_refused_by_name() {
        let mut record = Record::new(Phase::StageEnd);
        let why = |r: &Record| r.check_reportable().unwrap_err().to_string();
        assert_eq!(why(&record), "the record has no service");
        record.service = "boot".into();
        record.node = "cn001".into();
        record.run = "../../etc".into();
        assert!(why(&record).contains("../../etc"));
        record.run = uuid::Uuid::now_v7().to_string();
        assert_eq!(why(&record), "the record has no seq");
        record.seq = 1;
        assert_eq!(why(&record), "the record has no stage");
        record.stage = Some("syslog".into());
        assert!(why(&record).contains("result"));
        record.result = Some(Outcome::Success);
        assert!(record.check_reportable().is_ok());
    }
}

#[cfg(test)]
mod run_tests {
    use super::*;

    #[test]
    fn the_id_of_a_run_says_when_it_began() {
        let began = |run: &str| Record { run: run.into(), ..Record::new(Phase::ServiceEnd) };
        let record = began("01a20688-7483-775c-a77a-2ab58dcfbd19");
        assert_eq!(record.run_began().as_millisecond(), 0x01a2_0688_7483);
        let record = began("a");
        assert_eq!(record.run_began(), record.timestamp);
    }
}
