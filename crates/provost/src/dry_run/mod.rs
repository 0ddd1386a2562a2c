//! `provost run --dry-run`: runs a script for real, where it can change nothing, and shows what it would
//! have changed.
//!
//! The outer process builds the sandbox and reads what changed. In it, the node's program runs once more
//! and fetches, verifies and runs as ever; what it records is thrown away, and nobody is notified.

mod databases;
mod follow;
mod inner;
mod outcome;
mod show;
mod would;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use provost_api::published::{REHEARSED, signature};
use provost_node::failure::Failure;
use provost_node::observe::console::complain;
use provost_node::runner::AGAIN;
use provost_node::settings::Input;
use provost_plan::Step;
use provost_record::ExitCode;
use provost_sandbox::{Network, Ready, Sandbox, SandboxError};

pub(crate) use inner::{environment, flags, kinds, observers};

use self::databases::RpmBefore;
use self::follow::Follow;
use self::outcome::Outcome;

/// The most bytes of what the inner process says.
const MOST_SAID: u64 = 1 << 20;
/// What of this process's environment configures the inner one, besides `PROVOST_*`.
const ENVIRONMENT: &[&str] = &["HOME", "LANG", "LC_ALL", "PATH", "TZ"];
/// Where the caller's scripts or roots may be, though others of the kind are hidden.
const HIDDEN: &[&str] = &["/run", "/tmp"];

/// What the command line says of it.
pub(crate) struct Options {
    /// Whether the script has no network.
    pub(crate) no_network: bool,
    /// The folder for what changes.
    pub(crate) scratch: Option<PathBuf>,
    /// Whether one JSON document is printed, and nothing else on stdout.
    pub(crate) json: bool,
    /// The folder with what runs, in place of what is published.
    pub(crate) bundle: Option<PathBuf>,
    /// The folder of `provost try`, which gets the logs.
    pub(crate) folder: Option<PathBuf>,
    /// A folder that is there even in /tmp.
    pub(crate) shown: Option<PathBuf>,
}

/// Runs the steps in a sandbox.
pub(crate) fn main(
    input: &Input,
    options: &Options,
    steps: &[Step],
    command: Vec<OsString>,
) -> ExitCode {
    match attempt(input, options, steps, command) {
        Ok(code) => code,
        Err(failure) => {
            complain(&format!("error: {failure}"));
            failure.exit_code()
        }
    }
}

fn attempt(
    input: &Input,
    options: &Options,
    steps: &[Step],
    command: Vec<OsString>,
) -> Result<ExitCode, Failure> {
    let (settings, _) = input.usable();
    if settings.join.is_some() {
        let message = "a dry run would use up the join token, whose identity is thrown away";
        return Err(Failure::config(message, "give the node its identity first: provost report"));
    }
    let stops = watch_signals()?;
    let paths = input.paths();
    let title = steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    // `provost try` has said it already.
    if options.folder.is_none() {
        announce(&title, options);
    }
    let root = options.shown.as_ref().and_then(|root| fs::canonicalize(root).ok());
    let root = root.unwrap_or_else(|| "/".into());
    let rpm = RpmBefore::start(&root);
    let ready = prepare(input, options).map_err(refused)?;
    warn(&ready);
    if let Some(bundle) = &options.bundle {
        hand_over(bundle, &ready)?;
    }
    let mut env: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    env.retain(|(name, _)| {
        let name = name.to_string_lossy();
        ENVIRONMENT.contains(&&*name) || name.starts_with("PROVOST_")
    });
    // A rehearsal isn't what is published.
    if options.bundle.is_none() && std::env::var_os(AGAIN).is_none() {
        env.push((AGAIN.into(), format!("provost run --dry-run {title}").into()));
    }
    let logs = ready.path(&paths.all_scripts());
    let known = follow::folders(&logs);
    let running = ready.start(&command, &env).map_err(refused)?;
    let mut follow = Follow::new(running, &logs, &known, stops, settings.run.deadline.duration());
    let end = follow.until_the_end(options.json).map_err(refused)?;
    let said = provost_fs::read_given(&ready.notes(), MOST_SAID).ok();
    let said = said.and_then(|json| serde_json::from_slice::<inner::Said>(&json).ok());
    let (secrets, failure) = said.unwrap_or_default();
    if let Some(folder) = &options.folder {
        keep(&ready.path(&paths.log), &paths.log, folder);
    }
    let mut except = vec![paths.state, paths.log];
    except.extend(options.folder.clone());
    let outcome = Outcome {
        script: title,
        databases: databases::differences(&ready, &root, rpm),
        status: end.status,
        would: would::read(&follow::logs(&logs, &known), end.host_name.as_deref()),
        changes: ready.changes(&except),
        read_only: ready.read_only().to_vec(),
        full: ready.full(),
        reached: ready.reached(),
        failure,
        secrets,
    };
    if options.json { show::json(&outcome) } else { show::text(&outcome) }?;
    if let Some(bytes) = outcome.full {
        complain(&format!(
            "the room for what changes is full ({} MiB): what failed may have failed by that\n\
             hint: give it room on a disk: --scratch DIR",
            bytes >> 20
        ));
    }
    if let Some(processes) = outcome.reached.processes {
        complain(&format!(
            "the dry run's limit of {processes} processes was reached: what failed may have failed by that"
        ));
    }
    if let Some(bytes) = outcome.reached.memory {
        complain(&format!(
            "the dry run's limit of {} MiB of memory was reached: the kernel killed processes of it",
            bytes >> 20
        ));
        if options.scratch.is_none() {
            complain("hint: keep what changes on a disk, not in memory: --scratch DIR");
        }
    }
    Ok(code(end.status))
}

