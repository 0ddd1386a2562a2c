//! A run from its first record to its last: one loop decides what comes next.

pub mod begin;
pub mod broken;
pub mod exchange;
pub mod fetching;
pub mod outbox;
pub mod ready;
pub mod reboot;
pub mod release;
pub mod run;
pub mod signals;
pub mod stages;
pub mod stamp;
pub mod step;
pub mod steps;
pub mod succeeded;
pub mod told;
pub mod wishes;

use std::io::stdout;

use provost_exec::Supervisor;
use provost_plan::Step;
use provost_plan::mypostscript::{Group, List};
use provost_record::{ExitCode, Service};

use crate::failure::Failure;
use crate::observe::console::{Console, complain};
use crate::settings::Input;

use crate::observe::echo::Echo;
pub use crate::state::library::folder as library;
use begin::{cannot_begin, run};
pub use reboot::request as request_reboot;
pub use release::main as release;
pub use stamp::main as stamp;

/// What was asked for.
pub enum Wanted {
    /// The postscripts: `kickstart`.
    Postscripts,
    /// What this boot needs: `boot`.
    Boot,
    /// The same, of a root that others have installed.
    FirstBoot,
    /// The same, of such a root that has booted before.
    Reboot,
    /// The lists of the plan, or one part of them: `run`.
    Listed(Option<(List, Option<Group>)>),
    /// These steps, whatever the plan says: `run`.
    Named(Vec<Step>),
    /// The same, for an admin who renews keys and certificates.
    Secured(Vec<Step>),
}

impl Wanted {
    fn service(&self) -> Service {
        match self {
            Self::Postscripts => Service::Kickstart,
            Self::Boot | Self::FirstBoot | Self::Reboot => Service::Boot,
            Self::Listed(_) | Self::Named(_) | Self::Secured(_) => Service::Run,
        }
    }
}

/// What is shown of what scripts print.
#[derive(Clone, Copy, PartialEq)]
pub enum Shown {
    /// Their last line, on a terminal.
    Live,
    /// The same, whoever looks on.
    Lines,
    /// All of it, on stdout.
    All,
}

impl Shown {
    /// As the command line's `--verbose` says.
    pub fn told(verbose: bool) -> Self {
        if verbose { Self::Lines } else { Self::Live }
    }
}

/// Runs `wanted` on a loop of its own.
pub fn main(input: &Input, wanted: Wanted, shown: Shown) -> ExitCode {
    // First of all, while this process has one thread.
    let supervisor = Supervisor::start();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let console = || Console::new(input, shown == Shown::Lines);
    let failure = |e: std::io::Error| {
        let hint = "see ulimit -n, ulimit -u and the free memory";
        Failure::config(format!("starting the run: {e}"), hint)
    };
    match (supervisor, runtime) {
        (Ok(supervisor), Ok(runtime)) => {
            let echo = Some(shown).filter(|s| *s == Shown::All).and_then(|_| Echo::new(stdout()));
            runtime.block_on(run(input, wanted, console(), echo, supervisor))
        }
        (Err(e), Ok(runtime)) => {
            let service = wanted.service();
            runtime.block_on(cannot_begin(input, service, &failure(e), &mut console()))
        }
        (_, Err(e)) => {
            let failure = failure(e);
            complain(&format!("error: {failure}"));
            failure.exit_code()
        }
    }
}
