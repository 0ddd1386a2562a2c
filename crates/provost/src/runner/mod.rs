//! A run from its first record to its last: one loop decides what comes next.

mod lock;
mod recorder;
mod root;
mod run;
mod steps;
mod told;

use std::io::Write;
use std::path::Path;

use provost_plan::Step;
use provost_record::{ExitCode, Service};

pub(crate) use lock::RunLock;
use run::run;
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

/// Runs `wanted` on a loop of its own.
pub(crate) fn main(input: &crate::settings::Input, wanted: Wanted) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(run(input, wanted)),
        Err(e) => {
            crate::console::complain(&format!(
                "error: starting the event loop: {e}\nhint: see ulimit -n and the free memory"
            ));
            ExitCode::Usage
        }
    }
}
