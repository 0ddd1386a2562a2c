//! Who is notified of a run while it is in progress.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::LocalBoxFuture;
use provost_exec::{Event, Orders, Secrets};
use provost_record::{ExitCode, Record, Service};
use tokio::sync::watch;

use crate::failure::Failure;
use crate::fetch::Fetched;
use crate::settings::{Paths, Settings};
use crate::state::root::Root;

/// What a run is. Nothing of it changes while the run goes on.
pub struct RunContext {
    /// What runs.
    pub service: Service,
    /// The node's name.
    pub node: String,
    /// The run's id.
    pub id: String,
    /// Which attempt it is, of `kickstart` and `boot`.
    pub attempt: Option<u32>,
    /// What this root was when the run began.
    pub root: Root,
    /// Where things are on this node.
    pub paths: Paths,
    /// The node's settings, as far as they can be used.
    pub settings: Arc<Settings>,
    /// When the run began, or went on after a reboot.
    pub began: Instant,
    /// How much of the service's journal is surely on the disk, in bytes; changes with each sync.
    pub synced: watch::Receiver<u64>,
}

/// A step that runs.
#[derive(Clone, Copy)]
pub struct StepContext<'a> {
    /// `[2/5] SCRIPT`, for people.
    pub title: &'a str,
    /// The script's name.
    pub script: &'a str,
    /// Whether the bundle has the script.
    pub is_there: bool,
    /// Its log.
    pub log: &'a Path,
    /// When it began.
    pub began: Instant,
    /// What nobody is to see of it.
    pub secrets: &'a Secrets,
}

/// How a try of a step has ended.
#[derive(Clone, Copy)]
pub struct StepEnd<'a> {
    /// The record, as the journal has it.
    pub record: &'a Record,
    /// Why the step's log is incomplete, if it is.
    pub log_error: Option<&'a str>,
    /// The wait before the next try, if there is one, and how many tries are left with it.
    pub retry: Option<(Duration, u32)>,
}

/// Who is notified of a run: the console, the management node, the login prompt.
///
/// An observer never fails a run and never holds a script up: only what is awaited, before the first
/// step and after the last one, may take its time. The journal is no observer, because its order and
/// its syncs are guarantees.
pub trait Observer {
    /// The run's first record is in the journal.
    fn run_started<'a>(&'a mut self, _run: &'a RunContext) -> LocalBoxFuture<'a, ()> {
        Box::pin(async {})
    }

    /// All is fetched, and `steps` scripts are to run.
    fn planned<'a>(
        &'a mut self,
        _run: &'a RunContext,
        _fetched: &'a Fetched,
        _steps: usize,
    ) -> LocalBoxFuture<'a, ()> {
        Box::pin(async {})
    }

    /// A step begins.
    fn step_started(&mut self, _step: StepContext<'_>) {}

    /// Something is worth telling of a step that runs.
    fn step_running(&mut self, _step: StepContext<'_>, _event: &Event) {}

    /// A try of a step has ended. Its record is in the journal, and not yet surely on the disk.
    fn step_ended(&mut self, _step: StepContext<'_>, _end: StepEnd<'_>) {}

    /// The run has ended. When the future is done, what the observer owes to others is on the disk.
    fn run_ended<'a>(
        &'a mut self,
        _run: &'a RunContext,
        _exit: ExitCode,
    ) -> LocalBoxFuture<'a, ()> {
        Box::pin(async {})
    }

    /// Delivers what is left, for as long as the settings allow, and less if `orders` end that.
    fn flush<'a>(&'a mut self, _orders: &'a mut watch::Receiver<Orders>) -> LocalBoxFuture<'a, ()> {
        Box::pin(async {})
    }

    /// The journal didn't take the run's last record: this is the only way that it can be known.
    fn record_unwritten<'a>(&'a mut self, _record: &'a Record) -> LocalBoxFuture<'a, ()> {
        Box::pin(async {})
    }

    /// Whether it shows what a running script prints, so that [`Event::Line`] is needed.
    fn shows_output(&self) -> bool {
        false
    }

    /// Why the management node wants nothing more to run, while it does.
    fn hold(&self) -> Option<watch::Receiver<Option<String>>> {
        None
    }

    /// Delivers what earlier runs have left: `provost report`.
    fn drain_backlog<'a>(
        &'a mut self,
        _limit: Duration,
    ) -> LocalBoxFuture<'a, Result<(), Failure>> {
        Box::pin(async { Ok(()) })
    }

    /// Tells that a run of `service` failed before its first record. Returns whether the management
    /// node knows.
    fn run_refused<'a>(
        &'a mut self,
        _service: Service,
        _failure: &'a Failure,
        _orders: &'a mut watch::Receiver<Orders>,
    ) -> LocalBoxFuture<'a, bool> {
        Box::pin(async { false })
    }
}
