use std::path::PathBuf;
use std::time::Instant;

use provost_bundle::OnFailure;
use provost_exec::{Ended, Event};
use provost_plan::Step;
use provost_record::{Cause, ExitCode, JournalError, Outcome, Phase, Record, Service, Stage};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::lock::{Refused, RunLock};
use super::recorder::Recorder;
use super::root::Root;
use super::told::{self, how, rounded};
use super::{Wanted, steps};
use crate::console::{Console, complain};
use crate::failure::Failure;
use crate::fetch::{Fetched, fetch};
use crate::report::{Reporter, Spool};
use crate::settings::{Input, Paths, Settings};

/// The stage that is no script.
const FETCH: &str = "fetch";

/// Runs `wanted` from the first record to the last. Says, records and reports what happens, and
/// returns how to exit.
pub(crate) async fn run(input: &Input, wanted: Wanted) -> ExitCode {
    let service = wanted.service();
    let paths = input.paths();
    let id = uuid::Uuid::now_v7().to_string();
    let _lock = match RunLock::take(&paths.state, &format!("provost {service}, run {id}")) {
        Ok(lock) => lock,
        Err(Refused::Busy(why)) => {
            complain(&format!("error: {why}"));
            return ExitCode::Busy;
        }
        Err(Refused::Failed(why)) => {
            complain(&format!("error: {why}"));
            return ExitCode::Usage;
        }
    };
    let mut console = Console::new(&paths.log.join("provost.log"));
    match Run::begin(input, &paths, service, id, &mut console) {
        Ok(run) => run.go(input, &wanted).await,
        Err(why) => {
            console.say(&format!("error: {why}"));
            ExitCode::Usage
        }
    }
}

struct Run<'a> {
    paths: &'a Paths,
    service: Service,
    id: String,
    began: Instant,
    recorder: Recorder,
    console: &'a mut Console,
    /// The signal by which the run is to end.
    stop: watch::Receiver<Option<&'static str>>,
}

/// What keeps a run from a good end.
struct Broken {
    exit: ExitCode,
    /// What stands in `service end`: of the stage that failed.
    error_line: Option<String>,
    error_message: Option<String>,
    not_run: Vec<String>,
}

impl Broken {
    fn by(failure: &Failure) -> Self {
        Self {
            exit: failure.exit_code(),
            error_line: None,
            error_message: Some(failure.message.clone()),
            not_run: Vec::new(),
        }
    }
}

impl From<JournalError> for Broken {
    /// What can't be recorded isn't run. That is all that can be done about it here.
    fn from(e: JournalError) -> Self {
        let failure = Failure::from(e);
        complain(&format!("error: {failure}"));
        Self { exit: ExitCode::Usage, ..Self::by(&failure) }
    }
}

impl<'a> Run<'a> {
    fn begin(
        input: &Input,
        paths: &'a Paths,
        service: Service,
        id: String,
        console: &'a mut Console,
    ) -> Result<Self, Failure> {
        let node = input.node();
        let may_rotate = Spool::new(paths).unreported(service) == 0;
        let attempt = attempt(paths, service)?;
        let (mut recorder, said) = Recorder::open(paths, service, &node, &id, may_rotate)?;
        said.iter().for_each(|line| console.say(line));
        let mut start = recorder.record(Phase::ServiceStart);
        start.attempt = attempt;
        // Not there in a chroot without /proc; then it isn't known.
        let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
        start.boot_id = boot_id.map(|id| id.trim().to_owned());
        recorder.put(start)?;
        console.say(&format!("{service} of {node} begins, run {id}"));
        let stop = watch_signals()
            .map_err(|e| Failure::config(format!("watching for signals: {e}"), "see ulimit -n"))?;
        Ok(Self { paths, service, id, began: Instant::now(), recorder, console, stop })
    }

    async fn go(mut self, input: &Input, wanted: &Wanted) -> ExitCode {
        let mut reporter = None;
        let root = Root::read(&self.paths.state);
        let ended = match self.fetch(input, wanted, root, &mut reporter).await {
            Ok((settings, fetched)) => self.steps(&settings, &fetched, wanted, root).await,
            Err(broken) => Err(broken),
        };
        let ended = ended.and_then(|()| {
            let kept = match self.service {
                Service::Kickstart => Root::installed(&self.paths.state),
                Service::Boot => root.booted(&self.paths.state),
                Service::Run => Ok(()),
            };
            kept.map_err(|e| {
                let message =
                    format!("noting in {} how far this root is: {e}", self.paths.state.display());
                let failure = Failure::config(message, "make room there, and start again");
                self.console.say(&format!("error: {failure}"));
                Broken::by(&failure)
            })
        });
        let mut end = self.recorder.record(Phase::ServiceEnd);
        end.duration_ms = Some(milliseconds(self.began));
        end.result = Some(if ended.is_ok() { Outcome::Success } else { Outcome::Failure });
        let exit = match ended {
            Ok(()) => ExitCode::Done,
            Err(broken) => {
                end.error_line = broken.error_line;
                end.error_message = broken.error_message;
                end.not_run = broken.not_run;
                broken.exit
            }
        };
        let verdict = if exit == ExitCode::Done { "ended well" } else { "FAILED" };
        let exit = match self.recorder.put(end) {
            Ok(()) => exit,
            Err(e) => Broken::from(e).exit,
        };
        self.console.say(&format!(
            "{} {verdict} after {}",
            self.service,
            rounded(self.began.elapsed())
        ));
        if let Some(reporter) = reporter {
            let left = reporter.finish(&mut self.stop).await;
            if left > 0 {
                self.console.say(&format!(
                    "{left} records could not be reported yet; they are kept, and go with the \
                     next run or with `provost report`"
                ));
            }
        }
        exit
    }

