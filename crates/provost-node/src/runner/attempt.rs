//! One step: its tries, each from its first record to its last.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use provost_bundle::OnFailure;
use provost_exec::{Limits, Orders, Outcome as Executed, Step as ExecStep, Supervisor};
use provost_record::{Cause, Outcome, Phase, Record, Stage};
use tokio::sync::watch;

use super::after_success::AfterSuccess;
use super::clock::ran;
use super::observers::Observers;
use super::outcome::{self, failed, not_noted};
use super::run_failure::RunFailure;
use super::schedule::ScheduledStep;
use super::step_requests::StepRequests;
use crate::failure::Failure;
use crate::fetch::Fetched;
use crate::observe::observer::{Observer, RunContext, StepContext, StepEnd};
use crate::state::journal::Recorder;
use crate::state::markers::Markers;
use crate::state::progress::{Paused, Progress};
use provost_http::backoff::{Backoff, Jitter};

/// The wait before a step is tried again.
const BACKOFF: Backoff =
    Backoff { first: Duration::from_secs(2), most: Duration::from_secs(60), jitter: Jitter::Half };

/// A try that can begin, made while the step before it runs.
pub(crate) struct PreparedStep {
    step: ExecStep,
    requests: StepRequests,
    /// Whether the keeper has made it ready, too.
    is_with_keeper: bool,
}

/// Which try of a step this is.
#[derive(Clone, Copy)]
struct Try {
    /// Since it first began in this run, from 1.
    number: u32,
    /// How often it may still be tried.
    left: u32,
    /// How many failed since this boot.
    failed: u32,
    /// How many reboots it has asked for.
    reboots: u32,
}

impl Try {
    /// Its number, if it isn't the first.
    fn repeated(self) -> Option<u32> {
        (self.number > 1).then_some(self.number)
    }
}

/// What running one step after the other takes.
pub(crate) struct StepRunner<'a> {
    pub(crate) run: &'a RunContext,
    pub(crate) fetched: &'a Fetched,
    pub(crate) schedule: &'a [ScheduledStep],
    pub(crate) markers: &'a Markers,
    pub(crate) observers: &'a mut Observers,
    pub(crate) journal: &'a mut Recorder,
    pub(crate) executor: &'a mut Supervisor,
    pub(crate) orders: &'a mut watch::Receiver<Orders>,
    pub(crate) progress: &'a mut Progress,
    /// How many steps the run has, on both sides of its reboots.
    pub(crate) total: usize,
    /// What comes after the step that runs.
    pub(crate) next: Option<PreparedStep>,
}

/// What follows a try.
enum Next {
    /// The step is over.
    Step,
    /// The run goes on after a reboot.
    Reboot(Box<Paused>),
    /// It is tried again after this wait.
    Retry(Duration),
}

