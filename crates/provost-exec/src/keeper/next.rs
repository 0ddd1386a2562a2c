//! The step that comes after the one that runs, as far as it has been made ready.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use crate::output::{Output, Writes};
use crate::process::file_watch::FileWatches;
use crate::process::spawn::Program;
use crate::step::Step;
use crate::trace::Changes;

/// What every program of a keeper starts with.
pub(crate) struct KeeperResources {
    /// A pipe that ends with the runner, which isn't the keeper's parent for ever.
    pub(crate) runner: OwnedFd,
    /// Where it is noted which of its outputs it writes to.
    pub(crate) writes: Option<Writes>,
    /// Where it is noted what becomes of their files.
    pub(crate) watches: io::Result<FileWatches>,
}

/// A step that can begin at any moment: all is done that takes time and doesn't depend on what the
/// step before it does.
pub(crate) struct Prepared<'w> {
    pub(crate) step: Box<Step>,
    pub(crate) program: io::Result<Program<'w>>,
}

impl Prepared<'_> {
    /// The same, with a time-out of at most `most`.
    pub(crate) fn within(mut self, most: Duration) -> Self {
        self.step.limits.timeout = self.step.limits.timeout.min(most);
        self
    }
}

/// At most one step, and what it is made of.
pub(crate) struct Next<'w> {
    resources: &'w KeeperResources,
    /// What reports that something traced has changed, where there is room for it.
    changes: Option<Changes>,
    step: Option<Box<Step>>,
    program: Option<io::Result<Program<'w>>>,
    /// The pipes of a step that has ended.
    spare: Option<Output<'w>>,
}

impl<'w> Next<'w> {
    pub(crate) fn new(resources: &'w KeeperResources) -> Self {
        Self { resources, changes: Changes::new().ok(), step: None, program: None, spare: None }
    }

    /// What sees changes of programs' files, or why nothing does.
    pub(crate) fn watches(&self) -> &'w io::Result<FileWatches> {
        &self.resources.watches
    }

    /// What reports that something traced has changed.
    pub(crate) fn changes(&self) -> Option<&Changes> {
        self.changes.as_ref()
    }

    /// Takes `step`, instead of any other.
    pub(crate) fn set(&mut self, step: Box<Step>) {
        (self.step, self.program) = (Some(step), None);
    }

    /// Makes the step ready, which is best done while the keeper would wait for the runner.
    pub(crate) fn prepare(&mut self) {
        if let Some(step) = self.step.as_ref().filter(|_| self.program.is_none()) {
            let output = self.spare.take().and_then(Output::open_again);
            let output = output.map_or_else(|| Output::new(self.resources.writes.as_ref()), Ok);
            let program = output.and_then(|output| Program::new(&step.env, output));
            self.program = Some(program);
        }
    }

    /// The step, which begins now.
    pub(crate) fn take(&mut self) -> Option<Prepared<'w>> {
        self.prepare();
        let (step, program) = (self.step.take()?, self.program.take()?);
        Some(Prepared { step, program })
    }

    /// Takes the pipes of a step that has ended, before another begins.
    pub(crate) fn reuse(&mut self, output: Output<'w>) {
        self.spare = output.spare();
    }

    /// Drops everything but the step itself: a keeper and its fork share no open files.
    pub(crate) fn strip(&mut self) {
        (self.spare, self.program) = (None, None);
    }
}
