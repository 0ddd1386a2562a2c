//! How a run begins: alone, counted, and with its first record.

use std::time::Instant;

use provost_exec::{Orders, Supervisor};
use provost_record::{ExitCode, Phase, Service};
use tokio::sync::watch;

use super::exchange::Exchange;
use super::reboot::reboot_paused;
use super::run::Run;
use super::{Wanted, signals};
use crate::failure::Failure;
use crate::observe::console::{Console, complain};
use crate::observe::echo::Echo;
use crate::observe::notices::say_failure;
use crate::observe::report::{Spool, tell_failure};
use crate::settings::{Input, Paths};
use crate::state::attempts::Attempts;
use crate::state::journal::{Recorder, close_others};
use crate::state::lock::{LockError, RunLock};
use crate::state::markers::Markers;
use crate::state::progress::{Paused, Progress};

/// Runs `wanted` from the first record to the last. Says, records and reports what happens, and
/// returns how to exit.
pub(crate) async fn run(
    input: &Input,
    wanted: Wanted,
    mut console: Console,
    echo: Option<Echo>,
    supervisor: Supervisor,
) -> ExitCode {
    let service = wanted.service();
    let paths = input.paths();
    let _lock = match RunLock::take(&paths.state, &format!("provost {service}")) {
        Ok(lock) => lock,
        Err(LockError::Busy(why)) => {
            complain(&format!("error: {why}"));
            return ExitCode::Busy;
        }
        Err(LockError::Failed(why)) => {
            return cannot_begin(input, service, &why, &mut console).await;
        }
    };
    let mut paused = Paused::read(&paths.state).filter(|_| service == Service::Boot);
    if let Some(paused) = paused.take_if(|paused| !paused.asked) {
        // Whoever was to ask was killed before.
        return reboot_paused(paused, &paths.state, &mut console).await;
    }
    let id = match &paused {
        Some(paused) => paused.run.clone(),
        None => uuid::Uuid::now_v7().to_string(),
    };
    let exchange = Exchange::begin(input, &id).await;
    match Run::begin(input, &paths, (service, id), paused, exchange, &mut console, supervisor) {
        Ok(run) => Run { echo, ..run }.go(input, &wanted).await,
        Err(why) => cannot_begin(input, service, &why, &mut console).await,
    }
}

/// A run that can't be recorded doesn't begin. It is told wherever that is possible.
pub(crate) async fn cannot_begin(
    input: &Input,
    service: Service,
    why: &Failure,
    console: &mut Console,
) -> ExitCode {
    console.say(&format!("error: {why}"));
    if input.notices() {
        say_failure(&input.paths(), service, &input.node(), &why.text());
    }
    let (_nobody, none) = watch::channel(Orders::default());
    let mut orders = signals::watch().unwrap_or(none);
    if tell_failure(input, service, why, &mut orders).await {
        console.say("the management node knows");
    }
    ExitCode::Usage
}

impl<'a> Run<'a> {
    /// Counts the attempt, before anything else, and records the beginning; or, after a reboot,
    /// that the run goes on.
    fn begin(
        input: &Input,
        paths: &'a Paths,
        (service, id): (Service, String),
        paused: Option<Paused>,
        exchange: Exchange,
        console: &'a mut Console,
        supervisor: Supervisor,
    ) -> Result<Self, Failure> {
        let node = input.node();
        let disk = |e: std::io::Error| {
            let state = paths.state.display();
            let message = format!("counting the attempts in {state}: {e}");
            let hint = match e.kind() {
                std::io::ErrorKind::StorageFull => "make room on that file system",
                _ => "run as root, and see that it is on a writable file system",
            };
            Failure::config(message, hint)
        };
        let about = console.about();
        (about.service, about.run) = (service.to_string(), id.clone());
        let mut attempts =
            Attempts::read(&paths.state, input.guard().max_attempts.get()).map_err(disk)?;
        let is_attempt = service != Service::Run && paused.is_none();
        let held = attempts.held(input.known_there()).filter(|_| is_attempt);
        let attempt = match &paused {
            Some(paused) => paused.attempt,
            None if !is_attempt => None,
            None if held.is_some() => Some(attempts.number().saturating_add(1)),
            None => Some(attempts.count(service, &id).map_err(disk)?),
        };
        let markers = Markers::new(&paths.state);
        if let Some(marker) = paused.as_ref().and_then(|paused| paused.marker.as_ref()) {
            markers.put(marker).map_err(disk)?;
        }
        let may_rotate = input.is_xcat() || Spool::new(paths).unreported(service) == 0;
        let resumed = paused.as_ref().map(|paused| &paused.end);
        let (mut recorder, said) = Recorder::open(paths, service, &node, &id, may_rotate, resumed)?;
        said.iter().for_each(|line| console.say(line));
        close_others(paths, service).iter().for_each(|line| console.say(line));
        let orders = signals::watch()
            .map_err(|e| Failure::config(format!("watching for signals: {e}"), "see ulimit -n"))?;
        let mut start = recorder.record(Phase::ServiceStart);
        start.attempt = attempt;
        // Not there in a chroot without /proc; then it isn't known.
        let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
        start.boot_id = boot_id.map(|id| id.trim().to_owned());
        recorder.put(start)?;
        recorder.sync_soon();
        if service != Service::Run {
            // It goes on from here; or a kickstart makes this root anew.
            Paused::forget(&paths.state).map_err(disk)?;
        }
        let verb = if paused.is_some() { "goes on" } else { "begins" };
        console.say(&format!("{service} of {node} {verb}, run {id}"));
        let progress = paused.map_or_else(Progress::default, |paused| paused.progress);
        let began = Instant::now();
        Ok(Self {
            paths,
            service,
            node,
            id,
            attempt,
            began,
            recorder,
            console,
            echo: None,
            supervisor,
            orders,
            attempts,
            held,
            exchange,
            outbox: None,
            hold: None,
            markers,
            progress,
            next: None,
            xcat_log: None,
        })
    }
}