    /// The first stage: settings, bundle and plan.
    async fn fetch(
        &mut self,
        input: &Input,
        wanted: &Wanted,
        root: Root,
        reporter: &mut Option<Reporter>,
    ) -> Result<(Settings, Fetched), Broken> {
        let began = Instant::now();
        let mut start = self.recorder.record(Phase::StageStart);
        start.stage = Some(FETCH.to_owned());
        self.recorder.put(start)?;
        let fetched = self.try_fetch(input, reporter).await;
        let mut end = self.recorder.record(Phase::StageEnd);
        end.stage = Some(FETCH.to_owned());
        end.duration_ms = Some(milliseconds(began));
        match fetched {
            Ok((settings, fetched)) => {
                end.result = Some(Outcome::Success);
                end.bundle = Some(fetched.manifest.generation);
                end.plan = Some(fetched.plan.generation);
                let names = steps::select(wanted, &fetched, root).into_iter().map(|s| s.script);
                end.stages = names.collect();
                let (bundle, plan) = (fetched.manifest.generation, fetched.plan.generation);
                self.console.say(&format!(
                    "fetch: bundle {bundle}, plan {plan}, {} to run ({})",
                    count(end.stages.len(), "script"),
                    rounded(began.elapsed())
                ));
                self.recorder.put(end)?;
                Ok((settings, fetched))
            }
            Err(failure) => {
                end.result = Some(Outcome::Failure);
                end.cause = Some(failure.cause);
                end.error_message = Some(failure.message.clone());
                end.hint = Some(failure.hint.clone());
                self.recorder.put(end)?;
                self.console.say(&format!("fetch: FAILED\nerror: {failure}"));
                Err(Broken::by(&failure))
            }
        }
    }

    async fn try_fetch(
        &mut self,
        input: &Input,
        reporter: &mut Option<Reporter>,
    ) -> Result<(Settings, Fetched), Failure> {
        let settings = input.settings()?;
        let client = crate::http::client(&settings)?;
        // Before the fetch, so that its failure is reported, too.
        *reporter = Some(Reporter::spawn(&settings, &client, self.paths, self.recorder.news()));
        let mut stop = self.stop.clone();
        let fetched = tokio::select! {
            fetched = fetch(&settings, &client, self.paths, self.console) => fetched?,
            signal = stop.wait_for(Option::is_some) => {
                let signal = signal.ok().and_then(|s| *s).unwrap_or("a signal");
                let message = format!("the run was ended by {signal} while fetching");
                return Err(Failure::new(Cause::Interrupted, message, "start it again"));
            }
        };
        Ok((settings, fetched))
    }

    async fn steps(
        &mut self,
        settings: &Settings,
        fetched: &Fetched,
        wanted: &Wanted,
        root: Root,
    ) -> Result<(), Broken> {
        let chosen = steps::select(wanted, fetched, root);
        let logs = self.paths.scripts(&self.id);
        let prepared = std::fs::create_dir_all(&logs)
            .and_then(|()| provost_exec::adopt_orphans())
            .and_then(|()| provost_exec::install_trace(&self.paths.state));
        let trace = prepared.map_err(|e| {
            let message = format!("preparing to run scripts, logs in {}: {e}", logs.display());
            let failure = Failure::config(message, "see that this is a writable file system");
            self.console.say(&format!("error: {failure}"));
            Broken { not_run: names(&chosen), ..Broken::by(&failure) }
        })?;
        let mut broken: Option<Broken> = None;
        for (at, step) in chosen.iter().enumerate() {
            let signal = *self.stop.borrow();
            if let Some(signal) = signal {
                let message = format!("the run was ended by {signal} before {}", step.script);
                let failure = Failure::new(Cause::Interrupted, message, "start it again");
                return Err(Broken { not_run: names(&chosen[at..]), ..Broken::by(&failure) });
            }
            let log = logs.join(format!("{}.log", Stage::log_name(at + 1, &step.script)));
            let record = self.step(settings, fetched, step, at, chosen.len(), log, &trace).await?;
            if !record.is_failure() {
                continue;
            }
            let interrupted = record.cause == Some(Cause::Interrupted);
            let policy = steps::on_failure(fetched, step);
            if policy == OnFailure::Ignore && !interrupted {
                continue;
            }
            let exit = if interrupted { ExitCode::Interrupted } else { ExitCode::PostscriptFailed };
            let first = broken.get_or_insert(Broken {
                exit,
                error_line: record.error_line,
                error_message: record.error_message,
                not_run: Vec::new(),
            });
            if policy == OnFailure::Stop || interrupted {
                first.exit = exit;
                first.not_run = names(&chosen[at + 1..]);
                break;
            }
        }
        broken.map_or(Ok(()), Err)
    }

