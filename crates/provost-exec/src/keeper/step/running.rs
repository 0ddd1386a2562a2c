//! A step that runs.

use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::process::Pid;

use crate::keeper::clock::Clock;
use crate::keeper::next::Next;
use crate::outcome::Usage;
use crate::output::{Capture, Output};
use crate::process::cgroup::Leaf;
use crate::process::spawn::Spawned;
use crate::step::Step;

/// What a step leaves behind on purpose: somebody lives on, and may hold these pipes.
pub(crate) struct Leftovers {
    pub(crate) pipes: Vec<OwnedFd>,
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
    pub(super) pidfd: OwnedFd,
    pub(super) output: Output<'w>,
    pub(super) capture: Capture,
    /// Once the program has ended.
    pub(super) status: Option<(i32, Usage)>,
    pub(super) ended_at: Instant,
    pub(super) ending: Option<Ending>,
    pub(super) clock: Clock,
    /// The line that was told last, and when.
    pub(super) told: (Option<String>, Instant),
    /// When orphans that have ended were last taken leave of.
    pub(super) reaped: Instant,
}

impl<'a, 'w> Running<'a, 'w> {
    pub(super) fn new(
        child: Spawned<'w>,
        step: &'a Step,
        capture: Capture,
        leaf: Option<&'a Leaf>,
        next: &'a mut Next<'w>,
    ) -> Self {
        let Spawned { pid, pidfd, output } = child;
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
            status: None,
            ended_at: now,
            ending: None,
            clock,
            told: (None, now),
            reaped: now,
        }
    }

    /// Whether the program has ended, as it was told to, and its descendants still have time to do
    /// so: the grace is theirs, too.
    pub(super) fn ends_tree(&self) -> bool {
        self.status.is_some() && self.ending.is_some() && self.clock.act.is_some()
    }
}
