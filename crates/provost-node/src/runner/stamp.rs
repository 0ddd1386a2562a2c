//! `provost stamp`: marks in an image what has been done there, so that a diskless node doesn't do
//! it again at every boot.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use provost_exec::{Orders, Supervisor};
use provost_plan::Step;
use provost_record::{ExitCode, Service};
use provost_steplog::wording;
use tokio::sync::watch;

use super::environment::environment;
use super::manage;
use super::management::ManagementKind;
use super::request::RunRequest;
use super::schedule::select;
use crate::failure::Failure;
use crate::fetch::retry::StillTrying;
use crate::fetch::{Connection, Fetched};
use crate::observe::logging;
use crate::room;
use crate::settings::secrets::secrets;
use crate::settings::{Input, Paths, Settings};
use crate::state::markers::{Marker, Markers};
use crate::state::root::Root;

/// Marks `steps`, or, where none are named, every step of the node's plan that runs once or at a
/// change, as done in the image at `root`. What a script is at present is taken from the servers.
pub fn main(
    input: &Input,
    kinds: &[ManagementKind],
    root: &Path,
    steps: Option<&[Step]>,
) -> ExitCode {
    // First of all, while this process has one thread.
    let executor = Supervisor::start();
    let _logging = logging::install(input, logging::Options::default());
    let stamped = executor
        .map_err(room::failure)
        .and_then(|executor| room::runtime()?.block_on(stamp(input, kinds, root, steps, executor)));
    match stamped {
        Ok(()) => ExitCode::Done,
        Err(failure) => {
            tracing::error!("error: {failure}");
            failure.exit_code()
        }
    }
}

async fn stamp(
    input: &Input,
    kinds: &[ManagementKind],
    root: &Path,
    steps: Option<&[Step]>,
    mut executor: Supervisor,
) -> Result<(), Failure> {
    if !root.is_dir() {
        let message = format!("stamping the image {}: no such folder", root.display());
        return Err(Failure::config(message, "give the image's root folder with --root"));
    }
    let settings = Arc::new(input.settings()?);
    let client = settings.client()?;
    // Not in the image: how new this node's plan is says nothing about other nodes'.
    let scratch = tempfile::tempdir()
        .map_err(|e| Failure::local(format!("making a folder: {e}"), "see TMPDIR"))?;
    let [state, xcatpost] = ["state", "xcatpost"].map(|name| scratch.path().join(name));
    let paths = Paths { state, xcatpost, ..input.paths() };
    let (service, run) = (Service::Boot, uuid::Uuid::now_v7().to_string());
    let connection =
        Connection { settings: Arc::clone(&settings), client, paths: paths.clone(), service, run };
    let mut source = manage(input, kinds, &connection)?.source;
    let (_sender, mut orders) = watch::channel(Orders::default());
    let mut still_trying = |trying: StillTrying| tracing::info!("fetch: {}", trying.why.text());
    let fetched = source.fetch(&mut executor, &mut orders, &mut still_trying).await;
    let fetched = fetched.map_err(|not_fetched| not_fetched.failure)?;
    logging::hide(secrets(&settings, Some(&fetched.plan)));
    let state = below(root, &input.paths().state);
    let failed = |what: &str, e: io::Error| {
        let message = format!("stamping {what} in {}", state.display());
        Failure::local(message, "run as root, and check that there is room").caused_by(e)
    };
    // What is above STATE is the image's, and not private.
    provost_fs::create_folder_of(&state).map_err(|e| failed("steps", e))?;
    let markers = Markers::new(&state);
    let all = match steps {
        Some(steps) => steps.to_vec(),
        None => {
            let all = RunRequest::Lists { part: None, environment: Vec::new() };
            let all = select(&all, &fetched, Root::Other)?.into_iter();
            all.map(|selected| selected.mistake.map_or(Ok(selected.step), Err))
                .collect::<Result<_, _>>()?
        }
    };
    let mut count = 0;
    for step in &all {
        let Some(marker) = marker(&settings, &fetched, &paths, step, steps.is_some())? else {
            continue;
        };
        markers.put(&marker).map_err(|e| failed(&step.to_string(), e))?;
        tracing::info!("stamped: {step}");
        count += 1;
    }
    tracing::info!("{} stamped in {}", wording::count(count, "step"), state.join("done").display());
    Ok(())
}

/// The marker of `step`; none where it has none, which is a mistake if the step was named.
fn marker(
    settings: &Settings,
    fetched: &Fetched,
    paths: &Paths,
    step: &Step,
    is_named: bool,
) -> Result<Option<Marker>, Failure> {
    let env = environment(settings, fetched, paths, None, step);
    let entry = fetched.manifest.file(&step.script);
    let marker = entry.and_then(|entry| Marker::of(step, entry, &env));
    if marker.is_some() || !is_named {
        return Ok(marker);
    }
    let (message, hint) = match entry {
        None => ("there is no such script in the bundle", "use its name in the bundle"),
        Some(_) => (
            "it runs each time, stamped or not",
            "set when = \"once\" or when = \"change\" in its header",
        ),
    };
    Err(Failure::config(format!("stamping {step}: {message}"), hint))
}

/// The path that is `path` inside the image.
fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}
