use jiff::Timestamp;
use provost_record::{FETCH, Outcome, Run, Service, Stage};
use provost_steplog::wording;
use serde::Serialize;

/// What the last kickstart or boot of a node left to do. A script that an admin runs by hand
/// finishes nothing of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Unfinished {
    /// `kickstart` or `boot`.
    pub(crate) service: Service,
    /// The run that failed.
    pub(crate) run: String,
    /// When it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started: Option<Timestamp>,
    /// The first stage that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stage: Option<String>,
    /// How that ended, in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<String>,
    /// Whether an admin has run it since, and it succeeded.
    pub(crate) succeeded_since: bool,
    /// The scripts that never ran.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) not_run: Vec<String>,
    /// Why nothing of it ran at the last try, where that isn't the stage's failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// What to type once the cause is fixed.
    pub(crate) command: String,
}

/// What releases a node that this node itself holds.
const RELEASE: &str = "provost release";

impl Unfinished {
    /// What is unfinished after these runs of all services, the oldest first. A run that is in
    /// progress is none of it.
    pub(crate) fn of(runs: &[Run]) -> Option<Self> {
        let (service, last) = runs.iter().rev().find_map(|run| {
            let service = Service::ALL.into_iter().find(|s| s.as_str() == run.service)?;
            Some((service, run)).filter(|_| service != Service::Run)
        })?;
        let waits = || last.stages.last().is_some_and(Stage::wants_reboot);
        let in_progress = last.result.is_none() && (runs.last() == Some(last) || waits());
        if in_progress || last.result == Some(Outcome::Success) {
            return None;
        }
        // A run that was held, or could fetch nothing, left what the run before it had left.
        let has_steps = |run: &&Run| {
            run.service == last.service && run.boot_id == last.boot_id && has_steps(run)
        };
        let at = runs.iter().rposition(|run| has_steps(&run)).filter(|_| !has_steps(&last));
        let at = at.or_else(|| runs.iter().rposition(|run| run.run == last.run))?;
        let run = &runs[at];
        let failed = run.failed_stage().or(run.stages.iter().find(|stage| stage.result.is_none()));
        let by_hand = runs[at..].iter().filter(|run| run.service == Service::Run.as_str());
        let succeeded = |stage: &Stage| {
            stage.result == Some(Outcome::Success)
                && failed.is_some_and(|failed| failed.stage == stage.stage)
        };
        let continues = service.continue_command()?;
        Some(Self {
            service,
            run: run.run.clone(),
            started: run.started,
            stage: failed.map(|stage| stage.stage.clone()),
            outcome: failed.map(|stage| match stage.result {
                None => "cut off".to_owned(),
                Some(_) => wording::outcome(stage.cause, stage.exit_code, stage.signal.as_deref()),
            }),
            succeeded_since: by_hand.flat_map(|run| &run.stages).any(succeeded),
            not_run: not_run(run),
            reason: why_none(last).filter(|_| run.run != last.run || failed.is_none()),
            // The management node's own hold ends there.
            command: match last.hint.as_deref().is_some_and(|hint| hint.contains(RELEASE)) {
                true => format!("{RELEASE} && {continues}"),
                false => continues.to_owned(),
            },
        })
    }

    /// What failed, and what never ran: a sentence without its subject.
    pub(crate) fn summary(&self) -> String {
        let mut parts = Vec::new();
        if let (Some(stage), Some(outcome)) = (&self.stage, &self.outcome) {
            let since = if self.succeeded_since { ", run by hand since and succeeded" } else { "" };
            parts.push(format!("{stage} failed ({outcome}){since}"));
        }
        parts.extend(self.reason.clone());
        if !self.not_run.is_empty() {
            parts.push(format!("never ran: {}", self.not_run.join(", ")));
        }
        parts.join("; ")
    }
}

fn has_steps(run: &Run) -> bool {
    !run.not_run.is_empty() || run.stages.iter().any(|stage| stage.stage != FETCH)
}

