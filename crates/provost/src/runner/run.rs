use std::time::{Duration, Instant};

use provost_exec::{Orders, Supervisor};
use provost_record::{ExitCode, Outcome, Phase, Service};
use tokio::sync::watch;

use super::broken::Broken;
use super::echo::Echo;
use super::exchange::Exchange;
use super::guard::{Attempts, held_there};
use super::lock::{Refused, RunLock};
use super::markers::Markers;
use super::outbox::Outbox;
use super::paused::{Paused, Progress};
use super::recorder::{Recorder, close_others};
use super::root::Root;
use super::told::rounded;
use super::{Wanted, logs, signals, steps};
use crate::console::{Console, complain};
use crate::failure::Failure;
use crate::install::Install;
use crate::messages::{put_up, say_failure, take_down};
use crate::report::{Spool, tell, tell_failure};
use crate::settings::{Input, Paths};

/// Runs `wanted` from the first record to the last. Says, records and reports what happens, and
/// returns how to exit.
pub(super) async fn run(
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
        Err(Refused::Busy(why)) => {
            complain(&format!("error: {why}"));
            return ExitCode::Busy;
        }
        Err(Refused::Failed(why)) => return cannot_begin(input, service, &why, &mut console).await,
    };
    let mut paused = Paused::read(&paths.state).filter(|_| service == Service::Boot);
    if let Some(paused) = paused.take_if(|paused| !paused.asked) {
        // Whoever was to ask was killed before.
        return paused.reboot(&paths.state, &mut console).await;
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
async fn cannot_begin(
    input: &Input,
    service: Service,
    why: &Failure,
    console: &mut Console,
) -> ExitCode {
    console.say(&format!("error: {why}"));
    if input.notices() {
        say_failure(&input.paths(), service, &input.node(), &why.message);
    }
    let (_nobody, none) = watch::channel(Orders::default());
    let mut orders = signals::watch().unwrap_or(none);
    if tell_failure(input, service, why, &mut orders).await {
        console.say("the management node knows");
    }
    ExitCode::Usage
}

/// A run that is going on.
pub(super) struct Run<'a> {
    pub(super) paths: &'a Paths,
    pub(super) service: Service,
    pub(super) node: String,
    pub(super) id: String,
    pub(super) attempt: Option<u32>,
    began: Instant,
    pub(super) recorder: Recorder,
    pub(super) console: &'a mut Console,
    /// Whoever gets all that scripts print.
    pub(super) echo: Option<Echo>,
    pub(super) supervisor: Supervisor,
    pub(super) orders: watch::Receiver<Orders>,
    pub(super) attempts: Attempts,
    /// Why nothing may run, as far as this node knows.
    held: Option<Failure>,
    pub(super) exchange: Exchange,
    pub(super) outbox: Option<Outbox>,
    /// Why the management node wants nothing more to run, while it does.
    pub(super) hold: Option<watch::Receiver<Option<String>>>,
    pub(super) markers: Markers,
    pub(super) progress: Progress,
    /// Where the management node is xCAT's.
    pub(super) xcat_log: Option<crate::xcat::Log>,
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
        let held = attempts.held(&node).filter(|_| is_attempt);
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
        recorder.put_soon(start)?;
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
            xcat_log: None,
        })
    }

    async fn go(mut self, input: &Input, wanted: &Wanted) -> ExitCode {
        let root = Root::read(&self.paths.state).meant(wanted);
        let ended = self.all(input, wanted, root).await;
        self.supervisor.dismiss();
        let ended = match ended {
            Ok(Some(paused)) => {
                self.flush().await;
                if self.orders.borrow().stop.is_some() {
                    return ExitCode::Interrupted;
                }
                return paused.reboot(&self.paths.state, self.console).await;
            }
            Ok(None) => self.note_root(input, root),
            Err(broken) => Err(broken),
        };
        let mut end = self.recorder.record(Phase::ServiceEnd);
        end.duration_ms = Some(milliseconds(self.ran()));
        end.result = Some(if ended.is_ok() { Outcome::Success } else { Outcome::Failure });
        self.end_xcat(root, ended.is_ok());
        let exit = match ended {
            Ok(()) => ExitCode::Done,
            Err(broken) => {
                end.error_line = broken.error_line;
                end.error_message = broken.error_message;
                end.cause = broken.cause;
                end.hint = broken.hint;
                end.not_run = broken.not_run;
                broken.exit
            }
        };
        let verdict = if exit == ExitCode::Done { "ended well" } else { "FAILED" };
        let unrecorded = self.recorder.next(&end);
        self.tell_end(exit).await;
        let exit = match self.recorder.put_durably(end).await {
            Ok(()) => exit,
            Err(e) => {
                tell(input, vec![unrecorded]).await;
                let exit = Broken::from(e).exit;
                self.tell_end(exit).await;
                exit
            }
        };
        if exit == ExitCode::Done && self.service != Service::Run {
            // Too many are counted then; the next run that ends well forgets them.
            if let Err(e) = self.attempts.clear() {
                let state = self.paths.state.display();
                self.console.say(&format!("forgetting the attempts in {state}: {e}"));
            }
        }
        if input.notices() {
            match exit {
                ExitCode::Done => take_down(self.paths),
                _ => put_up(self.paths, self.service),
            }
        }
        let took = rounded(self.ran());
        self.console.say(&format!("{} {verdict} after {took}", self.service));
        self.flush().await;
        logs::remove_old(self.paths);
        exit
    }

    async fn tell_end(&self, exit: ExitCode) {
        if let Some(outbox) = &self.outbox {
            outbox.ended(self.service, exit == ExitCode::Done).await;
        }
    }

    async fn flush(&mut self) {
        if let Some(outbox) = self.outbox.take() {
            outbox.finish(&mut self.orders, self.console).await;
        }
    }

    /// How long the run has run, on both sides of its reboots, pauses left out.
    pub(super) fn ran(&self) -> Duration {
        let here = self.began.elapsed().saturating_sub(self.supervisor.paused());
        Duration::from_millis(self.progress.ran_ms) + here
    }

    /// Everything between the first record and the last.
    async fn all(
        &mut self,
        input: &Input,
        wanted: &Wanted,
        root: Root,
    ) -> Result<Option<Paused>, Broken> {
        if let (Wanted::FirstBoot, Root::Installed) = (wanted, root) {
            // Nobody has noted that yet on a root that others installed; if this run is cut off,
            // the next boot must know that its scripts are still to run.
            self.noted(Root::installed(&self.paths.state))?;
        }
        if let Some(failure) = self.held.take() {
            self.wait_for_release(input, root, failure).await?;
        }
        let (settings, mut fetched) = self.fetch(input, wanted, root).await?;
        if let Wanted::Secured(_) = wanted {
            // As xCAT's scripts know it.
            fetched.plan.env.insert("UPDATESECURITY".to_owned(), "1".to_owned());
        }
        if let (Wanted::Listed(Some((_, Some(_)))), None) = (wanted, &fetched.mypostscript) {
            let message = "what is published for this node has no sections, only two lists";
            let hint = "name the scripts, or postscripts-start-here, or postbootscripts-start-here";
            return Err(self.refuse(&Failure::config(message, hint), &[]));
        }
        if let Some(at) = fetched.released {
            self.released(at)?;
        }
        if let Some(reason) = fetched.hold.as_ref().filter(|_| self.service != Service::Run) {
            let steps = self.progress.left(steps::select(wanted, &fetched, root));
            return Err(self.refuse(&held_there(reason, &self.node), &steps));
        }
        if let Some(install) = Install::of(input).filter(|_| self.service == Service::Kickstart)
            && let Err(failure) = install.put(&settings)
        {
            let steps = self.progress.left(steps::select(wanted, &fetched, root));
            return Err(self.refuse(&failure, &steps));
        }
        self.note_xcat(input, &settings, &fetched, root);
        self.stages(&settings, &fetched, wanted, root).await
    }

    /// Remembers for the next boot what this root is now.
    fn note_root(&mut self, input: &Input, root: Root) -> Result<(), Broken> {
        let noted = match self.service {
            Service::Kickstart => Root::installed(&self.paths.state),
            Service::Boot => root.booted(&self.paths.state),
            Service::Run => Ok(()),
        };
        self.noted(noted)?;
        match Install::of(input).filter(|_| self.service == Service::Kickstart) {
            Some(install) => install.enable().map_err(|failure| self.refuse(&failure, &[])),
            None => Ok(()),
        }
    }

    fn noted(&mut self, noted: std::io::Result<()>) -> Result<(), Broken> {
        noted.map_err(|e| {
            let state = self.paths.state.display();
            let message = format!("noting in {state} how far this root is: {e}");
            let failure = Failure::config(message, "make room there, and start again");
            self.refuse(&failure, &[])
        })
    }
}

pub(super) fn milliseconds(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}
