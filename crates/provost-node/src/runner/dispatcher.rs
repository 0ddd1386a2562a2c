//! The one loop of a run: it decides what comes next, asks the executor, and writes the journal.

use std::time::Duration;

use provost_exec::{Orders, Supervisor};
use provost_record::{ExitCode, Outcome, Phase, Service};
use provost_steplog::wording;
use tokio::sync::watch;

use super::attempt::StepRunner;
use super::clock::{milliseconds, ran};
use super::fetch_stage::FetchStage;
use super::guard::Guard;
use super::observers::Observers;
use super::reboot::reboot_after;
use super::request::RunRequest;
use super::run_failure::RunFailure;
use super::schedule::ScheduledStep;
use super::steps::Steps;
use crate::failure::Failure;
use crate::fetch::Fetched;
use crate::fetch::source::Source;
use crate::install::Install;
use crate::observe::notices::{remove_login_notice, write_login_notice};
use crate::observe::observer::{Observer, RunContext};
use crate::observe::report::waiting_runs;
use crate::settings::Input;
use crate::state::journal::Recorder;
use crate::state::logs;
use crate::state::markers::Markers;
use crate::state::progress::{Paused, Progress};
use crate::state::root::Root;

/// A run that is going on.
pub(crate) struct Dispatcher<'a> {
    pub(crate) input: &'a Input,
    pub(crate) request: &'a RunRequest,
    pub(crate) run: RunContext,
    /// What is wrong with the settings. It fails the run in its first stage.
    pub(crate) mistakes: Vec<Failure>,
    pub(crate) guard: Guard,
    pub(crate) source: Box<dyn Source>,
    pub(crate) observers: Observers,
    pub(crate) journal: Recorder,
    pub(crate) executor: Supervisor,
    pub(crate) orders: watch::Receiver<Orders>,
    pub(crate) progress: Progress,
}

