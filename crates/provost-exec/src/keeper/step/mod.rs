//! The one loop of a step: its output, its end, its clocks, and the runner's orders.

mod conclude;
mod orders;
mod running;

use std::io;
use std::time::{Duration, Instant};

use provost_steplog::{TRACE, WHOLE};
use rustix::event::{PollFd, PollFlags, poll};

pub(crate) use self::running::Leftovers;
use self::running::Running;
use super::next::{Next, Prepared};
use super::wire::{Report, Wire};
use crate::kernel;
use crate::outcome::{EndCause, Event, Outcome};
use crate::output::Capture;
use crate::process::cgroup::Leaf;
use crate::process::start::start;
use crate::process::wait::wait;
use crate::process::{NotStarted, Why, awake, tree};
use crate::trace::Served;

/// The shortest time between two reports of the last line.
const LINE_EVERY: Duration = Duration::from_millis(100);
/// How often an unchanged last line is reported again, so that a progress display goes on.
const LINE_AGAIN: Duration = Duration::from_secs(1);
/// The shortest time between two looks for orphans to reap.
const REAP_EVERY: Duration = Duration::from_secs(1);
/// How often descendants are looked at that can't be waited for: where /proc isn't mounted or the kernel
/// has no pidfds, and while they only wait for a processor.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long a descendant without the script's output may take to end after it, before it counts
/// as left behind: the first half of a pipeline, say, that is about to get SIGPIPE.
const SETTLE: Duration = Duration::from_millis(200);

/// The result of a step.
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
    wire: &mut Wire,
    leaf: Option<&Leaf>,
) -> Done {
    let began = Instant::now();
    let Prepared { step, program, .. } = prepared;
    let child = start(&step, program, next.watches());
    // The program runs by now, and its pipes hold what it prints meanwhile.
    let mut capture = Capture::new(&step.log, &step.secrets);
    let mut child = match child {
        Ok(child) => child,
        Err(why) => {
            let outcome = Outcome::bare(EndCause::NotStarted(why), began.elapsed());
            return Done::Ended(Box::new(outcome), None);
        }
    };
    let notes = child.notes.take();
    if let Some(Err(why)) = &child.traced {
        capture.put_line(&format!("{TRACE} {WHOLE} commands aren't traced: {why}"));
    }
    if let Some(Err(why)) = &child.watch {
        capture.put_line(&format!("{TRACE} {WHOLE} changes of the script aren't seen: {why}"));
    }
    let mut running = Running::new(child, &step, capture, leaf, next);
    let supervised = running.supervise(wire);
    if running.is_changed {
        running.abandon();
        let why = NotStarted { program: step.folder.join(&step.name), why: Why::ChangedRunning };
        let outcome = Outcome::bare(EndCause::NotStarted(why), began.elapsed());
        return Done::Ended(Box::new(outcome), None);
    }
    if supervised.is_err() {
        running.abandon();
        return Done::RunnerGone;
    }
    let (outcome, leftovers) = running.conclude(began, notes.as_ref());
    Done::Ended(Box::new(outcome), leftovers)
}

impl Running<'_, '_> {
    /// Goes on until the program has ended and its output, too, or the time for that is over.
    /// An error means that the runner is gone, or how the program ended.
    fn supervise(&mut self, wire: &mut Wire) -> io::Result<()> {
        // What came together with the order to run.
        self.handle_orders(wire)?;
        while self.goes_on() {
            let came = self.wait(wire)?;
            if came.orders {
                wire.fill()?;
            }
            self.handle_orders(wire)?;
            // Handling a change writes what was printed before it.
            let end = (came.changes && self.serve() == Served::ScriptEnded) || came.end;
            // Whatever the program ends with: what was verified isn't what ran.
            if came.file || end {
                self.look_at_file();
            }
            if self.is_changed {
                break;
            }
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
            self.report_line(wire);
            self.reap_orphans();
            self.check_deadlines(wire);
        }
        Ok(())
    }

    /// Kills it and all of its descendants.
    fn abandon(&mut self) {
        self.capture.write();
        self.kill_tree();
        tree::reap();
    }

