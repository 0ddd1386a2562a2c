//! Whether the user may read what a command shows: what can't be read must not look as if it weren't
//! there.

use std::io;
use std::path::{Path, PathBuf};

use provost_node::failure::Failure;
use provost_node::settings::{Input, Paths};
use provost_record::{Run, Service};

/// Fails where what `provost status` says of a node can't be read.
pub(super) fn of_status(input: &Input) -> Result<(), Failure> {
    let Paths { state, log, .. } = input.paths();
    let mut files = vec![state.join("lock"), state.join("run.json")];
    files.push(if input.takes_records() {
        state.join("report")
    } else {
        state.join("monitor.json")
    });
    files.push(log.join("scripts"));
    for service in Service::ALL {
        files.push(state.join(format!("report/{service}.json")));
    }
    of_journals(&input.paths())?;
    files.iter().try_for_each(|path| may_read(path))
}

/// The same of the records alone.
pub(super) fn of_journals(paths: &Paths) -> Result<(), Failure> {
    let journals = Service::ALL.iter().map(|service| paths.journal(*service));
    journals.into_iter().try_for_each(|path| may_read(&path))
}

/// The same of the logs of a run.
pub(super) fn of_logs(paths: &Paths, run: &Run) -> Result<(), Failure> {
    may_read(&paths.scripts(&run.run))
}

/// Fails where the user may not read the file or folder at `path`, or look whether it is there.
fn may_read(path: &Path) -> Result<(), Failure> {
    let result = match path.is_dir() {
        true => std::fs::read_dir(path).map(drop),
        false => provost_fs::open_to_read(path).map(drop),
    };
    match result {
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Err(denied(path.to_owned(), e)),
        _ => Ok(()),
    }
}

fn denied(path: PathBuf, e: io::Error) -> Failure {
    let message = format!("reading {}", path.display());
    Failure::local(message, "run it as root, such as by sudo").caused_by(e)
}
