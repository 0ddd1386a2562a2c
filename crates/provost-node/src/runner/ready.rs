//! What a step needs before it can begin, which is made while the one before it runs.

use std::path::{Path, PathBuf};

use provost_plan::Step;
use provost_record::Stage;

use super::run::Run;
use super::step::Job;
use super::steps;
use super::wishes::Wishes;
use crate::state::markers::Marker;

/// A step that can begin.
pub(crate) struct Ready {
    /// What it leaves if it succeeds, where it needn't run each time.
    pub(crate) marker: Option<Marker>,
    pub(crate) wishes: Wishes,
    pub(crate) step: provost_exec::Step,
    /// Whether the keeper has made it ready, too.
    pub(crate) prepared: bool,
}

impl Run<'_> {
    /// The step of `job`, for a try of it and after so many reboots that it has asked for.
    pub(crate) fn ready(&mut self, job: &Job<'_>, attempt: Option<u32>, reboots: u32) -> Ready {
        let log = self.log_of(job.step, self.progress.begun, attempt);
        // Its log's name says which step was made ready, and for which try.
        let next = self.next.take().filter(|next| next.step.log == log);
        next.unwrap_or_else(|| self.make_ready(job, &log, reboots))
    }

    /// Makes the step after that of `job` ready.
    pub(crate) fn make_next_ready(&mut self, job: &Job<'_>) {
        let Some(step) = job.next else { return };
        let log = self.log_of(step, self.progress.begun + 1, None);
        let next = self.make_ready(&Job { step, ..*job }, &log, 0);
        self.supervisor.prepare(&next.step);
        self.next = Some(Ready { prepared: true, ..next });
    }

    fn log_of(&self, step: &Step, number: usize, attempt: Option<u32>) -> PathBuf {
        let name = Stage::log_name(number, &step.script, attempt);
        self.paths.scripts(&self.id).join(format!("{name}.log"))
    }

    fn make_ready(&self, job: &Job<'_>, log: &Path, reboots: u32) -> Ready {
        let Job { settings, fetched, step, trace, .. } = *job;
        let service = Some(self.service);
        let mut env = steps::environment(settings, fetched, self.paths, service, &self.id, step);
        let entry = fetched.manifest.file(&step.script);
        let marker = entry.and_then(|entry| Marker::of(step, entry, &env));
        let wishes = Wishes::beside(log);
        env.extend(wishes.environment());
        if reboots > 0 {
            env.push(("PROVOST_RESUME".to_owned(), reboots.to_string()));
        }
        if let Some(config) = settings.config.as_deref().and_then(Path::to_str) {
            env.push(("PROVOST_CONFIG".to_owned(), config.to_owned()));
        }
        let mut step = steps::prepare(settings, fetched, step, env, log, trace);
        step.lines = self.console.is_live() || self.echo.is_some();
        step.secrets = self.recorder.secrets().clone();
        Ready { marker, wishes, step, prepared: false }
    }
}
