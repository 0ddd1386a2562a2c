use provost_record::wording;
use std::path::Path;
use std::time::Duration;

use provost_bundle::When;
use provost_exec::{Event, Limits, Outcome as Executed};
use provost_plan::Step;
use provost_record::{Cause, Outcome, Phase, Record, Service};

use super::broken::Broken;
use super::outbox::Outbox;
use super::ready::Ready;
use super::run::Run;
use super::steps;
use super::succeeded::{failed, not_noted};
use super::told;
use crate::backoff::{Backoff, Jitter};
use crate::fetch::Fetched;
use crate::observe::report::keep_log;
use crate::settings::Settings;
use crate::state::progress::Paused;

/// The wait before a step is tried again.
const BACKOFF: Backoff =
    Backoff { first: Duration::from_secs(2), most: Duration::from_secs(60), jitter: Jitter::Half };

/// A step, and what it takes to run it.
pub(crate) struct Job<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) fetched: &'a Fetched,
    pub(crate) step: &'a Step,
    /// What comes after it.
    pub(crate) next: Option<&'a Step>,
    /// How many steps the run has.
    pub(crate) total: usize,
    pub(crate) trace: &'a Path,
}

/// Which try of a step this is.
#[derive(Clone, Copy)]
struct Try {
    /// Since it first began in this run, from 1.
    attempt: u32,
    /// How often it may still be tried.
    left: u32,
    /// How many there were since this boot.
    failed: u32,
    /// How many reboots it has asked for.
    reboots: u32,
}

impl Try {
    /// Its number, if it isn't the first.
    fn number(self) -> Option<u32> {
        (self.attempt > 1).then_some(self.attempt)
    }
}

/// What follows a try.
pub(crate) enum Then {
    /// The step is over.
    Over,
    /// The run goes on after a reboot.
    Reboot(Box<Paused>),
    /// It is tried again after so long.
    Again(Duration),
}

