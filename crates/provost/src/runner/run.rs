use std::collections::BTreeMap;
use std::time::Instant;

use provost_bundle::OnFailure;
use provost_exec::{Orders, Secrets, Supervisor};
use provost_plan::Step;
use provost_record::{Cause, ExitCode, JournalError, Outcome, Phase, Record, Service};
use tokio::sync::watch;

use super::lock::{Refused, RunLock};
use super::recorder::Recorder;
use super::root::Root;
use super::told::rounded;
use super::{Wanted, library, signals, steps};
use crate::console::{Console, complain};
use crate::failure::Failure;
use crate::fetch::{Fetched, NotFetched, age, fetch};
use crate::messages::{put_up, say_failure};
use crate::report::{Reporter, Spool};
use crate::secrets::secrets;
use crate::settings::{Input, Paths, Settings};

/// The stage that is no script.
const FETCH: &str = "fetch";

/// Runs `wanted` from the first record to the last. Says, records and reports what happens, and
/// returns how to exit.
pub(super) async fn run(
    input: &Input,
    wanted: Wanted,
    mut console: Console,
    supervisor: Supervisor,
) -> ExitCode {
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
    match Run::begin(input, &paths, service, id, &mut console, supervisor).await {
        Ok(run) => run.go(input, &wanted).await,
        Err(why) => {
            console.say(&format!("error: {why}"));
            if input.notices() {
                say_failure(&paths, service, &input.node(), &why.message);
            }
            ExitCode::Usage
        }
    }
}

/// A run that is going on.
pub(super) struct Run<'a> {
    pub(super) paths: &'a Paths,
    pub(super) service: Service,
    pub(super) id: String,
    pub(super) began: Instant,
    pub(super) recorder: Recorder,
    pub(super) console: &'a mut Console,
    pub(super) supervisor: Supervisor,
    pub(super) orders: watch::Receiver<Orders>,
}

/// What keeps a run from a good end.
pub(super) struct Broken {
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
    async fn begin(
        input: &Input,
        paths: &'a Paths,
        service: Service,
        id: String,
        console: &'a mut Console,
        supervisor: Supervisor,
    ) -> Result<Self, Failure> {
        let node = input.node();
        let about = console.about();
        (about.service, about.run) = (service.to_string(), id.clone());
        let may_rotate = Spool::new(paths).unreported(service) == 0;
        let attempt = attempt(paths, service)?;
        let (mut recorder, said) = Recorder::open(paths, service, &node, &id, may_rotate)?;
        said.iter().for_each(|line| console.say(line));
        let orders = signals::watch()
            .map_err(|e| Failure::config(format!("watching for signals: {e}"), "see ulimit -n"))?;
        let mut start = recorder.record(Phase::ServiceStart);
        start.attempt = attempt;
        // Not there in a chroot without /proc; then it isn't known.
        let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
        start.boot_id = boot_id.map(|id| id.trim().to_owned());
        recorder.put_durably(start).await?;
        console.say(&format!("{service} of {node} begins, run {id}"));
        let began = Instant::now();
        Ok(Self { paths, service, id, began, recorder, console, supervisor, orders })
    }

    async fn go(mut self, input: &Input, wanted: &Wanted) -> ExitCode {
        let mut reporter = None;
        let root = Root::read(&self.paths.state);
        let ended = match self.fetch(input, wanted, root, &mut reporter).await {
            Ok((settings, fetched)) => self.steps(&settings, &fetched, wanted, root).await,
            Err(broken) => Err(broken),
        };
        let ended = ended.and_then(|()| self.note_root(root));
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
        let exit = match self.recorder.put_durably(end).await {
            Ok(()) => exit,
            Err(e) => Broken::from(e).exit,
        };
        if input.notices() {
            put_up(self.paths, self.service);
        }
        let took = rounded(self.began.elapsed());
        self.console.say(&format!("{} {verdict} after {took}", self.service));
        if let Some(reporter) = reporter {
            let said = reporter.finish(&mut self.orders).await;
            said.iter().for_each(|text| self.console.say(text));
        }
        exit
    }

    /// Remembers for the next boot what this root is now.
    fn note_root(&mut self, root: Root) -> Result<(), Broken> {
        let noted = match self.service {
            Service::Kickstart => Root::installed(&self.paths.state),
            Service::Boot => root.booted(&self.paths.state),
            Service::Run => Ok(()),
        };
        noted.map_err(|e| {
            let state = self.paths.state.display();
            let message = format!("noting in {state} how far this root is: {e}");
            let failure = Failure::config(message, "make room there, and start again");
            self.console.say(&format!("error: {failure}"));
            Broken::by(&failure)
        })
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
        // Settings that are wrong fail at once, in the stage itself.
        let deadline = input.settings().ok().map(|settings| settings.fetch.deadline.duration());
        let limit_ms = deadline.and_then(|deadline| deadline.as_millis().try_into().ok());
        self.begin_fetch(limit_ms).await?;
        let fetched = self.try_fetch(input, reporter).await;
        let passed_over = match &fetched {
            Ok((_, fetched)) => &fetched.passed_over,
            Err(not) => &not.passed_over,
        };
        // Each of them is a stage that failed, and the next one is its other try.
        for failure in passed_over {
            self.fetch_failed(failure, None)?;
            self.console.say(&format!("fetch: {failure}"));
            self.begin_fetch(limit_ms).await?;
        }
        let mut end = self.recorder.record(Phase::StageEnd);
        end.stage = Some(FETCH.to_owned());
        end.duration_ms = Some(milliseconds(began));
        match fetched {
            Ok((settings, fetched)) => {
                self.hide(secrets(&settings, &fetched.plan.env));
                end.result = Some(Outcome::Success);
                end.bundle = Some(fetched.manifest.generation);
                end.plan = Some(fetched.plan.generation);
                end.stages = names(&steps::select(wanted, &fetched, root));
                let (bundle, plan) = (fetched.manifest.generation, fetched.plan.generation);
                if let Some(offline) = &fetched.offline {
                    self.console.say(&format!("fetch: {offline}"));
                }
                end.skipped.clone_from(&fetched.offline);
                let age = age(fetched.manifest.created, provost_record::now());
                self.console.say(&format!(
                    "fetch: bundle {bundle} of {age}, plan {plan}, {} to run ({})",
                    count(end.stages.len(), "script"),
                    rounded(began.elapsed())
                ));
                self.recorder.put(end)?;
                Ok((settings, fetched))
            }
            Err(NotFetched { failure, .. }) => {
                self.fetch_failed(&failure, end.duration_ms)?;
                self.console.say(&format!("fetch: FAILED\nerror: {failure}"));
                Err(Broken::by(&failure))
            }
        }
    }