/// What it can't keep from happening stands first.
fn announce(title: &str, options: &Options) {
    let network = match options.no_network {
        true => "it has no network",
        false => "what it asks of other machines does happen (--network none: it has no network)",
    };
    complain(&format!("dry run of {title}: nothing on this machine changes; {network}"));
}

fn prepare(input: &Input, options: &Options) -> Result<Ready, SandboxError> {
    let paths = input.paths();
    // A file that is named alone has no folder in its name.
    let config = absolute(&input.config().0).ok();
    let config = config.as_deref().and_then(Path::parent).map(Path::to_owned);
    let mut shown: Vec<PathBuf> = [options.folder.clone(), options.shown.clone(), config]
        .into_iter()
        .flatten()
        .chain([paths.state, paths.log])
        .filter_map(|path| fs::canonicalize(path).ok())
        .filter(|path| !HIDDEN.iter().any(|hidden| path == Path::new(hidden)))
        .collect();
    shown.sort();
    shown.dedup_by(|path, before| path.starts_with(before));
    let network = if options.no_network { Network::None } else { Network::Host };
    let program = std::env::current_exe().unwrap_or_default();
    Sandbox { network, scratch: options.scratch.clone(), shown, program }.prepare()
}

/// Copies a rehearsal to where the program in the sandbox looks for it. That verifies all of it.
fn hand_over(bundle: &Path, ready: &Ready) -> Result<(), Failure> {
    let to = ready.path(&Ready::bundle_inside());
    let signatures = REHEARSED.map(signature);
    let names = REHEARSED.into_iter().chain(signatures.iter().map(String::as_str));
    let copy = || {
        fs::create_dir(&to)?;
        for name in names.filter(|name| bundle.join(name).exists()) {
            fs::copy(bundle.join(name), to.join(name))?;
        }
        Ok(())
    };
    copy().map_err(|e: io::Error| {
        let hint = "name the folder of a rehearsal: --bundle DIR";
        Failure::local(format!("reading {}", bundle.display()), hint).caused_by(e)
    })
}

fn warn(ready: &Ready) {
    for path in ready.read_only() {
        complain(&format!("note: {} is read-only in it: no overlay can be there", path.display()));
    }
    if ready.hides_sockets() {
        complain(
            "note: it has no Unix sockets: a daemon here has an abstract one\n\
             hint: have both kept apart: --network none",
        );
    }
    if ready.is_of_user() {
        complain(
            "note: you aren't root: in it files below /etc can be changed, others only be replaced, and no \
             file be given to another user",
        );
    }
    let limits = ready.limits();
    let unlimited = match (limits.memory, limits.processes) {
        (None, None) => "neither its memory nor the number of its processes is limited",
        (None, Some(_)) => "its memory isn't limited",
        (Some(_), None) => "the number of its processes isn't limited",
        (Some(_), Some(_)) => return,
    };
    complain(&format!("note: {unlimited}: no cgroup can be made for it"));
}

fn refused(e: SandboxError) -> Failure {
    let hint = e.hint();
    Failure::local(provost_steplog::wording::error_chain(&e), hint)
}

/// Counts the signals that ask this process to end.
fn watch_signals() -> Result<Arc<AtomicUsize>, Failure> {
    let stops = Arc::new(AtomicUsize::new(0));
    for signal in
        [rustix::process::Signal::INT, rustix::process::Signal::TERM, rustix::process::Signal::HUP]
    {
        let registered = signal_hook::flag::register_usize(signal.as_raw(), Arc::clone(&stops), 1);
        registered
            .map_err(|e| Failure::local("watching for signals", "check ulimit -n").caused_by(e))?;
    }
    Ok(stops)
}

/// Copies the journals and the logs to where they would be. A script may have put anything there.
fn keep(from: &Path, to: &Path, within: &Path) {
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        // Both fail where the disk is full, and there is less to see.
        if !to.starts_with(within) || fs::create_dir_all(to.join(&folder)).is_err() {
            return;
        }
        for entry in fs::read_dir(from.join(&folder)).into_iter().flatten().flatten() {
            let path = folder.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() => drop(fs::copy(from.join(&path), to.join(&path))),
                _ => {}
            }
        }
    }
}

/// What the inner program exited with.
fn code(status: i32) -> ExitCode {
    match status {
        0 => ExitCode::Done,
        2 => ExitCode::Usage,
        3 => ExitCode::Fetch,
        4 => ExitCode::Held,
        5 => ExitCode::Interrupted,
        6 => ExitCode::Busy,
        _ => ExitCode::PostscriptFailed,
    }
}