impl Run<'_> {
    /// One step, with all its tries, from its first record to its last, which is returned; and
    /// how the run goes on, if the step wants a reboot before.
    pub(crate) async fn step(&mut self, job: &Job<'_>) -> Result<(Record, Option<Paused>), Broken> {
        let again = self.progress.again.take_if(|again| again.step == *job.step);
        self.progress.begun += 1;
        let is_again = again.is_some();
        let (reboots, tries) = again.map_or((0, 0), |again| (again.reboots, again.tries));
        let left = steps::retries(job.fetched, job.step);
        let mut this = Try { attempt: tries + 1, left, failed: 0, reboots };
        let mut ready = self.ready(job, this.number(), reboots);
        if let Some(why) = self.not_needed(job, &ready).filter(|_| !is_again) {
            return Ok((self.skip(job, why)?, None));
        }
        loop {
            let (end, then) = self.attempt(job, ready, this).await?;
            let wait = match then {
                Then::Over => return Ok((end, None)),
                Then::Reboot(paused) => return Ok((end, Some(*paused))),
                Then::Again(wait) => wait,
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                _ = self.orders.wait_for(|orders| orders.stop.is_some()) => {}
            }
            self.supervisor.pause(&self.orders).await;
            if self.orders.borrow().stop.is_some() {
                return Ok((end, None));
            }
            let (attempt, failed) = (this.attempt + 1, this.failed + 1);
            this = Try { attempt, left: this.left - 1, failed, ..this };
            ready = self.ready(job, this.number(), reboots);
        }
    }

    /// Why the step needn't run, if it needn't.
    pub(crate) fn not_needed(&self, job: &Job<'_>, ready: &Ready) -> Option<String> {
        if self.service == Service::Run {
            return None;
        }
        match steps::when(job.fetched, job.step) {
            When::Always => None,
            When::Manual => Some(format!("it runs by hand only: provost run {}", job.step)),
            when => self.markers.done(ready.marker.as_ref()?, when),
        }
    }

    /// A step that doesn't run.
    fn skip(&mut self, job: &Job<'_>, why: String) -> Result<Record, Broken> {
        self.recorder.put(self.of_step(Phase::StageStart, job))?;
        self.console.say(&format!("{}: skipped: {why}", self.title(job)));
        let mut end = self.of_step(Phase::StageEnd, job);
        end.result = Some(Outcome::Success);
        end.skipped = Some(why);
        self.recorder.put(end.clone())?;
        Ok(end)
    }

    fn of_step(&self, phase: Phase, job: &Job<'_>) -> Record {
        let (stage, args) = (Some(job.step.script.clone()), job.step.args.clone());
        Record { stage, args, ..self.recorder.record(phase) }
    }

    pub(crate) fn title(&self, job: &Job<'_>) -> String {
        format!("[{}/{}] {}", self.progress.begun, job.total, job.step.script)
    }

    async fn attempt(
        &mut self,
        job: &Job<'_>,
        ready: Ready,
        this: Try,
    ) -> Result<(Record, Then), Broken> {
        let Ready { marker, wishes, step, prepared } = ready;
        let log = step.log.clone();
        let mut start = self.of_step(Phase::StageStart, job);
        start.attempt = this.number();
        // It may have succeeded before, and may now leave half of something.
        let begins = marker.as_ref().map_or(Ok(()), |marker| self.markers.forget(marker));
        if let Err(e) = begins {
            self.recorder.put(start)?;
            let failure = not_noted(format!("before it begins: {e}"));
            let end = failed(self.of_step(Phase::StageEnd, job), &failure);
            self.recorder.put(end.clone())?;
            self.console.say(&format!("{}: FAILED\nerror: {failure}", self.title(job)));
            return Ok((end, Then::Over));
        }
        if job.fetched.manifest.file(&job.step.script).is_some() {
            self.tell_xcat_begin(&job.step.script);
        }
        let executed = self.execute(job, start, step, prepared).await?;
        let (end, served) = (self.recorder.record(Phase::StageEnd), job.settings.served());
        let mut end = told::fill(end, job.step, &executed, served.as_deref());
        let left = self.left(job.settings);
        if left.is_zero() && end.cause == Some(Cause::Timeout) {
            let deadline = job.settings.run.deadline;
            end.hint = Some(format!("the whole run may take {deadline}: `deadline` under [run]"));
        }
        let mut then = Then::Over;
        if !end.is_failure() {
            end.skipped = wishes.skip();
            let wish = wishes.reboot();
            (end, then) =
                self.succeeded(job, end, marker.as_ref(), wish, (this.attempt, this.reboots));
        } else if let Some(wait) = self.wait_after(&end, this).filter(|wait| *wait < left) {
            then = Then::Again(wait);
        } else if !matches!(end.cause, Some(Cause::Missing | Cause::Exec))
            && self.outbox.as_ref().is_some_and(Outbox::takes_logs)
        {
            keep_log(self.paths, &self.id, &log);
        }
        self.tell_xcat_end(&end, &log);
        // The disk is never behind by more than the end of one step and the start of the next.
        let synced = self.recorder.settle().await;
        match &then {
            Then::Reboot(_) => self.recorder.put_durably(end.clone()).await?,
            Then::Over | Then::Again(_) => self.recorder.put(end.clone())?,
        }
        let title = self.title(job);
        self.say(&title, job.step, &executed, &end);
        if let Then::Again(wait) = &then {
            let (again, left) = (wording::duration(*wait), this.left);
            self.console.say(&format!("{title}: tried again in {again}, {left} more at the most"));
        }
        self.console.about().stage = None;
        synced?;
        Ok((end, then))
    }

    async fn execute(
        &mut self,
        job: &Job<'_>,
        mut start: Record,
        mut step: provost_exec::Step,
        prepared: bool,
    ) -> Result<Executed, Broken> {
        let settings = job.settings;
        step.limits.timeout = step.limits.timeout.min(self.left(settings));
        let Limits { timeout, grace, leak, .. } = step.limits;
        start.limit_ms = (timeout + grace + leak).as_millis().try_into().ok();
        if !prepared {
            self.supervisor.prepare(&step);
        }
        self.recorder.put(start)?;
        self.supervisor.begin(timeout);
        // While its record goes to the disk, the step starts, what is left to say of the one
        // before is said, and the one after it is made ready.
        self.recorder.sync_soon();
        self.make_next_ready(job);
        self.console.catch_up();
        let name = self.title(job);
        self.console.about().stage = Some(job.step.script.clone());
        let began = std::time::Instant::now();
        let (console, echo, slow) = (&mut *self.console, &self.echo, settings.run.slow);
        if let Some(echo) = echo {
            echo.begin(&step.log);
        }
        let tell = |event| match event {
            Event::Slow => console.say(&format!("{name}: still running after {slow}")),
            Event::Terminating => console.say(&format!("{name}: is being ended (SIGTERM)")),
            Event::Killing => {
                console.say(&format!("{name}: did not end; it is being killed (SIGKILL)"));
            }
            Event::Line(last) => match echo {
                Some(echo) => echo.more(),
                None => console.live(&name, &wording::duration(began.elapsed()), &last),
            },
        };
        let executed = self.supervisor.follow(&step.limits, &mut self.orders, tell).await;
        if let Some(echo) = &self.echo {
            echo.more();
        }
        Ok(executed)
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
    pub(crate) fn left(&self, settings: &Settings) -> Duration {
        settings.run.deadline.duration().saturating_sub(self.ran())
    }

    fn say(&mut self, name: &str, step: &Step, executed: &Executed, end: &Record) {
        let took = wording::duration(executed.duration);
        if let Some(e) = &executed.log_error {
            self.console.say(&format!("{name}: its log is incomplete: {e}"));
        }
        if !end.leaked.is_empty() {
            let left = end.leaked.join(", ");
            self.console.say(&format!("{name}: left processes behind: {left}"));
        }
        if !end.is_failure() {
            let skipped = end.skipped.as_ref().map_or(String::new(), |why| format!(": {why}"));
            self.console.say_later(format!("{name}: ok ({took}){skipped}"));
            return;
        }
        let how = wording::outcome(end.cause, end.exit_code, end.signal.as_deref());
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
