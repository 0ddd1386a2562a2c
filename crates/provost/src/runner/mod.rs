//! A run from its first record to its last: one loop decides what comes next.

mod broken;
mod fetching;
mod guard;
mod library;
mod lock;
mod markers;
mod paused;
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

use std::io::Write;
use std::path::Path;

use provost_exec::Supervisor;
use provost_plan::Step;
use provost_record::{ExitCode, Service};

use crate::console::{Console, complain};
use crate::failure::Failure;
use crate::settings::Input;

pub(crate) use guard::{Attempts, held_there};
pub(crate) use lock::RunLock;
pub(crate) use paused::Paused;
pub(crate) use reboot::request as request_reboot;
pub(crate) use release::main as release;
use run::run;
pub(crate) use stamp::main as stamp;
pub(crate) use told::{how, rounded};

/// What was asked for.
pub(crate) enum Wanted {
    /// The postscripts: `kickstart`.
    Postscripts,
    /// What this boot needs: `boot`.
    Boot,
    /// These steps, whatever the plan says: `run`.
    Named(Vec<Step>),
}

impl Wanted {
    fn service(&self) -> Service {
        match self {
            Self::Postscripts => Service::Kickstart,
            Self::Boot => Service::Boot,
            Self::Named(_) => Service::Run,
        }
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
pub(crate) fn main(input: &Input, wanted: Wanted, verbose: bool) -> ExitCode {
    // First of all, while this process has one thread.
    let supervisor = Supervisor::start();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match (supervisor, runtime) {
        (Ok(supervisor), Ok(runtime)) => {
            let console = Console::new(input, verbose);
            runtime.block_on(run(input, wanted, console, supervisor))
        }
        (Err(e), _) | (_, Err(e)) => {
            let failure = Failure::config(
                format!("starting the run: {e}"),
                "see ulimit -n, ulimit -u and the free memory",
            );
            complain(&format!("error: {failure}"));
            failure.exit_code()
        }
    }
}
