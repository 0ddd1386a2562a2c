//! How a run begins: alone, counted, and with its first record.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use provost_exec::{Orders, Supervisor};
use provost_record::{ExitCode, Journal, Phase, Record, Service};
use provost_steplog::wording;
use tokio::sync::watch;

use super::dispatcher::Dispatcher;
use super::facts;
use super::guard::{Guard, is_attempt};
use super::management::{Management, ManagementKind};
use super::observers::Observers;
use super::reboot::reboot_after;
use super::request::RunRequest;
use super::signals;
use crate::failure::Failure;
use crate::fetch::source::Connection;
use crate::observe::console::complain;
use crate::observe::logging;
use crate::observe::notices::say_failure;
use crate::observe::observer::{Observer, RunContext};
use crate::observe::report::Spool;
use crate::settings::secrets::secrets;
use crate::settings::{Input, Paths};
use crate::state::attempts::Attempts;
use crate::state::journal::{Recorder, close_others};
use crate::state::lock::{LockError, RunLock};
use crate::state::markers::Markers;
use crate::state::privacy;
use crate::state::progress::{Paused, Progress};
use crate::state::root::Root;

/// Runs `request` from the first record to the last. Says, records and reports what happens, and
/// returns how to exit. `observers` are notified of it besides those of the management node.
pub(crate) async fn run(
    input: &Input,
    kinds: &[ManagementKind],
    request: &RunRequest,
    observers: Vec<Box<dyn Observer>>,
    executor: Supervisor,
) -> ExitCode {
    let service = request.service();
    let paths = input.paths();
    for failure in privacy::protect(&paths) {
        tracing::warn!("{failure}");
    }
    let lock = match RunLock::take(&paths.state, &format!("provost {service}")) {
        Ok(lock) => lock,
        Err(LockError::Busy(why)) => {
            complain(&format!("error: {why}"));
            return ExitCode::Busy;
        }
        Err(LockError::Failed(why)) => return cannot_begin(input, kinds, service, &why).await,
    };
    let mut paused = Paused::read(&paths.state).filter(|_| service == Service::Boot);
    if let Some(paused) = paused.take_if(|paused| !paused.asked) {
        // The process that was to ask was killed before.
        return reboot_after(paused, &paths.state).await;
    }
    let id = match &paused {
        Some(paused) => paused.run.clone(),
        None => uuid::Uuid::now_v7().to_string(),
    };
    tracing::Span::current().record("run", id.as_str());
    let (connection, mistakes) = connect(input, service, id);
    let Management { mut source, observers: more } = match manage(input, kinds, &connection) {
        Ok(management) => management,
        Err(why) => return cannot_begin(input, kinds, service, &why).await,
    };
    if mistakes.is_empty() {
        source.prefetch().await;
    }
    let begun = begin(input, request, &connection, paused);
    let Begun { run, guard, journal, orders, progress } = match begun {
        Ok(begun) => begun,
        Err(why) => return cannot_begin(input, kinds, service, &why).await,
    };
    if let Err(e) = lock.note(&run.id) {
        tracing::warn!("noting the run in {}: {e}", paths.state.join("lock").display());
    }
    let observers = Observers(observers.into_iter().chain(more).collect());
    let dispatcher = Dispatcher {
        input,
        request,
        run,
        mistakes,
        guard,
        source,
        observers,
        journal,
        executor,
        orders,
        progress,
    };
    dispatcher.go().await
}

/// What it takes to ask the servers and what is wrong in the settings. What is right of them serves
/// to report what is wrong.
pub fn connect(input: &Input, service: Service, run: String) -> (Connection, Vec<Failure>) {
    let (mut settings, mut mistakes) = input.usable();
    let client = settings.client().or_else(|failure| {
        mistakes.push(failure);
        (settings.proxy, settings.ca) = (None, None);
        settings.client()
    });
    let client = client.unwrap_or_default();
    client.transport().remember_in(&input.paths().state);
    if settings.token.is_some() && settings.join.is_none() {
        client.transport().has_token();
    }
    let settings = Arc::new(settings);
    logging::hide(secrets(&settings, None));
    (Connection { settings, client, paths: input.paths(), service, run }, mistakes)
}

/// The management node, of the kind that the settings name.
pub fn manage(
    input: &Input,
    kinds: &[ManagementKind],
    connection: &Connection,
) -> Result<Management, Failure> {
    let name = input.source_kind();
    let kind = kinds.iter().find(|kind| kind.name == name).ok_or_else(|| {
        Failure::config(format!("unknown source.kind {name:?}"), "set `kind` under [source]")
    })?;
    Ok((kind.connect)(input, connection))
}