/// What a run didn't come to. The end of a run that was cut off doesn't say it.
fn not_run(run: &Run) -> Vec<String> {
    if !run.not_run.is_empty() || run.result == Some(Outcome::Success) {
        return run.not_run.clone();
    }
    let mut begun: Vec<&str> = run.stages.iter().map(|stage| stage.stage.as_str()).collect();
    let is_left = |name: &&String| match begun.iter().position(|begun| begun == *name) {
        Some(at) => {
            begun.remove(at);
            false
        }
        None => true,
    };
    run.planned.iter().filter(is_left).cloned().collect()
}

/// Why a run ran nothing.
fn why_none(run: &Run) -> Option<String> {
    let message = run.error_message.as_ref().or_else(|| run.failed_stage()?.error_message.as_ref());
    message.and_then(|message| message.lines().next()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use provost_record::Cause;

    use super::*;

    fn stage(name: &str, result: Option<Outcome>) -> Stage {
        let exit_code = (result == Some(Outcome::Failure)).then_some(7);
        Stage { stage: name.to_owned(), result, exit_code, ..Stage::default() }
    }

    fn run(service: &str, id: &str, result: Option<Outcome>, stages: Vec<Stage>) -> Run {
        Run { service: service.into(), run: id.into(), result, stages, ..Run::default() }
    }

    const GOOD: Option<Outcome> = Some(Outcome::Success);
    const BAD: Option<Outcome> = Some(Outcome::Failure);

    fn failed_boot() -> Run {
        let stages = vec![stage("fetch", GOOD), stage("a", GOOD), stage("b", BAD)];
        Run { not_run: vec!["c".into()], ..run("boot", "1", BAD, stages) }
    }

    #[test]
    fn a_boot_stays_unfinished_whatever_is_run_by_hand() {
        let mut runs = vec![failed_boot()];
        let left = Unfinished::of(&runs).unwrap();
        assert_eq!(left.summary(), "b failed (exit status 7); never ran: c");
        assert_eq!(left.command, "provost boot --continue");
        runs.push(run("run", "2", GOOD, vec![stage("fetch", GOOD), stage("b", GOOD)]));
        let left = Unfinished::of(&runs).unwrap();
        assert!(left.succeeded_since, "{left:?}");
        runs.push(run("boot", "3", None, Vec::new()));
        assert_eq!(Unfinished::of(&runs), None, "it is in progress");
        runs[2].result = GOOD;
        assert_eq!(Unfinished::of(&runs), None);
    }

    #[test]
    fn a_run_that_ran_nothing_leaves_what_the_one_before_it_left() {
        let held = Run {
            cause: Some(Cause::Held),
            hint: Some("fix it, then: provost release && provost boot --continue".into()),
            error_message: Some("this node is held".into()),
            ..run("boot", "2", BAD, Vec::new())
        };
        let left = Unfinished::of(&[failed_boot(), held.clone()]).unwrap();
        assert_eq!(left.command, "provost release && provost boot --continue");
        let summary = "b failed (exit status 7); this node is held; never ran: c";
        assert_eq!((left.run.as_str(), left.summary().as_str()), ("1", summary));
        let hint = Some("on the management node: provostctl release cn001".into());
        let there = Unfinished::of(&[failed_boot(), Run { hint, ..held.clone() }]).unwrap();
        assert_eq!(there.command, "provost boot --continue");
        // What was done before the machine booted may be gone.
        let after_boot = Run { boot_id: Some("other".into()), ..held };
        let left = Unfinished::of(&[failed_boot(), after_boot]).unwrap();
        assert_eq!((left.stage, left.reason.as_deref()), (None, Some("this node is held")));
    }

    #[test]
    fn a_run_that_was_cut_off_had_a_plan() {
        let cut_off = Run {
            planned: ["a", "b", "c"].map(str::to_owned).to_vec(),
            ..run("kickstart", "1", BAD, vec![stage("fetch", GOOD), stage("a", None)])
        };
        let left = Unfinished::of(&[cut_off]).unwrap();
        assert_eq!(left.summary(), "a failed (cut off); never ran: b, c");
        assert_eq!(left.command, "provost kickstart --continue");
    }
}
