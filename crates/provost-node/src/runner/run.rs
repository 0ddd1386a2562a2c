use provost_record::wording;
use std::time::{Duration, Instant};

use provost_exec::{Orders, Supervisor};
use provost_record::{ExitCode, Outcome, Phase, Service};
use tokio::sync::watch;

use super::broken::Broken;
use super::exchange::Exchange;
use super::outbox::Outbox;
use super::ready::Ready;
use super::reboot::reboot_paused;
use super::{Wanted, steps};
use crate::failure::Failure;
use crate::install::Install;
use crate::observe::console::Console;
use crate::observe::echo::Echo;
use crate::observe::notices::{put_up, take_down};
use crate::observe::report::{tell, waiting_runs};
use crate::settings::{Input, Paths};
use crate::state::attempts::{Attempts, held_there};
use crate::state::journal::Recorder;
use crate::state::markers::Markers;
use crate::state::progress::{Paused, Progress};
use crate::state::root::Root;
use crate::state::{library, logs};

/// A run that is going on.
pub(crate) struct Run<'a> {
    pub(crate) paths: &'a Paths,
    pub(crate) service: Service,
    pub(crate) node: String,
    pub(crate) id: String,
    pub(crate) attempt: Option<u32>,
    pub(crate) began: Instant,
    pub(crate) recorder: Recorder,
    pub(crate) console: &'a mut Console,
    /// Whoever gets all that scripts print.
    pub(crate) echo: Option<Echo>,
    pub(crate) supervisor: Supervisor,
    pub(crate) orders: watch::Receiver<Orders>,
    pub(crate) attempts: Attempts,
    /// Why nothing may run, as far as this node knows.
    pub(crate) held: Option<Failure>,
    pub(crate) exchange: Exchange,
    pub(crate) outbox: Option<Outbox>,
    /// Why the management node wants nothing more to run, while it does.
    pub(crate) hold: Option<watch::Receiver<Option<String>>>,
    pub(crate) markers: Markers,
    pub(crate) progress: Progress,
    /// What comes after the step that runs.
    pub(crate) next: Option<Ready>,
    /// Where the management node is xCAT's.
    pub(crate) xcat_log: Option<crate::xcat::Log>,
}

