//! A run that waits for the reboot that one of its steps asked for: STATE/run.json says where to
//! resume it.

use std::io;
use std::path::{Path, PathBuf};

use provost_plan::Step;
use provost_record::{Outcome, Phase, Record};
use serde::{Deserialize, Serialize};

use super::markers::Marker;
use provost_fs::atomic;

/// The stage that is no step.
pub const FETCH: &str = "fetch";

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The steps that are over, in order.
    pub over: Vec<Step>,
    /// The first steps of the run before, up to the first that failed or never ended, where this run
    /// goes on with the rest.
    #[serde(default)]
    pub done: Vec<Step>,
    /// How many steps have begun.
    pub begun: usize,
    /// The step that is to run again after the reboot.
    pub again: Option<Again>,
    /// How many reboots the run has asked for.
    pub reboots: u32,
    /// How long it ran before the last of them, in milliseconds.
    pub ran_ms: u64,
    /// The first failure that didn't stop it.
    pub failure: Option<FirstFailure>,
    /// The steps that failed and didn't stop it.
    #[serde(default)]
    pub failed: Vec<String>,
}

/// A step that runs again after a reboot that it asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Again {
    /// The step.
    pub step: Step,
    /// How many reboots it has asked for.
    pub reboots: u32,
    /// How often it has run.
    pub tries: u32,
}

/// What stands in the `service end` of a run that failed and went on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FirstFailure {
    /// The record's `errorLine`.
    pub error_line: Option<String>,
    /// The record's `errorMessage`.
    pub error_message: Option<String>,
}

impl Progress {
    /// Goes on where the last run of these `records` ended that ran a step. Where the machine has
    /// booted since, by its `boot_id`, all runs again: what a step did may be gone.
    pub fn after(records: impl Iterator<Item = Record>, boot_id: Option<&str>) -> Self {
        let mut ends: Vec<(Step, bool)> = Vec::new();
        let (mut run, mut is_of_this_boot) = (String::new(), true);
        for record in records {
            if record.phase == Phase::ServiceStart {
                is_of_this_boot = boot_id.is_none() || record.boot_id.as_deref() == boot_id;
            }
            if record.phase == Phase::ServiceEnd && record.result == Some(Outcome::Success) {
                // What failed in it is ignored, as its policy says.
                let of_it = ends.iter_mut().filter(|_| record.run == run && is_of_this_boot);
                of_it.for_each(|(_, is_done)| *is_done = true);
            }
            let Some(stage) = record.stage.filter(|stage| stage != FETCH) else { continue };
            // A step that began and has no end was cut off, in a run that may have no other.
            if !matches!(record.phase, Phase::StageStart | Phase::StageEnd) {
                continue;
            }
            if run != record.run {
                (run, ends) = (record.run, Vec::new());
            }
            let step = Step { script: stage, args: record.args };
            // A later try takes the place of the one before.
            ends.pop_if(|(last, is_done)| !*is_done && *last == step);
            ends.push((step, is_of_this_boot && record.result == Some(Outcome::Success)));
        }
        let done = ends.into_iter().take_while(|(_, is_done)| *is_done).map(|(step, _)| step);
        Self { done: done.collect(), ..Self::default() }
    }

    /// The steps that are left of `steps`, which are those of a plan that may have changed meanwhile.
    /// Of a step that is listed twice, and is over once, the second one is left.
    pub fn left<S: AsRef<Step>>(&self, steps: Vec<S>) -> Vec<S> {
        let mut over: Vec<&Step> = self.over.iter().collect();
        let is_left = |step: &S| match over.iter().position(|o| *o == step.as_ref()) {
            Some(at) => {
                over.remove(at);
                false
            }
            None => true,
        };
        steps.into_iter().filter(is_left).collect()
    }
}

/// A run that waits for a reboot.
#[derive(Serialize, Deserialize)]
pub struct Paused {
    /// The run's id.
    pub run: String,
    /// Which attempt it is, where attempts are counted.
    pub attempt: Option<u32>,
    /// Whether the machine was asked to reboot. Until then the run doesn't resume.
    pub asked: bool,
    /// Whether the machine refused to.
    #[serde(default)]
    pub refused: bool,
    /// The end of the step that asked for it. It may not be on the disk yet.
    pub end: Record,
    /// That step's marker, if it gets one. It may not be on the disk yet.
    pub marker: Option<Marker>,
    /// How far the run is.
    pub progress: Progress,
}

impl Paused {
    /// Reads it, if a run waits. A file that can't be read counts as none: its run is then recorded
    /// as interrupted.
    pub fn read(state: &Path) -> Option<Self> {
        serde_json::from_slice(&atomic::read(&file(state)).ok()?).ok()
    }

    /// Notes durably that the run waits.
    pub fn write(&self, state: &Path) -> io::Result<()> {
        atomic::write(&file(state), &serde_json::to_vec(self)?)
    }

    /// Notes durably that no run waits any more.
    pub fn forget(state: &Path) -> io::Result<()> {
        atomic::remove(&file(state))
    }
}

fn file(state: &Path) -> PathBuf {
    state.join("run.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_goes_on_by_what_its_steps_are() {
        let steps = |text| Step::parse_list(text).unwrap();
        let progress = Progress { over: steps("a,b x,c"), ..Progress::default() };
        assert_eq!(progress.left(steps("a,b x,c,d")), steps("d"));
        assert_eq!(progress.left(steps("new,a,c,b y,b x,a")), steps("new,b y,a"));
        assert_eq!(Progress::default().left(steps("a,a")), steps("a,a"));
    }
}
