//! The one loop of a step: its output, its end, its clocks, and the runner's orders.

mod conclude;
mod orders;
mod running;

use std::io;
use std::time::{Duration, Instant};

use provost_record::step_log::{TRACE, WHOLE};
use rustix::event::{PollFd, PollFlags, poll};

pub(crate) use self::running::Leftovers;
use self::running::Running;
use super::next::{Next, Prepared};
use super::wire::{Line, Report};
use crate::outcome::{Ended, Event, Outcome};
use crate::output::Capture;
use crate::process::cgroup::Leaf;
use crate::process::start::start;
use crate::process::wait::wait;
use crate::process::{awake, tree};
use crate::trace::Log;

/// How often the last line is told at the most.
const LINE_EVERY: Duration = Duration::from_millis(100);
/// How often it is told again though it is the same, so that whoever looks on sees time pass.
const LINE_AGAIN: Duration = Duration::from_secs(1);
/// How often orphans that have ended are taken leave of at the most.
const REAP_EVERY: Duration = Duration::from_secs(1);
/// How often descendants are looked at of which none can be waited for: where /proc isn't mounted.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How a step went, as far as its keeper can tell.
pub(crate) enum Done {
    /// It has ended.
    Ended(Box<Outcome>, Option<Leftovers>),
    /// The runner is gone, and so is the step.
    RunnerGone,
}

/// Runs one step to its end, whatever its end is. What is to be made ready meanwhile is `next`.
pub(crate) fn execute<'w>(
    prepared: Prepared<'w>,
    next: &mut Next<'w>,
    line: &mut Line,
    leaf: Option<&Leaf>,
) -> Done {
    let began = Instant::now();
    let Prepared { step, program, .. } = prepared;
    let notes = step.log.with_extension("notes");
    let child = start(&step, program, &notes);
    // The program runs by now, and its pipes hold what it prints meanwhile.
    let mut capture = Capture::new(&step.log, &step.secrets);
    let child = match child {
        Ok(child) => child,
        Err(why) => {
            let outcome = Outcome::bare(Ended::NotStarted(why), began.elapsed());
            return Done::Ended(Box::new(outcome), None);
        }
    };
    let watched = child.is_watched;
    if let Some(Err(why)) = &child.traced {
        capture.put_line(&format!("{TRACE} {WHOLE} commands aren't traced: {why}"));
    }
    let mut running = Running::new(child, &step, capture, leaf, next);
    if running.supervise(line).is_err() {
        running.capture.write();
        running.release();
        tree::kill(Some(running.pid), leaf);
        tree::reap();
        return Done::RunnerGone;
    }
    let (outcome, leftovers) = running.conclude(began, &notes, watched);
    Done::Ended(Box::new(outcome), leftovers)
}

impl Running<'_, '_> {
    /// Goes on until the program has ended and its output, too, or the time for that is over.
    /// An error means that the runner is gone, or how the program ended.
    fn supervise(&mut self, line: &mut Line) -> io::Result<()> {
        // What came together with the order to run.
        self.heed(line)?;
        while self.goes_on() {
            let came = self.wait(line)?;
            if came.orders {
                line.fill()?;
            }
            self.heed(line)?;
            // What was printed before is written by whoever handles a change.
            let end = came.changes && self.serve() || came.end;
            if end && self.status.is_none() {
                let (status, usage) = wait(self.pid)?;
                self.status = Some((status, usage));
                self.trace_end(status);
                self.ended_at = Instant::now();
                self.clock.slow = None;
                self.output.close();
            }
            self.take_xtrace();
            if came.output {
                self.output.take(|stream, text| self.capture.take(stream, text));
            }
            if self.capture.due().is_some_and(|at| Instant::now() >= at) {
                self.capture.write();
            }
            self.tell_line(line);
            self.reap_orphans();
            if self.clock.is_due(self.clock.leak) {
                break;
            }
            self.mind_the_clock(line);
        }
        Ok(())
    }

    /// Whether there is still something to wait for.
    fn goes_on(&mut self) -> bool {
        // Of a tree that is held there may be somebody to be let go.
        let held = self.clock.is_held();
        if self.status.is_none() || held || (self.ends_tree() && self.reap()) {
            return true;
        }
        if self.clock.leak.is_none() {
            self.clock.act = None;
            self.clock.leak = Some(Instant::now() + self.step.limits.leak);
        }
        self.output.pipes().next().is_some()
    }

    fn wait(&self, line: &Line) -> io::Result<Came> {
        let mut fds = vec![PollFd::new(line.orders(), PollFlags::IN)];
        if self.status.is_none() {
            fds.push(PollFd::new(&self.pidfd, PollFlags::IN));
        }
        let changes = self.tracer.as_ref().and_then(|_| self.next.changes());
        fds.extend(changes.map(|changes| PollFd::new(changes.fd(), PollFlags::IN)));
        fds.extend(self.xtrace.iter().map(|xtrace| PollFd::new(xtrace.pipe(), PollFlags::IN)));
        fds.extend(self.output.pipes().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        let descendant = if self.ends_tree() { tree::somebody() } else { None };
        let look = (self.ends_tree() && descendant.is_none()).then_some(LOOK_EVERY);
        fds.extend(descendant.iter().map(|fd| PollFd::new(fd, PollFlags::IN)));
        let tell = self.step.lines.then_some(LINE_AGAIN);
        let write = self.capture.due().map(|at| at.saturating_duration_since(Instant::now()));
        let waits = (self.output.waits() || self.is_behind).then_some(Duration::ZERO);
        let next = [self.clock.next(), tell, write, waits, look].into_iter().flatten().min();
        let next = next.map(|d| d.try_into().unwrap_or_default());
        match poll(&mut fds, next.as_ref()) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => {
                awake::wake_runner();
                return Ok(Came::default());
            }
            Err(e) => return Err(e.into()),
        }
        let mut seen = fds.iter().map(|fd| !fd.revents().is_empty());
        let mut seen = || seen.next().unwrap_or(false);
        let orders = seen();
        let end = self.status.is_none() && seen();
        let changes = changes.is_some() && seen() || self.is_behind;
        // It is looked at in any case.
        let _ = self.xtrace.is_some() && seen();
        // What it printed last has come by its end.
        Ok(Came { orders, end, changes, output: end || self.output.waits() || seen() || seen() })
    }

    /// The program has ended so.
    fn trace_end(&mut self, status: i32) {
        if let (Some(tracer), Some(changes)) = (&mut self.tracer, self.next.changes()) {
            let (output, capture, xtrace) =
                (&mut self.output, &mut self.capture, self.xtrace.as_mut());
            let log = &mut Log { changes, output, capture, xtrace };
            tracer.script_ended(status, log);
        }
    }

    /// A script that leaves many an orphan must not fill the process table with them.
    fn reap_orphans(&mut self) {
        if self.tracer.is_none() && self.status.is_none() && self.reaped.elapsed() >= REAP_EVERY {
            tree::reap_orphans(self.pid);
            self.reaped = Instant::now();
        }
    }

    fn tell_line(&mut self, line: &mut Line) {
        let since = self.told.1.elapsed();
        if !self.step.lines || since < LINE_EVERY {
            return;
        }
        let last = self.capture.last_line();
        if last != self.told.0 || since >= LINE_AGAIN {
            line.say(&Report::Event(Event::Line(last.clone().unwrap_or_default())));
            self.told = (last, Instant::now());
        }
    }
}

/// What a wait has ended with.
#[derive(Default)]
struct Came {
    orders: bool,
    end: bool,
    changes: bool,
    output: bool,
}
