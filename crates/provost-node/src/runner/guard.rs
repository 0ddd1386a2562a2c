//! The guard of a run, and how a node that it holds is released.

use jiff::Timestamp;
use provost_exec::Orders;
use provost_record::{ExitCode, Service};
use provost_steplog::wording;
use tokio::sync::watch;

use super::run_failure::RunFailure;
use crate::failure::Failure;
use crate::fetch::source::Source;
use crate::observe::logging;
use crate::observe::notices::remove_login_notice;
use crate::observe::observer::RunContext;
use crate::settings::Input;
use crate::state::attempts::Attempts;
pub(crate) use crate::state::attempts::held_there;

/// The attempts of a node, and whether they hold it.
pub(crate) struct Guard {
    pub(crate) attempts: Attempts,
    /// Why nothing may run, as far as this node knows.
    pub(crate) held: Option<Failure>,
}

impl Guard {
    /// A node that is held stays so, unless an admin has released it on the management node.
    pub(crate) async fn check(
        &mut self,
        run: &RunContext,
        source: &mut dyn Source,
        orders: &mut watch::Receiver<Orders>,
    ) -> Result<(), RunFailure> {
        let Some(failure) = self.held.take() else { return Ok(()) };
        let released = tokio::select! {
            at = source.released() => at,
            _ = orders.wait_for(|orders| orders.stop.is_some()) => None,
        };
        if let Some(at) = released {
            self.release(at, run).map_err(|failure| RunFailure::before([], &failure))?;
        }
        if self.attempts.held(run.service, None).is_some() {
            return Err(RunFailure::before([], &failure));
        }
        tracing::info!("the management node has released this node");
        let counted = self.attempts.count(run.service, &run.id);
        counted.map_err(|e| RunFailure::before([], &not_counted(run, &e))).map(drop)
    }

    /// Forgets the attempts before `run`: an admin released the node at `at`.
    pub(crate) fn release(&mut self, at: Timestamp, run: &RunContext) -> Result<(), Failure> {
        self.attempts.released(at, &run.id).map_err(|e| not_counted(run, &e))
    }

    /// Forgets all attempts: the run succeeded.
    pub(crate) fn forget(&mut self, run: &RunContext) {
        if let Err(e) = self.attempts.clear() {
            not_forgotten(run, &e);
        }
    }

    /// Forgets this attempt alone: the run went on to its end, though steps failed.
    pub(crate) fn discount(&mut self, run: &RunContext) {
        if let Err(e) = self.attempts.forget(&run.id) {
            not_forgotten(run, &e);
        }
    }
}

fn not_forgotten(run: &RunContext, e: &std::io::Error) {
    // Too many are counted then; the next run that ends well forgets them.
    tracing::warn!("forgetting the attempts in {}: {e}", run.paths.state.display());
}

fn not_counted(run: &RunContext, e: &std::io::Error) -> Failure {
    let message = format!("counting the attempts in {}: {e}", run.paths.state.display());
    Failure::local(message, "make room there, and start again")
}

/// `provost release`: forgets the attempts that failed.
pub fn release(input: &Input) -> ExitCode {
    let paths = input.paths();
    let _logging = logging::install(input, logging::Options::default());
    let cleared = Attempts::read(&paths.state, input.guard().max_attempts.get())
        .and_then(|mut attempts| attempts.clear());
    match cleared {
        Ok(n) => {
            if input.notices() {
                remove_login_notice(&paths);
            }
            let there = input.known_there().map(|node| {
                format!("; if the management node holds this node, too: provostctl release {node}")
            });
            tracing::info!(
                "released: {} forgotten{}",
                wording::count(n, "attempt"),
                there.unwrap_or_default()
            );
            ExitCode::Done
        }
        Err(e) => {
            let message = format!("forgetting the attempts in {}: {e}", paths.state.display());
            let failure = Failure::local(message, "run as root");
            tracing::error!("error: {failure}");
            failure.exit_code()
        }
    }
}

/// Whether a run of `service` counts as an attempt.
pub(crate) fn is_attempt(service: Service, goes_on: bool) -> bool {
    service != Service::Run && !goes_on
}