impl StepRunner<'_> {
    /// One step, with all its tries. Returns its last record, and the run as it waits for the reboot
    /// that the step wants, if it does.
    #[tracing::instrument(name = "step", skip_all, fields(stage = %self.schedule[at].step.script))]
    pub(crate) async fn step(&mut self, at: usize) -> Result<(Record, Option<Paused>), RunFailure> {
        let scheduled = &self.schedule[at];
        let again = self.progress.again.take_if(|again| again.step == scheduled.step);
        self.progress.begun += 1;
        let skip = scheduled.skip.as_ref().filter(|_| again.is_none());
        if let Some(why) = skip {
            return Ok((self.skip(scheduled, why)?, None));
        }
        if let Some(mistake) = &scheduled.mistake {
            return Ok((self.refuse(scheduled, mistake)?, None));
        }
        let (reboots, tries) = again.map_or((0, 0), |again| (again.reboots, again.tries));
        let left = scheduled.policy.retries;
        let mut this = Try { number: tries + 1, left, failed: 0, reboots };
        loop {
            let prepared = self.prepared(scheduled, this);
            let (end, next) = self.attempt(at, prepared, this).await?;
            let wait = match next {
                Next::Step => return Ok((end, None)),
                Next::Reboot(paused) => return Ok((end, Some(*paused))),
                Next::Retry(wait) => wait,
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                _ = self.orders.wait_for(|orders| orders.stop.is_some()) => {}
            }
            self.executor.pause(self.orders).await;
            if self.orders.borrow().stop.is_some() {
                return Ok((end, None));
            }
            let (number, failed) = (this.number + 1, this.failed + 1);
            this = Try { number, left: this.left - 1, failed, ..this };
        }
    }

    /// A step that doesn't run.
    fn skip(&mut self, scheduled: &ScheduledStep, why: &str) -> Result<Record, RunFailure> {
        self.journal.put(self.record(Phase::StageStart, scheduled))?;
        tracing::info!("{}: skipped: {why}", self.title(scheduled));
        let mut end = self.record(Phase::StageEnd, scheduled);
        end.result = Some(Outcome::Success);
        end.skipped = Some(why.to_owned());
        self.journal.put(end.clone())?;
        Ok(end)
    }

    /// A step that can't run.
    fn refuse(
        &mut self,
        scheduled: &ScheduledStep,
        mistake: &Failure,
    ) -> Result<Record, RunFailure> {
        self.journal.put(self.record(Phase::StageStart, scheduled))?;
        let (title, log) = (self.title(scheduled), self.log(scheduled, self.progress.begun, None));
        let secrets = self.journal.secrets().clone();
        let context = StepContext {
            title: &title,
            script: &scheduled.step.script,
            is_there: scheduled.is_there,
            log: &log,
            began: Instant::now(),
            secrets: &secrets,
        };
        self.observers.step_started(context);
        let after_fix = outcome::after_fix(self.run.service, &scheduled.step, false);
        let hint = format!("{}; then: {after_fix}", mistake.hint);
        let mistake = Failure { hint, ..mistake.clone() };
        let end = failed(self.record(Phase::StageEnd, scheduled), &mistake);
        self.journal.put(end.clone())?;
        self.observers.step_ended(context, StepEnd { record: &end, log_error: None, retry: None });
        Ok(end)
    }

    fn record(&self, phase: Phase, scheduled: &ScheduledStep) -> Record {
        let step = &scheduled.step;
        let (stage, args) = (Some(step.script.clone()), step.args.clone());
        Record { stage, args, ..self.journal.record(phase) }
    }

    /// `[2/5] SCRIPT`: its place among the run's steps.
    fn title(&self, scheduled: &ScheduledStep) -> String {
        format!("[{}/{}] {}", self.progress.begun, self.total, scheduled.step.script)
    }

    /// One try, from its first record to its last.
    async fn attempt(
        &mut self,
        at: usize,
        prepared: PreparedStep,
        this: Try,
    ) -> Result<(Record, Next), RunFailure> {
        let scheduled = &self.schedule[at];
        let PreparedStep { step, requests, is_with_keeper } = prepared;
        let mut start = self.record(Phase::StageStart, scheduled);
        start.attempt = this.repeated();
        // It may have succeeded before, and may now leave half of something.
        let forgotten = scheduled.marker.as_ref().map_or(Ok(()), |m| self.markers.forget(m));
        if let Err(e) = forgotten {
            self.journal.put(start)?;
            let failure = not_noted(format!("before it begins: {e}"));
            let end = failed(self.record(Phase::StageEnd, scheduled), &failure);
            self.journal.put(end.clone())?;
            tracing::warn!("{}: FAILED", self.title(scheduled));
            tracing::error!("error: {failure}");
            return Ok((end, Next::Step));
        }
        let title = self.title(scheduled);
        let (log, secrets) = (step.log.clone(), step.secrets.clone());
        let context = StepContext {
            title: &title,
            script: &scheduled.step.script,
            is_there: scheduled.is_there,
            log: &log,
            began: Instant::now(),
            secrets: &secrets,
        };
        let executed = self.execute(at, start, step, is_with_keeper, context).await?;
        let (end, served) = (self.journal.record(Phase::StageEnd), self.fetched.served.as_deref());
        let is_ignored = scheduled.policy.on_failure == OnFailure::Ignore;
        let after_fix = outcome::after_fix(self.run.service, &scheduled.step, is_ignored);
        let folder = &self.fetched.folder;
        let mut end =
            outcome::fill(end, &scheduled.step, &executed, &log, folder, served, &after_fix);
        outcome::add_inner(&mut end, &requests.records(), folder);
        if self.time_left().is_zero() && end.cause == Some(Cause::Timeout) {
            let deadline = self.run.settings.run.deadline;
            end.hint = Some(format!(
                "raise `deadline` under [run]: the whole run may take {deadline}; then: {after_fix}"
            ));
        }
        let mut next = Next::Step;
        if !end.is_failure() {
            end.skipped = requests.skip();
            let success = AfterSuccess {
                run: self.run,
                progress: self.progress,
                journal: self.journal,
                markers: self.markers,
                ran: ran(self.run, self.progress, self.executor),
                tries: this.number,
                reboots: this.reboots,
            };
            let paused;
            (end, paused) = success.note(scheduled, end, requests.reboot());
            next = paused.map_or(Next::Step, |paused| Next::Reboot(Box::new(paused)));
        } else if let Some(wait) = self.wait_after(&end, this).filter(|w| *w < self.time_left()) {
            next = Next::Retry(wait);
        }
        // The disk is never behind by more than the end of one step and the start of the next.
        let synced = self.journal.settle().await;
        match &next {
            Next::Reboot(_) => self.journal.put_durably(end.clone()).await?,
            Next::Step | Next::Retry(_) => self.journal.put(end.clone())?,
        }
        let retry = if let Next::Retry(wait) = next { Some((wait, this.left)) } else { None };
        let log_error = executed.log_error.as_deref();
        self.observers.step_ended(context, StepEnd { record: &end, log_error, retry });
        synced?;
        Ok((end, next))
    }

    /// Runs the program of one try to its end.
    async fn execute(
        &mut self,
        at: usize,
        mut start: Record,
        mut step: ExecStep,
        is_with_keeper: bool,
        context: StepContext<'_>,
    ) -> Result<Executed, RunFailure> {
        step.limits.timeout = step.limits.timeout.min(self.time_left());
        let Limits { timeout, grace, leak, .. } = step.limits;
        start.limit_ms = (timeout + grace + leak).as_millis().try_into().ok();
        if !is_with_keeper {
            self.executor.prepare(&step);
        }
        self.journal.put(start)?;
        // Before it prints anything: logs that both write to are in order.
        self.observers.step_started(context);
        self.executor.begin(timeout);
        // While its record goes to the disk, the step starts, and the one after it is made ready.
        self.journal.sync_soon();
        self.prepare_next(at);
        let observers = &mut *self.observers;
        let tell = |event| observers.step_running(context, &event);
        Ok(self.executor.follow(&step.limits, self.orders, tell).await)
    }

    /// The try as it was made ready, or made ready now.
    fn prepared(&mut self, scheduled: &ScheduledStep, this: Try) -> PreparedStep {
        let log = self.log(scheduled, self.progress.begun, this.repeated());
        // Its log's name says which step was made ready, and for which try.
        let next = self.next.take().filter(|next| next.step.log == log);
        next.unwrap_or_else(|| self.prepare(scheduled, log, this.reboots))
    }

    /// Makes the step after the present one ready.
    fn prepare_next(&mut self, at: usize) {
        let Some(scheduled) = self.schedule.get(at + 1).filter(|next| next.runs()) else {
            return;
        };
        let log = self.log(scheduled, self.progress.begun + 1, None);
        let next = self.prepare(scheduled, log, 0);
        self.executor.prepare(&next.step);
        self.next = Some(PreparedStep { is_with_keeper: true, ..next });
    }

    fn log(&self, scheduled: &ScheduledStep, number: usize, attempt: Option<u32>) -> PathBuf {
        let name = Stage::log_name(number, &scheduled.step.script, attempt);
        self.run.paths.scripts(&self.run.id).join(format!("{name}.log"))
    }

    fn prepare(&self, scheduled: &ScheduledStep, log: PathBuf, reboots: u32) -> PreparedStep {
        let ScheduledStep { step, digest, policy, environment, trace_lines, .. } = scheduled;
        let requests = StepRequests::beside(&log);
        let mut env = environment.clone();
        env.extend(requests.environment());
        if reboots > 0 {
            env.push(("PROVOST_RESUME".to_owned(), reboots.to_string()));
        }
        let limits = &self.run.settings.run;
        let step = ExecStep {
            name: step.script.clone(),
            args: step.args.clone(),
            folder: self.fetched.folder.clone(),
            env,
            log,
            trace: policy.trace,
            digest: *digest,
            bash_trace: true,
            trace_lines: *trace_lines,
            limits: Limits {
                timeout: policy.timeout,
                slow: limits.slow.duration(),
                grace: limits.grace.duration(),
                leak: limits.leak.duration(),
            },
            leak: policy.leak,
            xtrace: self.fetched.shows_commands,
            lines: self.observers.shows_output(),
            secrets: self.journal.secrets().clone(),
        };
        PreparedStep { step, requests, is_with_keeper: false }
    }

    /// How long to wait before the step is tried again, if it is: what a script does may succeed
    /// another time, what keeps it from running won't.
    fn wait_after(&self, end: &Record, this: Try) -> Option<Duration> {
        let may_pass = matches!(end.cause, Some(Cause::Exit | Cause::Signal | Cause::Timeout));
        if !may_pass || this.left == 0 || self.orders.borrow().stop.is_some() {
            return None;
        }
        Some(BACKOFF.wait(this.failed + 1))
    }

    /// How long the run may still take.
    fn time_left(&self) -> Duration {
        let ran = ran(self.run, self.progress, self.executor);
        self.run.settings.run.deadline.duration().saturating_sub(ran)
    }
}
