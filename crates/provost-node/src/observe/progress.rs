//! How the steps of a run go, on the console.

use std::sync::Arc;

use provost_exec::Event;
use provost_record::Record;
use provost_steplog::wording;

use super::logging::Terminal;
use super::notices::first_line;
use super::observer::{Observer, StepContext, StepEnd};

/// Says on the console how each step goes. What is said goes to the logs as well; what a running
/// script prints is shown, and goes nowhere else.
pub struct ConsoleProgress {
    terminal: Arc<Terminal>,
    /// Whether a running script's last line is shown.
    shows_lines: bool,
}

impl ConsoleProgress {
    /// On `terminal`; without lines of output where those are shown elsewhere.
    pub fn new(terminal: Arc<Terminal>, shows_lines: bool) -> Self {
        Self { terminal, shows_lines }
    }
}

impl Observer for ConsoleProgress {
    fn step_running(&mut self, step: StepContext<'_>, event: &Event) {
        let (title, took) = (step.title, wording::duration(step.began.elapsed()));
        match event {
            Event::Slow => tracing::warn!("{title}: still running after {took}"),
            Event::Terminating => tracing::warn!("{title}: terminating (SIGTERM)"),
            Event::Killing => {
                tracing::warn!("{title}: still running, killing it (SIGKILL)");
            }
            Event::Line(last) if self.shows_lines => self.terminal.progress(title, &took, last),
            Event::Line(_) => {}
        }
    }

    fn step_ended(&mut self, step: StepContext<'_>, end: StepEnd<'_>) {
        let (title, record) = (step.title, end.record);
        let took = wording::milliseconds(record.duration_ms.unwrap_or(0));
        if let Some(e) = end.log_error {
            tracing::warn!("{title}: its log is incomplete: {e}");
        }
        if !record.leaked.is_empty() {
            tracing::warn!("{title}: left processes behind: {}", record.leaked.join(", "));
        }
        if !record.is_failure() {
            let skipped = record.skipped.as_ref().map_or(String::new(), |why| format!(": {why}"));
            tracing::info!("{title}: ok ({took}){skipped}");
            return;
        }
        let outcome = wording::outcome(record.cause, record.exit_code, record.signal.as_deref());
        tracing::warn!("{title}: FAILED ({outcome}, {took})");
        tracing::error!("{}", failure(&record.title(), &outcome, record));
        if let Some((wait, left)) = end.retry {
            let (wait, left) = (wording::duration(wait), wording::count(left, "retry"));
            tracing::info!("{title}: retrying in {wait} ({left} left)");
        }
    }

    fn shows_output(&self) -> bool {
        self.shows_lines && self.terminal.is_live()
    }
}

/// A failed step in several lines: where, which command, its last output, what to do.
fn failure(script: &str, outcome: &str, end: &Record) -> String {
    let first = first_line(end);
    let at = first.map_or(String::new(), |line| format!(" at line {line}"));
    let mut text = format!("error: {script}: {outcome}{at}\n");
    if let Some(command) = &end.command {
        let line = end.error_line.as_deref().filter(|line| first != Some(line));
        let line = line.map_or(String::new(), |line| format!(" at line {line}"));
        text += &format!("  command: {}{line}\n", command.replace('\n', " "));
    }
    for line in end.error_message.iter().flat_map(|message| message.lines()) {
        text += &format!("  | {line}\n");
    }
    if let Some(hint) = &end.hint {
        text += &format!("hint: {hint}");
    }
    text
}
