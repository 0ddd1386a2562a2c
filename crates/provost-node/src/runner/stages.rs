use std::io;
use std::path::PathBuf;

use provost_bundle::OnFailure;
use provost_plan::Step;
use provost_record::{Cause, ExitCode, Record, Service};

use super::broken::Broken;
use super::run::Run;
use super::step::Job;
use super::{Wanted, steps};
use crate::failure::Failure;
use crate::fetch::Fetched;
use crate::settings::Settings;
use crate::state::attempts::held_there;
use crate::state::progress::{FirstFailure, Paused};
use crate::state::root::Root;

impl Run<'_> {
    /// Runs what is left of the run's steps, in order, up to the first that stops it. Returns how
    /// it goes on, if it has to wait for a reboot.
    pub(crate) async fn stages(
        &mut self,
        settings: &Settings,
        fetched: &Fetched,
        trace: io::Result<PathBuf>,
        wanted: &Wanted,
        root: Root,
    ) -> Result<Option<Paused>, Broken> {
        let mut chosen = self.progress.left(steps::select(wanted, fetched, root));
        // What isn't there fails first, before anything has run in vain.
        chosen.sort_by_key(|step| fetched.manifest.file(&step.script).is_some());
        let logs = self.paths.scripts(&self.id);
        let prepared = std::fs::create_dir_all(&logs).and(trace);
        let trace = prepared.map_err(|e| {
            let message = format!("preparing to run scripts, logs in {}: {e}", logs.display());
            let failure = Failure::config(message, "see that this is a writable file system");
            self.refuse(&failure, &chosen)
        })?;
        let total = self.progress.begun + chosen.len();
        for (at, step) in chosen.iter().enumerate() {
            self.supervisor.pause(&self.orders).await;
            if let Some(failure) = self.ends_before(settings, step) {
                return Err(self.refuse(&failure, &chosen[at..]));
            }
            let next = chosen.get(at + 1);
            let job = Job { settings, fetched, step, next, total, trace: &trace };
            let (record, paused) = self.step(&job).await?;
            if paused.is_some() {
                return Ok(paused);
            }
            self.progress.over.push(step.clone());
            let rest = &chosen[at + 1..];
            if record.is_failure() {
                self.failed(fetched, step, record, rest)?;
            } else if self.service == Service::Run && record.cause == Some(Cause::Reboot) {
                self.leave_reboot_to_admin(step, rest)?;
            }
        }
        match self.progress.failure.take() {
            Some(first) => Err(Broken::at(ExitCode::PostscriptFailed, first, Vec::new())),
            None => Ok(None),
        }
    }

    /// What keeps the run from going on with `step`.
    pub(crate) fn ends_before(&self, settings: &Settings, step: &Step) -> Option<Failure> {
        if let Some(signal) = self.orders.borrow().stop {
            let message = format!("the run was ended by {signal} before {}", step.script);
            return Some(Failure::new(Cause::Interrupted, message, "start it again"));
        }
        let deadline = settings.run.deadline;
        if self.ran() >= deadline.duration() {
            let message = format!("the run's {deadline} were over before {}", step.script);
            let hint = "see in provost status what took so long, or raise `deadline` under [run]";
            return Some(Failure::new(Cause::Timeout, message, hint));
        }
        if self.service == Service::Run {
            return None;
        }
        let hold = self.hold.as_ref()?.borrow().clone()?;
        Some(held_there(&hold, &self.node))
    }

    /// Ends the run before `steps`, for which no stage is to blame.
    pub(crate) fn refuse(&mut self, failure: &Failure, steps: &[Step]) -> Broken {
        self.console.say(&format!("error: {failure}"));
        Broken { not_run: names(steps), ..Broken::outside(failure) }
    }

    /// What the failure of `step` means for the run, of which `rest` is left.
    fn failed(
        &mut self,
        fetched: &Fetched,
        step: &Step,
        record: Record,
        rest: &[Step],
    ) -> Result<(), Broken> {
        let step_stopped = record.cause == Some(Cause::Interrupted);
        let stopped = step_stopped || self.orders.borrow().stop.is_some();
        let policy = steps::on_failure(fetched, step);
        if policy == OnFailure::Ignore && !stopped {
            self.console.say(&format!("{}: its failure is ignored, as it says", step.script));
            return Ok(());
        }
        let (error_line, error_message) = (record.error_line, record.error_message);
        let first =
            self.progress.failure.get_or_insert(FirstFailure { error_line, error_message }).clone();
        match policy {
            _ if stopped => {
                let mut broken = Broken::at(ExitCode::Interrupted, first, names(rest));
                if !step_stopped {
                    // Its stage says how it failed, not what kept it from its next try.
                    broken.cause = Some(Cause::Interrupted);
                    broken.hint = Some("start it again".to_owned());
                }
                Err(broken)
            }
            OnFailure::Stop => Err(Broken::at(ExitCode::PostscriptFailed, first, names(rest))),
            OnFailure::Continue | OnFailure::Ignore => Ok(()),
        }
    }

    /// Whoever runs scripts by hand has the machine, too: it isn't rebooted under that hand.
    fn leave_reboot_to_admin(&mut self, step: &Step, rest: &[Step]) -> Result<(), Broken> {
        if rest.is_empty() {
            self.console.say(&format!("{}: reboot this node, as it asks", step.script));
            return Ok(());
        }
        let list: Vec<String> = rest.iter().map(Step::to_string).collect();
        let message = format!("{} asks for a reboot before what comes after it", step.script);
        let hint = format!("reboot this node, then: provost run -P \"{}\"", list.join(","));
        Err(self.refuse(&Failure::new(Cause::Reboot, message, hint), rest))
    }
}

pub(crate) fn names(steps: &[Step]) -> Vec<String> {
    steps.iter().map(|s| s.script.clone()).collect()
}