    #[expect(clippy::too_many_arguments, reason = "all that one step is made of")]
    async fn step(
        &mut self,
        settings: &Settings,
        fetched: &Fetched,
        step: &Step,
        at: usize,
        of: usize,
        log: PathBuf,
        trace: &std::path::Path,
    ) -> Result<Record, Broken> {
        let mut start = self.recorder.record(Phase::StageStart);
        start.stage = Some(step.script.clone());
        start.args.clone_from(&step.args);
        self.recorder.put(start)?;
        let env = steps::environment(fetched, self.service.as_str(), &self.id, step);
        let mut prepared = steps::prepare(settings, fetched, step, env, &log, Some(trace));
        let left = settings.run.deadline.duration().saturating_sub(self.began.elapsed());
        prepared.limits.timeout = prepared.limits.timeout.min(left);
        let name = format!("[{}/{of}] {}", at + 1, step.script);
        let (console, slow) = (&mut *self.console, settings.run.slow);
        let executed = provost_exec::execute(&prepared, &mut self.stop, |event| {
            console.say(&match event {
                Event::Slow => format!("{name}: still running after {slow}"),
                Event::Terminating => format!("{name}: is being ended (SIGTERM)"),
                Event::Killing => format!("{name}: did not end; it is being killed (SIGKILL)"),
            });
        })
        .await;
        let end = self.recorder.record(Phase::StageEnd);
        let end = told::fill(end, step, &executed);
        if end.is_failure() && !matches!(executed.ended, Ended::NotStarted(_)) {
            Spool::new(self.paths).keep_log(&self.id, &log);
        }
        self.recorder.put(end.clone())?;
        self.say(&name, step, &executed, &end);
        Ok(end)
    }

    fn say(&mut self, name: &str, step: &Step, executed: &provost_exec::Outcome, end: &Record) {
        let took = rounded(executed.duration);
        if let Some(e) = &executed.log_error {
            self.console.say(&format!("{name}: its log is incomplete: {e}"));
        }
        if !executed.leaked.is_empty() {
            let left = executed.leaked.join(", ");
            self.console.say(&format!("{name}: left processes behind: {left}"));
        }
        if !end.is_failure() {
            self.console.say(&format!("{name}: ok ({took})"));
            return;
        }
        let how = how(end.cause, end.exit_code, end.signal.as_deref());
        self.console.say(&format!("{name}: FAILED ({how}, {took})"));
        let at = end.error_line.as_ref().map_or(String::new(), |line| format!(" at line {line}"));
        let mut text = format!("error: {}: {how}{at}\n", step.script);
        if let Some(command) = &end.command {
            text += &format!("  command: {}\n", command.replace('\n', " "));
        }
        for line in end.error_message.iter().flat_map(|m| m.lines()) {
            text += &format!("  | {line}\n");
        }
        if let Some(hint) = &end.hint {
            text += &format!("hint: {hint}");
        }
        self.console.say(&text);
    }
}

fn names(steps: &[Step]) -> Vec<String> {
    steps.iter().map(|s| s.script.clone()).collect()
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn milliseconds(since: Instant) -> u64 {
    since.elapsed().as_millis().try_into().unwrap_or(u64::MAX)
}

/// Which try the run that begins is, since the last one that ended well. An admin's `run` isn't
/// a try of anything.
fn attempt(paths: &Paths, service: Service) -> Result<Option<u32>, JournalError> {
    if service == Service::Run {
        return Ok(None);
    }
    let entries = provost_record::Journal::read(&paths.journal(service), 0)?;
    let ended_well =
        |r: &Record| r.phase == Phase::ServiceEnd && r.result == Some(Outcome::Success);
    let since = entries.iter().rposition(|e| ended_well(&e.record)).map_or(0, |at| at + 1);
    let started = |e: &&provost_record::Entry| e.record.phase == Phase::ServiceStart;
    let before = entries[since..].iter().filter(started).count();
    Ok(Some(u32::try_from(before + 1).unwrap_or(u32::MAX)))
}

/// The signals that end a run in order.
fn watch_signals() -> std::io::Result<watch::Receiver<Option<&'static str>>> {
    let mut hangup = signal(SignalKind::hangup())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let (tell, stop) = watch::channel(None);
    tokio::spawn(async move {
        loop {
            let name = tokio::select! {
                _ = hangup.recv() => "SIGHUP",
                _ = interrupt.recv() => "SIGINT",
                _ = terminate.recv() => "SIGTERM",
            };
            tell.send_replace(Some(name));
        }
    });
    Ok(stop)
}