impl Run<'_> {
    /// Runs what is `wanted`, from the second record to the last. Returns how to exit.
    pub(crate) async fn go(mut self, input: &Input, wanted: &Wanted) -> ExitCode {
        let assumed = match wanted {
            Wanted::FirstBoot => Root::Installed,
            Wanted::Reboot => Root::Booted,
            _ => Root::Other,
        };
        let root = Root::read(&self.paths.state).or(assumed);
        let ended = self.all(input, wanted, root).await;
        self.supervisor.dismiss();
        let ended = match ended {
            Ok(Some(paused)) => {
                self.flush().await;
                if self.orders.borrow().stop.is_some() {
                    return ExitCode::Interrupted;
                }
                return reboot_paused(paused, &self.paths.state, self.console).await;
            }
            Ok(None) => self.note_root(input, root),
            Err(broken) => Err(broken),
        };
        let mut end = self.recorder.record(Phase::ServiceEnd);
        end.duration_ms = Some(milliseconds(self.ran()));
        end.result = Some(if ended.is_ok() { Outcome::Success } else { Outcome::Failure });
        self.end_xcat(root, ended.is_ok());
        let exit = match ended {
            Ok(()) => ExitCode::Done,
            Err(broken) => {
                end.error_line = broken.error_line;
                end.error_message = broken.error_message;
                end.cause = broken.cause;
                end.hint = broken.hint;
                end.not_run = broken.not_run;
                broken.exit
            }
        };
        let verdict = if exit == ExitCode::Done { "ended well" } else { "FAILED" };
        let unrecorded = self.recorder.next(&end);
        self.tell_end(exit).await;
        let exit = match self.recorder.put_durably(end).await {
            Ok(()) => exit,
            Err(e) => {
                tell(input, vec![unrecorded]).await;
                let exit = Broken::from(e).exit;
                self.tell_end(exit).await;
                exit
            }
        };
        if exit == ExitCode::Done && self.service != Service::Run {
            // Too many are counted then; the next run that ends well forgets them.
            if let Err(e) = self.attempts.clear() {
                let state = self.paths.state.display();
                self.console.say(&format!("forgetting the attempts in {state}: {e}"));
            }
        }
        if input.notices() {
            match exit {
                ExitCode::Done => take_down(self.paths),
                _ => put_up(self.paths, self.service),
            }
        }
        let took = wording::duration(self.ran());
        self.console.say(&format!("{} {verdict} after {took}", self.service));
        self.flush().await;
        logs::remove_old(self.paths, waiting_runs(self.paths));
        exit
    }

    async fn tell_end(&self, exit: ExitCode) {
        if let Some(outbox) = &self.outbox {
            outbox.ended(self.service, exit == ExitCode::Done).await;
        }
    }

    async fn flush(&mut self) {
        if let Some(outbox) = self.outbox.take() {
            outbox.finish(&mut self.orders, self.console).await;
        }
    }

    /// How long the run has run, on both sides of its reboots, pauses left out.
    pub(crate) fn ran(&self) -> Duration {
        let here = self.began.elapsed().saturating_sub(self.supervisor.paused());
        Duration::from_millis(self.progress.ran_ms) + here
    }

    /// Everything between the first record and the last.
    async fn all(
        &mut self,
        input: &Input,
        wanted: &Wanted,
        root: Root,
    ) -> Result<Option<Paused>, Broken> {
        if let (Wanted::FirstBoot, Root::Installed) = (wanted, root) {
            // Nobody has noted that yet on a root that others installed; if this run is cut off,
            // the next boot must know that its scripts are still to run.
            self.noted(Root::installed(&self.paths.state))?;
        }
        if let Some(failure) = self.held.take() {
            self.wait_for_release(input, root, failure).await?;
        }
        // The servers were asked already, and what they answer is on its way.
        let trace = library::install(&self.paths.state)
            .and_then(|()| provost_exec::install_trace(&self.paths.state));
        let (settings, mut fetched) = self.fetch(input, wanted, root).await?;
        if let Wanted::Secured(_) = wanted {
            // As xCAT's scripts know it.
            fetched.plan.env.insert("UPDATESECURITY".to_owned(), "1".to_owned());
        }
        if let (Wanted::Listed(Some((_, Some(_)))), None) = (wanted, &fetched.mypostscript) {
            let message = "what is published for this node has no sections, only two lists";
            let hint = "name the scripts, or postscripts-start-here, or postbootscripts-start-here";
            return Err(self.refuse(&Failure::config(message, hint), &[]));
        }
        if let Some(at) = fetched.released {
            self.released(at)?;
        }
        if let Some(reason) = fetched.hold.as_ref().filter(|_| self.service != Service::Run) {
            let steps = self.progress.left(steps::select(wanted, &fetched, root));
            return Err(self.refuse(&held_there(reason, &self.node), &steps));
        }
        if let Some(install) = Install::of(input).filter(|_| self.service == Service::Kickstart)
            && let Err(failure) = install.put(&settings)
        {
            let steps = self.progress.left(steps::select(wanted, &fetched, root));
            return Err(self.refuse(&failure, &steps));
        }
        self.note_xcat(input, &settings, &fetched, root);
        self.stages(&settings, &fetched, trace, wanted, root).await
    }

    /// Remembers for the next boot what this root is now.
    fn note_root(&mut self, input: &Input, root: Root) -> Result<(), Broken> {
        let noted = match self.service {
            Service::Kickstart => Root::installed(&self.paths.state),
            Service::Boot => root.booted(&self.paths.state),
            Service::Run => Ok(()),
        };
        self.noted(noted)?;
        match Install::of(input).filter(|_| self.service == Service::Kickstart) {
            Some(install) => install.enable().map_err(|failure| self.refuse(&failure, &[])),
            None => Ok(()),
        }
    }

    fn noted(&mut self, noted: std::io::Result<()>) -> Result<(), Broken> {
        noted.map_err(|e| {
            let state = self.paths.state.display();
            let message = format!("noting in {state} how far this root is: {e}");
            let failure = Failure::config(message, "make room there, and start again");
            self.refuse(&failure, &[])
        })
    }
}

pub(crate) fn milliseconds(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}