impl Dispatcher<'_> {
    /// Runs what is requested, from the second record to the last. Returns how to exit.
    pub(crate) async fn go(mut self) -> ExitCode {
        self.observers.run_started(&self.run).await;
        let result = self.run_all().await;
        self.executor.dismiss();
        let result = match result {
            Ok(Some(paused)) => {
                self.observers.flush(&mut self.orders).await;
                if self.orders.borrow().stop.is_some() {
                    return ExitCode::Interrupted;
                }
                return reboot_after(paused, &self.run.paths.state).await;
            }
            Ok(None) => self.note_root(),
            // As with xCAT, whose installer leaves the rest to the first boot.
            Err(failure) if failure.went_on() && self.is_kickstart() && self.is_xcat() => {
                self.note_root().and(Err(failure))
            }
            Err(failure) => Err(failure),
        };
        // A node of xCAT's that can't fetch installs itself again and again.
        let came_too_early =
            !self.is_xcat() && result.as_ref().is_err_and(|failure| failure.is_unfetched);
        let went_on = result.as_ref().is_err_and(RunFailure::went_on);
        if came_too_early && self.is_kickstart() {
            self.leave_to_boots();
        }
        let exit = self.end(result).await;
        if self.run.service != Service::Run {
            match exit {
                ExitCode::Done => self.guard.forget(&self.run),
                _ if came_too_early || went_on => self.guard.discount(&self.run),
                _ => {}
            }
        }
        if self.input.notices() {
            match exit {
                ExitCode::Done => remove_login_notice(&self.run.paths),
                _ => write_login_notice(&self.run.paths, self.run.service),
            }
        }
        let took = wording::duration(self.ran());
        match exit {
            ExitCode::Done => tracing::info!("{} succeeded after {took}", self.run.service),
            _ => tracing::warn!("{} FAILED after {took}", self.run.service),
        }
        self.observers.flush(&mut self.orders).await;
        logs::remove_old(&self.run.paths, waiting_runs(&self.run.paths));
        exit
    }

    /// Writes the last record and tells the observers. Returns how to exit.
    async fn end(&mut self, result: Result<(), RunFailure>) -> ExitCode {
        let mut end = self.journal.record(Phase::ServiceEnd);
        end.duration_ms = Some(milliseconds(self.ran()));
        end.result = Some(if result.is_ok() { Outcome::Success } else { Outcome::Failure });
        let (exit, end) = match result {
            Ok(()) => (ExitCode::Done, end),
            Err(failure) => (failure.exit, failure.fill(end)),
        };
        let unrecorded = self.journal.next(&end);
        self.observers.run_ended(&self.run, exit).await;
        match self.journal.put_durably(end).await {
            Ok(()) => exit,
            Err(e) => {
                self.observers.record_unwritten(&unrecorded).await;
                let exit = RunFailure::from(e).exit;
                self.observers.run_ended(&self.run, exit).await;
                exit
            }
        }
    }

    /// How long the run has run, on both sides of its reboots, pauses left out.
    fn ran(&self) -> Duration {
        ran(&self.run, &self.progress, &self.executor)
    }

    /// Everything between the first record and the last. Returns the run as it waits for a reboot, if
    /// it has to.
    async fn run_all(&mut self) -> Result<Option<Paused>, RunFailure> {
        let state = &self.run.paths.state;
        if let (RunRequest::FirstBoot, Root::Installed) = (self.request, self.run.root) {
            // Nobody has noted that yet on a root that others installed; if this run is cut off,
            // the next boot must know that its scripts are still to run.
            self.noted(Root::installed(state))?;
        }
        self.guard.check(&self.run, &mut *self.source, &mut self.orders).await?;
        let (fetched, schedule) = self.fetch().await?;
        self.may_run(&fetched, &schedule)?;
        self.observers.planned(&self.run, &fetched, schedule.len()).await;
        let markers = Markers::new(&self.run.paths.state);
        let hold = self.observers.hold();
        let runner = StepRunner {
            run: &self.run,
            fetched: &fetched,
            schedule: &schedule,
            markers: &markers,
            observers: &mut self.observers,
            journal: &mut self.journal,
            executor: &mut self.executor,
            orders: &mut self.orders,
            total: self.progress.begun + schedule.len(),
            progress: &mut self.progress,
            next: None,
        };
        Steps { runner, hold }.run().await
    }

    /// The first stage: settings, bundle and plan. It fails with the first mistake in the settings,
    /// which is why it begins with any.
    async fn fetch(&mut self) -> Result<(Fetched, Vec<ScheduledStep>), RunFailure> {
        let stage = FetchStage {
            run: &self.run,
            request: self.request,
            mistakes: &self.mistakes,
            source: &mut *self.source,
            journal: &mut self.journal,
            executor: &mut self.executor,
            orders: &mut self.orders,
            progress: &self.progress,
        };
        stage.run().await
    }

    /// What keeps a run from beginning though all is fetched.
    fn may_run(&mut self, fetched: &Fetched, steps: &[ScheduledStep]) -> Result<(), RunFailure> {
        if let Some(at) = fetched.released {
            self.guard.release(at, &self.run).map_err(|e| RunFailure::before(steps, &e))?;
        }
        if let Some(reason) = fetched.hold.as_ref().filter(|_| self.run.service != Service::Run) {
            let failure = super::guard::held_there(reason, &self.run.node, self.run.service);
            return Err(RunFailure::before(steps, &failure));
        }
        if let Some(install) = Install::of(self.input).filter(|_| self.is_kickstart()) {
            install.put(&self.run.settings).map_err(|e| RunFailure::before(steps, &e))?;
        }
        Ok(())
    }

    fn is_xcat(&self) -> bool {
        self.run.settings.xcat.is_some()
    }

    fn is_kickstart(&self) -> bool {
        self.run.service == Service::Kickstart
    }

    /// Remembers for the next boot what this root is now.
    fn note_root(&self) -> Result<(), RunFailure> {
        let state = &self.run.paths.state;
        let noted = match self.run.service {
            Service::Kickstart => Root::installed(state),
            Service::Boot => self.run.root.booted(state),
            Service::Run | Service::Other(_) => Ok(()),
        };
        self.noted(noted)?;
        match Install::of(self.input).filter(|_| self.is_kickstart()) {
            Some(install) => install.enable().map_err(|e| RunFailure::before([], &e)),
            None => Ok(()),
        }
    }

    /// What a kickstart couldn't fetch, the boots of the new root try to fetch.
    fn leave_to_boots(&self) {
        let Some(install) = Install::of(self.input) else { return };
        match install.put(&self.run.settings).and_then(|()| install.enable()) {
            Ok(()) => tracing::warn!("the boots of this root try it again"),
            Err(failure) => tracing::warn!("{failure}"),
        }
    }

    fn noted(&self, noted: std::io::Result<()>) -> Result<(), RunFailure> {
        noted.map_err(|e| {
            let state = self.run.paths.state.display();
            let message = format!("writing the state of this root to {state}: {e}");
            let failure = Failure::local(message, "make room there, and start again");
            RunFailure::before([], &failure)
        })
    }
}