    /// Whether there is still something to wait for.
    fn goes_on(&mut self) -> bool {
        // A paused tree may have to be continued.
        let paused = self.clock.is_paused();
        if self.status.is_none() || paused || (self.ends_tree() && self.reap()) {
            return true;
        }
        if self.clock.leak.is_none() {
            self.clock.act = None;
            self.clock.leak = Some(Instant::now() + self.step.limits.leak);
        }
        let is_held = self.output.pipes().next().is_some();
        (is_held && !self.clock.is_due(self.clock.leak)) || self.settle()
    }

    /// Whether descendants are left that are about to end.
    fn settle(&mut self) -> bool {
        if self.ending.is_some() || !self.reap() {
            return false;
        }
        let over = self.over_at.get_or_insert_with(Instant::now).elapsed();
        over < SETTLE || tree::are_starved(over - SETTLE)
    }

    fn wait(&self, wire: &Wire) -> io::Result<Came> {
        let mut fds = vec![PollFd::new(wire.orders(), PollFlags::IN)];
        let pidfd = self.pidfd.as_ref().filter(|_| self.status.is_none());
        fds.extend(pidfd.map(|pidfd| PollFd::new(pidfd, PollFlags::IN)));
        let settles = self.over_at.is_some();
        let is_told = self.tracer.is_some() || settles || self.pidfd.is_none();
        let changes = self.next.changes().filter(|_| is_told);
        fds.extend(changes.map(|changes| PollFd::new(changes.fd(), PollFlags::IN)));
        fds.extend(self.xtrace.iter().map(|xtrace| PollFd::new(xtrace.pipe(), PollFlags::IN)));
        fds.extend(
            self.watch.iter().map(|watch| PollFd::from_borrowed_fd(watch.news(), PollFlags::IN)),
        );
        fds.extend(self.output.pipes().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        let descendant = if self.ends_tree() { tree::somebody() } else { None };
        let look = (settles
            || (self.ends_tree() && descendant.is_none())
            || (self.pidfd.is_none() && changes.is_none()))
        .then_some(LOOK_EVERY);
        fds.extend(descendant.iter().map(|fd| PollFd::new(fd, PollFlags::IN)));
        let tell = self.step.lines.then_some(LINE_AGAIN);
        let write = self.capture.due().map(|at| at.saturating_duration_since(Instant::now()));
        let waits = (self.output.waits() || self.is_behind).then_some(Duration::ZERO);
        let clock = self.clock.next().filter(|_| !settles);
        let next = [clock, tell, write, waits, look].into_iter().flatten().min();
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
        let mut end = pidfd.is_some() && seen();
        let has_changed = changes.is_some() && seen();
        if let (true, None, Some(changes)) = (has_changed, &self.tracer, changes) {
            changes.clear();
        }
        if self.pidfd.is_none() && self.status.is_none() {
            end = kernel::has_ended(self.pid);
        }
        let changes = has_changed || self.is_behind;
        // It is looked at in any case.
        let _ = self.xtrace.is_some() && seen();
        let file = self.watch.is_some() && seen();
        // What it printed last has come by its end.
        Ok(Came {
            orders,
            end,
            changes,
            file,
            output: end || self.output.waits() || seen() || seen(),
        })
    }

    /// The program has ended so.
    fn trace_end(&mut self, status: i32) {
        if let Some((tracer, mut log)) = self.traced() {
            tracer.script_ended(status, &mut log);
        }
    }

    /// A script that leaves many an orphan must not fill the process table with them.
    fn reap_orphans(&mut self) {
        if self.tracer.is_none() && self.status.is_none() && self.reaped.elapsed() >= REAP_EVERY {
            tree::reap_orphans(self.pid);
            self.reaped = Instant::now();
        }
    }

    fn report_line(&mut self, wire: &mut Wire) {
        let since = self.last_report.1.elapsed();
        if !self.step.lines || since < LINE_EVERY {
            return;
        }
        let last = self.capture.last_line();
        if last != self.last_report.0 || since >= LINE_AGAIN {
            wire.send(&Report::Event(Event::Line(last.clone().unwrap_or_default())));
            self.last_report = (last, Instant::now());
        }
    }
}

/// What a wait has ended with.
#[derive(Default)]
struct Came {
    orders: bool,
    end: bool,
    changes: bool,
    file: bool,
    output: bool,
}
