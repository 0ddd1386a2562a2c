use std::path::Path;

use provost_exec::{Ended, Event, Limits, Outcome as Executed};
use provost_plan::Step;
use provost_record::{Cause, Phase, Record, Stage};

use super::run::{Broken, Run};
use super::steps;
use super::told::{self, how, rounded};
use crate::fetch::Fetched;
use crate::report::keep_log;
use crate::settings::Settings;

impl Run<'_> {
    /// One step from its first record to its last, which is returned. `place` is which of how
    /// many it is.
    pub(super) async fn step(
        &mut self,
        settings: &Settings,
        fetched: &Fetched,
        step: &Step,
        place: (usize, usize),
        trace: &Path,
    ) -> Result<Record, Broken> {
        let file = format!("{}.log", Stage::log_name(place.0, &step.script, None));
        let log = self.paths.scripts(&self.id).join(file);
        let env = steps::environment(fetched, self.paths, self.service.as_str(), &self.id, step);
        let mut prepared = steps::prepare(settings, fetched, step, env, &log, trace);
        let left = settings.run.deadline.duration().saturating_sub(self.began.elapsed());
        let by_deadline = left < prepared.limits.timeout;
        prepared.limits.timeout = prepared.limits.timeout.min(left);
        prepared.lines = self.console.is_live();
        prepared.secrets = self.recorder.secrets().clone();

        let mut start = self.recorder.record(Phase::StageStart);
        start.stage = Some(step.script.clone());
        start.args.clone_from(&step.args);
        let Limits { timeout, grace, leak, .. } = prepared.limits;
        start.limit_ms = (timeout + grace + leak).as_millis().try_into().ok();
        let gate = self.supervisor.gate();
        self.recorder.put_then(start, move |synced| gate.open(synced.is_ok()))?;
        let name = format!("[{}/{}] {}", place.0, place.1, step.script);
        self.console.about().stage = Some(step.script.clone());
        let began = std::time::Instant::now();
        let (console, slow) = (&mut *self.console, settings.run.slow);
        let tell = |event| match event {
            Event::Slow => console.say(&format!("{name}: still running after {slow}")),
            Event::Terminating => console.say(&format!("{name}: is being ended (SIGTERM)")),
            Event::Killing => {
                console.say(&format!("{name}: did not end; it is being killed (SIGKILL)"));
            }
            Event::Line(last) => console.live(&name, &rounded(began.elapsed()), &last),
        };
        let executed = self.supervisor.execute(&prepared, &mut self.orders, tell).await;

        let end = self.recorder.record(Phase::StageEnd);
        let mut end = told::fill(end, step, &executed);
        if by_deadline && end.cause == Some(Cause::Timeout) {
            let deadline = settings.run.deadline;
            end.hint = Some(format!("the whole run may take {deadline}: `deadline` under [run]"));
        }
        if end.is_failure() && !matches!(executed.ended, Ended::NotStarted(_)) {
            keep_log(self.paths, &self.id, &log);
        }
        self.recorder.put(end.clone())?;
        self.say(&name, step, &executed, &end);
        self.console.about().stage = None;
        Ok(end)
    }

    fn say(&mut self, name: &str, step: &Step, executed: &Executed, end: &Record) {
        let took = rounded(executed.duration);
        if let Some(e) = &executed.log_error {
            self.console.say(&format!("{name}: its log is incomplete: {e}"));
        }
        if !end.leaked.is_empty() {
            let left = end.leaked.join(", ");
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
