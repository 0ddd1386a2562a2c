//! `provost stamp`: marks in an image what has been done there, so that a diskless node doesn't do
//! it again at every boot.

use std::path::{Path, PathBuf};

use provost_exec::{Orders, Supervisor};
use provost_plan::Step;
use provost_record::ExitCode;
use tokio::sync::watch;

use super::{Wanted, steps};
use crate::failure::Failure;
use crate::fetch::{Fetched, fetch};
use crate::observe::console::Console;
use crate::settings::secrets::secrets;
use crate::settings::{Input, Paths, Settings};
use crate::state::markers::{Marker, Markers};
use crate::state::root::Root;
use crate::xcat::fetch::evaluate;

/// Marks `wanted`, or, where none are named, every step of the node's plan that runs once or at a
/// change, as done in the image at `root`. What a script is at present is taken from the servers.
pub fn main(input: &Input, root: &Path, wanted: Option<&[Step]>) -> ExitCode {
    // First of all, while this process has one thread.
    let supervisor = Supervisor::start();
    let mut console = Console::new(input, false);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let stamped = match (supervisor, runtime) {
        (Ok(supervisor), Ok(runtime)) => {
            runtime.block_on(stamp(input, root, wanted, &mut console, supervisor))
        }
        (Err(e), _) | (_, Err(e)) => Err(Failure::config(e, "see ulimit -n and the free memory")),
    };
    match stamped {
        Ok(()) => ExitCode::Done,
        Err(failure) => {
            console.say(&format!("error: {failure}"));
            failure.exit_code()
        }
    }
}

async fn stamp(
    input: &Input,
    root: &Path,
    wanted: Option<&[Step]>,
    console: &mut Console,
    mut supervisor: Supervisor,
) -> Result<(), Failure> {
    if !root.is_dir() {
        let message = format!("stamping the image {}: there is no such folder", root.display());
        return Err(Failure::config(message, "give the image's root folder with --root"));
    }
    let settings = input.settings()?;
    let client = crate::http::client(&settings)?;
    // Not in the image: how new this node's plan is says nothing about other nodes'.
    let scratch = tempfile::tempdir()
        .map_err(|e| Failure::config(format!("making a folder: {e}"), "see TMPDIR"))?;
    let [state, xcatpost] = ["state", "xcatpost"].map(|name| scratch.path().join(name));
    let paths = Paths { state, xcatpost, ..input.paths() };
    let run = uuid::Uuid::now_v7().to_string();
    let fetched = fetch(&settings, &client, &paths, &run, None, console).await;
    let mut fetched = fetched.map_err(|not| not.failure)?;
    let (_whoever, mut orders) = watch::channel(Orders::default());
    let bounds = (&*paths.state, settings.run.timeout.duration());
    evaluate(&mut fetched, bounds, &mut supervisor, &mut orders).await?;
    console.hide(secrets(&settings, &fetched.plan.env));
    let state = below(root, &input.paths().state);
    let markers = Markers::new(&state);
    let every = Wanted::Listed(None);
    if let Some(failure) =
        steps::mistake(&every, &fetched, Root::Other).filter(|_| wanted.is_none())
    {
        return Err(failure);
    }
    let all = steps::select(&every, &fetched, Root::Other);
    let mut count = 0;
    for step in wanted.unwrap_or(&all) {
        let Some(marker) = marker(&settings, &fetched, &paths, step, wanted.is_some())? else {
            continue;
        };
        markers.put(&marker).map_err(|e| {
            let message = format!("stamping {step} in {}: {e}", state.display());
            Failure::config(message, "run as root, and see that there is room")
        })?;
        console.say(&format!("stamped: {step}"));
        count += 1;
    }
    console.say(&format!("{count} stamped in {}", state.join("done").display()));
    Ok(())
}

/// The marker of `step`; none where it has none, which is a mistake if the step was named.
fn marker(
    settings: &Settings,
    fetched: &Fetched,
    paths: &Paths,
    step: &Step,
    named: bool,
) -> Result<Option<Marker>, Failure> {
    let env = steps::environment(settings, fetched, paths, None, "", step);
    let entry = fetched.manifest.file(&step.script);
    let marker = entry.and_then(|entry| Marker::of(step, entry, &env));
    if marker.is_some() || !named {
        return Ok(marker);
    }
    let (message, hint) = match entry {
        None => ("there is no such script in the bundle", "see how it is named there"),
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