    /// Lets nobody see these from now on.
    fn hide(&mut self, secrets: Secrets) {
        self.console.hide(secrets.clone());
        self.recorder.hide(secrets);
    }

    async fn begin_fetch(&mut self, limit_ms: Option<u64>) -> Result<(), JournalError> {
        let mut start = self.recorder.record(Phase::StageStart);
        start.stage = Some(FETCH.to_owned());
        start.limit_ms = limit_ms;
        self.recorder.put_durably(start).await
    }

    fn fetch_failed(&mut self, failure: &Failure, ms: Option<u64>) -> Result<(), JournalError> {
        let mut end = self.recorder.record(Phase::StageEnd);
        end.stage = Some(FETCH.to_owned());
        end.result = Some(Outcome::Failure);
        end.cause = Some(failure.cause);
        end.error_message = Some(failure.message.clone());
        end.hint = Some(failure.hint.clone());
        end.duration_ms = ms;
        self.recorder.put(end)
    }

    async fn try_fetch(
        &mut self,
        input: &Input,
        reporter: &mut Option<Reporter>,
    ) -> Result<(Settings, Fetched), NotFetched> {
        let settings = input.settings()?;
        self.hide(secrets(&settings, &BTreeMap::new()));
        let client = crate::http::client(&settings)?;
        // Before the fetch, so that its failure is reported, too.
        let live = (self.service, self.recorder.synced());
        *reporter = Some(Reporter::spawn(&settings, &client, self.paths, live, &self.id));
        let mut orders = self.orders.clone();
        let fetched = tokio::select! {
            fetched = fetch(&settings, &client, self.paths, &self.id, self.console) => fetched?,
            wanted = orders.wait_for(|orders| orders.stop.is_some()) => {
                let signal = wanted.ok().and_then(|orders| orders.stop).unwrap_or("a signal");
                let message = format!("the run was ended by {signal} while fetching");
                return Err(Failure::new(Cause::Interrupted, message, "start it again").into());
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
        let mut chosen = steps::select(wanted, fetched, root);
        // What isn't there fails first, before anything has run in vain.
        chosen.sort_by_key(|step| fetched.manifest.file(&step.script).is_some());
        let logs = self.paths.scripts(&self.id);
        let prepared = std::fs::create_dir_all(&logs)
            .and_then(|()| library::install(&self.paths.state))
            .and_then(|()| provost_exec::install_trace(&self.paths.state));
        let trace = prepared.map_err(|e| {
            let message = format!("preparing to run scripts, logs in {}: {e}", logs.display());
            let failure = Failure::config(message, "see that this is a writable file system");
            self.console.say(&format!("error: {failure}"));
            Broken { not_run: names(&chosen), ..Broken::by(&failure) }
        })?;
        let mut broken: Option<Broken> = None;
        for (at, step) in chosen.iter().enumerate() {
            let stop = self.orders.borrow().stop;
            if let Some(signal) = stop {
                let message = format!("the run was ended by {signal} before {}", step.script);
                let failure = Failure::new(Cause::Interrupted, message, "start it again");
                return Err(Broken { not_run: names(&chosen[at..]), ..Broken::by(&failure) });
            }
            let record = self.step(settings, fetched, step, (at + 1, chosen.len()), &trace).await?;
            if !record.is_failure() {
                continue;
            }
            let interrupted = record.cause == Some(Cause::Interrupted);
            let policy = steps::on_failure(fetched, step);
            if policy == OnFailure::Ignore && !interrupted {
                self.console.say(&format!("{}: its failure is ignored, as it says", step.script));
                continue;
            }
            let exit = if interrupted { ExitCode::Interrupted } else { ExitCode::PostscriptFailed };
            let first = broken.get_or_insert_with(|| failed_at(exit, record));
            if policy == OnFailure::Stop || interrupted {
                first.exit = exit;
                first.not_run = names(&chosen[at + 1..]);
                break;
            }
        }
        broken.map_or(Ok(()), Err)
    }
}

fn failed_at(exit: ExitCode, record: Record) -> Broken {
    let (error_line, error_message) = (record.error_line, record.error_message);
    Broken { exit, error_line, error_message, not_run: Vec::new() }
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
