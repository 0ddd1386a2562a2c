//! What came of a step, once its program has ended.

use std::time::Instant;

use super::running::{Ending, Leftovers, Running};
use crate::failure_location::{self, FailureLocation, Notes};
use crate::outcome::{EndCause, Outcome, Usage};
use crate::output::xtrace::Xtrace;
use crate::process::signals::signal_name;
use crate::process::tree;
use crate::step::LeakPolicy;
use provost_steplog::{TRACE, WHOLE, wording};

impl Running<'_, '_> {
    /// What came of it, and what is left behind.
    pub(super) fn conclude(
        mut self,
        began: Instant,
        notes: Option<&Notes>,
    ) -> (Outcome, Option<Leftovers>) {
        // One that wasn't waited for was killed.
        let (status, usage) = self.status.unwrap_or((libc::SIGKILL, Usage::default()));
        let signal = libc::WIFSIGNALED(status).then(|| signal_name(libc::WTERMSIG(status)));
        let mut ended_by = None;
        let end = match (self.ending.take(), signal) {
            (Some(Ending::TimedOut), signal) => {
                ended_by = signal;
                EndCause::TimedOut(self.step.limits.timeout)
            }
            (Some(Ending::Interrupted(signal)), _) => EndCause::Interrupted(signal),
            (None, Some(name)) => EndCause::Signal { name, core: libc::WCOREDUMP(status) },
            (None, None) => EndCause::Exit(libc::WEXITSTATUS(status)),
        };
        let over_at = self.over_at.unwrap_or_else(Instant::now);
        let duration = (over_at - began).saturating_sub(self.clock.paused);
        let (end, leaked) = self.handle_descendants(end);
        let is_anybody_left = !leaked.is_empty() && self.reap();
        if is_anybody_left {
            self.release();
        }
        self.output.end(|stream, text| self.capture.take(stream, text));
        let commands = self.tracer.as_mut().map(|tracer| tracer.finish(&mut self.capture));
        let commands = commands.unwrap_or_default();
        let is_held = self.output.pipes().next().is_some();
        let leftovers = if is_anybody_left || is_held {
            let mut pipes = self.output.held();
            pipes.extend(self.xtrace.take().map(Xtrace::into_pipe));
            Some(Leftovers { pipes, tracer: self.tracer })
        } else {
            self.next.reuse(self.output);
            None
        };
        let (last_lines, tail) = self.capture.finish();
        let place = match end {
            EndCause::Exit(status) if status != 0 => {
                let place = failure_location::place(self.step, notes, status, &tail);
                let place = place.map(|place| place.without(&self.step.secrets));
                // Of a command the log has the end already.
                let is_builtin = |place: &&FailureLocation| {
                    !commands.culprit.as_deref().is_some_and(|culprit| place.names(culprit))
                };
                if let Some(place) = place.as_ref().filter(is_builtin) {
                    let status = wording::exit_status(status);
                    let line = format!("{TRACE} {WHOLE} the script ended with {status}{place}");
                    self.capture.put_line(&line);
                }
                let ended_it = |culprit: &String| !failure_location::ignores(self.step, culprit);
                FailureLocation::or_command(place, commands.culprit.filter(ended_it))
            }
            EndCause::TimedOut(_) | EndCause::Interrupted(_) => {
                FailureLocation::or_command(None, commands.culprit)
            }
            _ => None,
        };
        let log_error = self.capture.close().map(|e| e.to_string());
        let ended_ago = self.ended_at.elapsed();
        let outcome = Outcome {
            end,
            ended_by,
            place,
            commands: commands.begun,
            commands_failed: commands.failed,
            last_lines,
            leaked,
            duration,
            ended_ago,
            usage,
            log_error,
        };
        (outcome, leftovers)
    }

    /// What becomes of descendants once the program has ended and its time for them is over.
    fn handle_descendants(&mut self, end: EndCause) -> (EndCause, Vec<String>) {
        if matches!(end, EndCause::TimedOut(_) | EndCause::Interrupted(_)) {
            self.kill_tree();
            // Who hangs in the kernel, or is somebody whom this user can't kill.
            return (end, self.left());
        }
        let leaked = if self.reap() { self.left() } else { Vec::new() };
        if leaked.is_empty() || self.step.leak == LeakPolicy::Warn {
            return (end, leaked);
        }
        self.kill_tree();
        let end = match (self.step.leak, end) {
            (LeakPolicy::Fail, EndCause::Exit(0)) => EndCause::Leaked,
            (_, end) => end,
        };
        (end, leaked)
    }

    /// Who is left of the tree, each `PID COMM`, or that there is somebody of whom nothing can be
    /// seen.
    fn left(&mut self) -> Vec<String> {
        let named: Vec<_> =
            tree::descendants().iter().map(|(pid, comm)| format!("{pid} {comm}")).collect();
        if named.is_empty() && self.reap() { vec!["? unknown".to_owned()] } else { named }
    }
}
