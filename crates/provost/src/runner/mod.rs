//! A run from its first record to its last: one loop decides what comes next.

mod begin;
mod broken;
mod disk;
mod echo;
mod exchange;
mod fetching;
mod guard;
mod library;
mod lock;
mod logs;
mod markers;
mod outbox;
mod paused;
mod ready;
mod reboot;
mod recorder;
mod release;
mod root;
mod run;
mod signals;
mod stages;
mod stamp;
mod step;
mod steps;
mod succeeded;
mod told;
mod wishes;
mod xcat;

use std::io::{Write, stdout};
use std::path::Path;

use provost_exec::Supervisor;
use provost_plan::Step;
use provost_plan::mypostscript::{Group, List};
use provost_record::{ExitCode, Service};

use crate::console::{Console, complain};
use crate::failure::Failure;
use crate::settings::Input;

use begin::{cannot_begin, run};
use echo::Echo;
pub(crate) use guard::{Attempts, held_there};
pub(crate) use library::folder as library;
pub(crate) use lock::RunLock;
pub(crate) use paused::Paused;
pub(crate) use reboot::request as request_reboot;
pub(crate) use release::main as release;
pub(crate) use root::is_unfinished;
pub(crate) use stamp::main as stamp;
pub(crate) use told::{how, rounded};

/// What was asked for.
pub(crate) enum Wanted {
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
pub(crate) enum Shown {
    /// Their last line, on a terminal.
    Live,
    /// The same, whoever looks on.
    Lines,
    /// All of it, on stdout.
    All,
}

impl Shown {
    /// As the command line's `--verbose` says.
    pub(crate) fn told(verbose: bool) -> Self {
        if verbose { Self::Lines } else { Self::Live }
    }
}

/// Replaces the file at `path`, so that after a power cut it is either the old one or the new
/// one.
pub(crate) fn write_durably(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_data()?;
    file.persist(path)?;
    std::fs::File::open(folder)?.sync_all()
}

/// Removes the file at `path`, if it is there, so that a power cut doesn't bring it back.
pub(crate) fn remove_durably(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
        Ok(()) => std::fs::File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all(),
    }
}

/// Runs `wanted` on a loop of its own.
pub(crate) fn main(input: &Input, wanted: Wanted, shown: Shown) -> ExitCode {
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