/// A run that can't be recorded doesn't begin. It is told wherever that is possible.
pub(crate) async fn cannot_begin(
    input: &Input,
    kinds: &[ManagementKind],
    service: Service,
    why: &Failure,
) -> ExitCode {
    tracing::error!("error: {why}");
    if input.notices() {
        say_failure(&input.paths(), service, &input.node(), &why.text());
    }
    let (_sender, none) = watch::channel(Orders::default());
    let mut orders = signals::watch().unwrap_or(none);
    let (connection, _) = connect(input, service, uuid::Uuid::now_v7().to_string());
    let management = manage(input, kinds, &connection).ok();
    for mut observer in management.into_iter().flat_map(|management| management.observers) {
        if observer.run_refused(service, why, &mut orders).await {
            tracing::info!("reported to the management node");
        }
    }
    ExitCode::Usage
}

/// What there is of a run once its first record is in the journal.
struct Begun {
    run: RunContext,
    guard: Guard,
    journal: Recorder,
    orders: watch::Receiver<Orders>,
    progress: Progress,
}

/// Counts the attempt, before anything else, and records the beginning; or, after a reboot, that the
/// run goes on.
fn begin(
    input: &Input,
    request: &RunRequest,
    connection: &Connection,
    paused: Option<Paused>,
) -> Result<Begun, Failure> {
    let Connection { settings, paths, service, run: id, .. } = connection;
    let (service, node) = (*service, input.node());
    let disk = |e: std::io::Error| not_counted(paths, &e);
    let mut attempts =
        Attempts::read(&paths.state, input.guard().max_attempts.get()).map_err(disk)?;
    let counts = is_attempt(service, paused.is_some());
    let held = attempts.held(service, input.known_there()).filter(|_| counts).map(|held| {
        let why = attempts.last_run().and_then(|(service, run)| why_failed(paths, service, run));
        why.map_or(held.clone(), |why| held.reworded(|text| format!("{text}: {why}")))
    });
    let attempt = match &paused {
        Some(paused) => paused.attempt,
        None if !counts => None,
        None if held.is_some() => Some(attempts.number().saturating_add(1)),
        None => Some(attempts.count(service, id).map_err(disk)?),
    };
    if let Some(marker) = paused.as_ref().and_then(|paused| paused.marker.as_ref()) {
        Markers::new(&paths.state).put(marker).map_err(disk)?;
    }
    let last = match request {
        // Before this run is in it.
        RunRequest::Continue(_) => Journal::read(&paths.journal(service), 0)?,
        _ => Vec::new(),
    };
    // Not there in a chroot without /proc; then it isn't known.
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
    let boot_id = boot_id.map(|id| id.trim().to_owned());
    let last = Progress::after(last.into_iter().map(|entry| entry.record), boot_id.as_deref());
    let may_rotate = !input.takes_records() || Spool::new(paths).unreported(service) == 0;
    let resumed = paused.as_ref().map(|paused| &paused.end);
    let (mut journal, notes) = Recorder::open(paths, service, &node, id, may_rotate, resumed)?;
    let notes = notes.into_iter().chain(close_others(paths, service));
    notes.for_each(|note| tracing::warn!("{note}"));
    let orders = signals::watch()
        .map_err(|e| Failure::local(format!("watching for signals: {e}"), "check ulimit -n"))?;
    let mut start = journal.record(Phase::ServiceStart);
    start.attempt = attempt;
    start.boot_id = boot_id;
    start.facts = facts::read(Path::new("/"));
    journal.put(start)?;
    journal.sync_soon();
    if service != Service::Run {
        // It goes on from here; or a kickstart makes this root anew.
        Paused::forget(&paths.state).map_err(disk)?;
    }
    let verb = if paused.is_some() { "continues" } else { "begins" };
    tracing::info!("{service} of {node} {verb}, run {id}");
    journal.hide(secrets(settings, None));
    let run = RunContext {
        service,
        node,
        id: id.clone(),
        attempt,
        root: Root::read(&paths.state).or(request.assumed_root()),
        paths: paths.clone(),
        settings: Arc::clone(settings),
        began: Instant::now(),
        synced: journal.synced(),
    };
    let progress = paused.map_or(last, |paused| paused.progress);
    Ok(Begun { run, guard: Guard { attempts, held }, journal, orders, progress })
}

/// What the run `run` failed by, in a few words: the stage, how it ended, and its last line.
fn why_failed(paths: &Paths, service: Service, run: &str) -> Option<String> {
    let entries = Journal::read(&paths.journal(service), 0).ok()?;
    let failed = |record: &Record| {
        record.run == run && record.phase == Phase::StageEnd && record.is_failure()
    };
    let end = entries.into_iter().rev().map(|entry| entry.record).find(failed)?;
    let how = wording::outcome(end.cause, end.exit_code, end.signal.as_deref());
    let line = end.error_message.as_deref().and_then(|text| text.lines().last());
    let line = line.map_or(String::new(), |line| format!(", {line}"));
    Some(format!("{}, {how}{line}", end.stage?))
}

fn not_counted(paths: &Paths, e: &std::io::Error) -> Failure {
    let message = format!("counting the attempts in {}: {e}", paths.state.display());
    let hint = match e.kind() {
        std::io::ErrorKind::StorageFull => "make room on that file system",
        _ => "run as root, and check that it is on a writable file system",
    };
    Failure::local(message, hint)
}
