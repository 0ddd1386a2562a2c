//! A step that runs.

use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::process::Pid;

use crate::keeper::clock::Clock;
use crate::keeper::next::Next;
use crate::outcome::Usage;
use crate::output::xtrace::Xtrace;
use crate::output::{Capture, Output};
use crate::process::cgroup::Leaf;
use crate::process::file_watch::FileWatch;
use crate::process::start::Started;
use crate::process::tree;
use crate::step::Step;
use crate::trace::{Log, Served, Tracer};

/// What a step leaves behind on purpose: processes that live on, and may hold these pipes.
pub(crate) struct Leftovers {
    pub(crate) pipes: Vec<OwnedFd>,
    /// What it may still have to detach from.
    pub(crate) tracer: Option<Box<Tracer>>,
}

/// Why the tree is being ended.
pub(super) enum Ending {
    TimedOut,
    Interrupted(String),
}

pub(super) struct Running<'a, 'w> {
    pub(super) step: &'a Step,
    pub(super) leaf: Option<&'a Leaf>,
    /// The step after this one.
    pub(super) next: &'a mut Next<'w>,
    pub(super) pid: Pid,
    /// Without one, SIGCHLD says that it may have ended.
    pub(super) pidfd: Option<OwnedFd>,
    pub(super) output: Output<'w>,
    pub(super) capture: Capture,
    /// What bash shows of it.
    pub(super) xtrace: Option<Xtrace>,
    /// Where commands are traced.
    pub(super) tracer: Option<Box<Tracer>>,
    /// Whether there is more for the tracer to do.
    pub(super) is_behind: bool,
    /// When all was over but for descendants that may be about to end.
    pub(super) over_at: Option<Instant>,
    /// What sees changes of the program's file, if it was verified and they can be seen.
    pub(super) watch: Option<FileWatch<'w>>,
    /// Whether there was one.
    pub(super) is_changed: bool,
    /// Once the program has ended.
    pub(super) status: Option<(i32, Usage)>,
    pub(super) ended_at: Instant,
    pub(super) ending: Option<Ending>,
    pub(super) clock: Clock,
    /// The line that was reported last, and when.
    pub(super) last_report: (Option<String>, Instant),
    /// When orphans were last reaped.
    pub(super) reaped: Instant,
}

impl<'a, 'w> Running<'a, 'w> {
    pub(super) fn new(
        child: Started<'w>,
        step: &'a Step,
        capture: Capture,
        leaf: Option<&'a Leaf>,
        next: &'a mut Next<'w>,
    ) -> Self {
        let Started { pid, pidfd, output, traced, xtrace, watch, .. } = child;
        let tracer = matches!(traced, Some(Ok(())));
        let tracer = tracer.then(|| Box::new(Tracer::new(pid, &step.name, &step.secrets)));
        let now = Instant::now();
        let clock = Clock::new(&step.limits);
        Self {
            step,
            leaf,
            next,
            pid,
            pidfd,
            output,
            capture,
            xtrace,
            tracer,
            is_behind: false,
            over_at: None,
            watch: watch.and_then(Result::ok),
            is_changed: false,
            status: None,
            ended_at: now,
            ending: None,
            clock,
            last_report: (None, now),
            reaped: now,
        }
    }

    /// Whether the program has ended on a signal, and its descendants still have time to do so: the
    /// grace is theirs, too.
    pub(super) fn ends_tree(&self) -> bool {
        self.status.is_some() && self.ending.is_some() && self.clock.act.is_some()
    }

    /// Looks whether the program's file was changed since the last look.
    pub(super) fn look_at_file(&mut self) {
        self.is_changed |= self.watch.as_ref().is_some_and(FileWatch::is_changed);
    }

    /// Takes what bash shows.
    pub(super) fn take_xtrace(&mut self) {
        self.xtrace.take_if(|xtrace| !xtrace.take(&mut self.capture));
    }

    /// The tracer, and where what it sees goes.
    pub(super) fn traced(&mut self) -> Option<(&mut Tracer, Log<'_, 'w>)> {
        let (tracer, changes) = (self.tracer.as_mut()?, self.next.changes()?);
        let (output, capture, xtrace) = (&mut self.output, &mut self.capture, self.xtrace.as_mut());
        Some((tracer, Log { changes, output, capture, xtrace }))
    }

    /// Handles what has changed of what is traced.
    pub(super) fn serve(&mut self) -> Served {
        let Some((tracer, mut log)) = self.traced() else { return Served::Idle };
        let served = tracer.serve(&mut log);
        // What has changed of others together with the script's end isn't reported again.
        self.is_behind = matches!(served, Served::Busy | Served::ScriptEnded);
        served
    }

    /// Traces no more.
    pub(super) fn release(&mut self) {
        if let Some((tracer, mut log)) = self.traced() {
            tracer.release(&mut log);
        }
    }

    /// Reaps what has ended. Returns whether any descendant is left; the program's own end must have
    /// been handled.
    pub(super) fn reap(&mut self) -> bool {
        if self.tracer.is_some() {
            return self.serve() != Served::Alone;
        }
        if let Some(changes) = self.next.changes() {
            changes.clear();
        }
        tree::reap()
    }

    /// Kills the whole tree, and reaps it.
    pub(super) fn kill_tree(&mut self) {
        if let Some(tracer) = &mut self.tracer {
            tracer.kill();
        }
        let program = self.status.is_none().then_some(self.pid);
        tree::kill(program, self.leaf, self.tracer.is_none());
        if program.is_none() {
            self.reap();
        }
    }
}
