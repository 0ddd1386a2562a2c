//! The steps of a run, one after the other, up to the first that stops it.

use provost_bundle::OnFailure;
use provost_exec::kernel::{self, Feature};
use provost_exec::{Trace, Untraceable};
use provost_record::{Cause, ExitCode, Record, Service};
use provost_steplog::wording;
use tokio::sync::watch;

use super::attempt::StepRunner;
use super::clock::ran;
use super::guard::held_there;
use super::run_failure::RunFailure;
use super::schedule::{ScheduledStep, names};
use crate::failure::Failure;
use crate::state::library;
use crate::state::progress::{FirstFailure, Paused};

/// The steps of a run.
pub(crate) struct Steps<'a> {
    pub(crate) runner: StepRunner<'a>,
    /// Why the management node wants nothing more to run, while it does.
    pub(crate) hold: Option<watch::Receiver<Option<String>>>,
}

impl Steps<'_> {
    /// Runs them. Returns the run as it waits for a reboot, if it has to.
    pub(crate) async fn run(mut self) -> Result<Option<Paused>, RunFailure> {
        let (schedule, logs) =
            (self.runner.schedule, self.runner.run.paths.scripts(&self.runner.run.id));
        let state = &self.runner.run.paths.state;
        library::install(state).and_then(|()| provost_fs::create_private_folder(&logs)).map_err(
            |e| {
                let doing = format!("preparing to run scripts, logs in {}", logs.display());
                RunFailure::before(schedule, &Failure::of_state(doing, state, e))
            },
        )?;
        let is_traced = |s: &ScheduledStep| s.skip.is_none() && s.policy.trace == Trace::Commands;
        if schedule.iter().any(is_traced) && kernel::missing().contains(&Feature::WaitAll) {
            tracing::warn!("commands aren't traced: {}", Untraceable::OldKernel);
        }
        for (at, scheduled) in schedule.iter().enumerate() {
            self.runner.executor.pause(self.runner.orders).await;
            if let Some(failure) = self.stop_before(scheduled) {
                return Err(RunFailure::before(&schedule[at..], &failure));
            }
            let (record, paused) = self.runner.step(at).await?;
            if paused.is_some() {
                return Ok(paused);
            }
            self.runner.progress.over.push(scheduled.step.clone());
            let rest = &schedule[at + 1..];
            if record.is_failure() {
                self.after_failure(scheduled, record, rest)?;
            } else if self.runner.run.service == Service::Run && record.cause == Some(Cause::Reboot)
            {
                leave_reboot_to_admin(scheduled, rest)?;
            }
        }
        let Some(first) = self.runner.progress.failure.take() else { return Ok(None) };
        let failed = std::mem::take(&mut self.runner.progress.failed);
        tracing::warn!("{}", wording::steps_failed(&failed, self.runner.total));
        Err(RunFailure::by_steps(first, failed))
    }

    /// What keeps the run from going on with a step.
    fn stop_before(&self, scheduled: &ScheduledStep) -> Option<Failure> {
        let script = &scheduled.step.script;
        if let Some(signal) = self.runner.orders.borrow().stop {
            let message = format!("the run was ended by {signal} before {script}");
            return Some(Failure::new(Cause::Interrupted, message, self.start_again()));
        }
        let deadline = self.runner.run.settings.run.deadline;
        if ran(self.runner.run, self.runner.progress, self.runner.executor) >= deadline.duration() {
            let message = format!("the run's deadline ({deadline}) passed before {script}");
            let hint = format!(
                "see what took so long with provost status, or raise `deadline` under [run]; {}",
                self.start_again()
            );
            return Some(Failure::new(Cause::Timeout, message, hint));
        }
        if self.runner.run.service == Service::Run {
            return None;
        }
        let hold = self.hold.as_ref()?.borrow().clone()?;
        Some(held_there(&hold, &self.runner.run.node, self.runner.run.service))
    }

    /// The hint of a run that was ended before all its steps had run.
    fn start_again(&self) -> String {
        match self.runner.run.service.continue_command() {
            Some(command) => format!("go on with: {command}"),
            None => "start it again".to_owned(),
        }
    }

    /// What the failure of a step means for the run, of which `rest` is left.
    fn after_failure(
        &mut self,
        scheduled: &ScheduledStep,
        record: Record,
        rest: &[ScheduledStep],
    ) -> Result<(), RunFailure> {
        let step_stopped = record.cause == Some(Cause::Interrupted);
        let stopped = step_stopped || self.runner.orders.borrow().stop.is_some();
        let on_failure = scheduled.policy.on_failure;
        if on_failure == OnFailure::Ignore && !stopped {
            tracing::info!("{}: failed; ignored (on_failure = \"ignore\")", scheduled.step.script);
            return Ok(());
        }
        let (error_line, error_message) = (record.error_line, record.error_message);
        let first = self
            .runner
            .progress
            .failure
            .get_or_insert(FirstFailure { error_line, error_message })
            .clone();
        match on_failure {
            _ if stopped => {
                let mut failure = RunFailure::by_step(ExitCode::Interrupted, first, names(rest));
                if !step_stopped {
                    // Its stage says how it failed, not what kept it from its next try.
                    failure.cause = Some(Cause::Interrupted);
                    failure.hint = Some(self.start_again());
                }
                Err(failure)
            }
            OnFailure::Stop => {
                Err(RunFailure::by_step(ExitCode::PostscriptFailed, first, names(rest)))
            }
            OnFailure::Continue | OnFailure::Ignore => {
                self.runner.progress.failed.push(scheduled.step.script.clone());
                Ok(())
            }
        }
    }
}

/// An admin who runs scripts by hand decides about the machine, too: it isn't rebooted meanwhile.
fn leave_reboot_to_admin(
    scheduled: &ScheduledStep,
    rest: &[ScheduledStep],
) -> Result<(), RunFailure> {
    let script = &scheduled.step.script;
    if rest.is_empty() {
        tracing::warn!("{script}: reboot this node, as it requests");
        return Ok(());
    }
    let list: Vec<String> = rest.iter().map(|scheduled| scheduled.step.to_string()).collect();
    let message = format!("{script} requests a reboot before the next step");
    let hint = format!("reboot this node, then: provost run -P \"{}\"", list.join(","));
    Err(RunFailure::before(rest, &Failure::new(Cause::Reboot, message, hint)))
}
