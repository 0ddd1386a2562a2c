//! Steps that the keeper starts by itself, as soon as the one before has ended well: to ask the
//! runner costs two more hand-overs between processes, which shows where scripts are short.
//!
//! The runner says beforehand what may begin so, and permits it once the disk has the record of the
//! step that runs. So the records never fall behind by more than one step.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::pipe::{PipeFlags, pipe_with};
use serde::{Deserialize, Serialize};

use crate::{Ended, Outcome};

/// After a step that took longer than this the runner is asked: to it nothing is gained, and the
/// runner may have heard something meanwhile.
const SHORT: Duration = Duration::from_secs(1);

/// What it takes to begin right after the step before.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ahead {
    /// How long it and the one before it may take together.
    pub most: Duration,
    /// It doesn't begin if the one before has left this file.
    pub unless: PathBuf,
}

impl Ahead {
    /// How long the step may take, if it may begin after one that began at `began` and ended so.
    pub(crate) fn left(&self, began: Instant, outcome: &Outcome) -> Option<Duration> {
        let well = matches!(outcome.ended, Ended::Exit(0)) && outcome.log_error.is_none();
        let took = began.elapsed();
        let left = self.most.saturating_sub(took);
        // A file that can't be looked at may be there.
        let gone =
            || self.unless.symlink_metadata().is_err_and(|e| e.kind() == io::ErrorKind::NotFound);
        (well && took < SHORT && !left.is_zero() && gone()).then_some(left)
    }
}

/// The runner's leave to go on after one step, for whoever knows when the disk has its record.
#[derive(Debug)]
pub struct Permit {
    pipe: Arc<OwnedFd>,
    step: u64,
}

impl Permit {
    /// Gives it. One that comes too late, or is lost, does no harm: the keeper asks.
    pub fn give(self) {
        let _ = rustix::io::write(&self.pipe, &self.step.to_ne_bytes());
    }
}

/// Where permits come from.
#[derive(Debug)]
pub(crate) struct Permitting(Arc<OwnedFd>);

impl Permitting {
    /// The permit to go on after the `step`th step.
    pub(crate) fn after(&self, step: u64) -> Permit {
        Permit { pipe: Arc::clone(&self.0), step }
    }
}

/// Where permits come to. The keeper doesn't wait for them: they wake nobody.
#[derive(Debug)]
pub(crate) struct Permits(OwnedFd);

impl Permits {
    pub(crate) fn new() -> io::Result<(Permitting, Self)> {
        let (here, there) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        Ok((Permitting(Arc::new(there)), Self(here)))
    }

    /// Whether the newest one is that for the `step`th step.
    pub(crate) fn allow(&self, step: u64) -> bool {
        let mut newest = None;
        let mut room = [0; 64 * size_of::<u64>()];
        while let Ok(read @ 1..) = rustix::io::read(&self.0, &mut room) {
            // Each write is whole or not at all.
            newest = room[..read].last_chunk().copied();
            if read < room.len() {
                break;
            }
        }
        newest.map(u64::from_ne_bytes) == Some(step)
    }
}
