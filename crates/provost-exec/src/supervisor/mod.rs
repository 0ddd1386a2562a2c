//! The runner's side of its keeper.

mod remote;

use std::io::{self, PipeReader, PipeWriter, Write};
use std::time::{Duration, Instant};

use rustix::process::Pid;
use tokio::sync::watch;

use self::remote::Remote;
use crate::keeper::{self, KeeperResources, Order, Report, Wire, frame};
use crate::kernel;
use crate::orders::{Orders, interrupted, wait_for_continue};
use crate::outcome::{EndCause, Event, Outcome};
use crate::output::Writes;
use crate::process::cgroup::Leaf;
use crate::process::file_watch::FileWatches;
use crate::process::{awake, oom, tree};
use crate::step::{Limits, Step};

/// The runner's side of its keeper.
pub struct Supervisor {
    /// The wire, until there is a runtime.
    ends: Option<(PipeWriter, PipeReader)>,
    /// What no other process holds: the kernel closes it with this one, which keepers see.
    _alive: PipeWriter,
    remote: Option<Remote>,
    /// The keeper of the next step.
    keeper: Option<Pid>,
    /// Those that have handed over and stay with what their steps have left behind.
    stayed: Vec<Pid>,
    /// How many pauses had been requested when the keeper last got orders.
    pauses: u32,
    /// How many pause orders it hasn't confirmed yet.
    pausing: u32,
    /// How long the run was paused in all.
    paused: Duration,
}

/// How much longer than all of a step's limits together a keeper may take. One that takes longer
/// is stuck: its log is on a file system that hangs, say.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the runner waits for its keeper to exit.
const EXIT_LIMIT: Duration = Duration::from_secs(1);

impl Supervisor {
    /// Starts the keeper. To be called while this process has one thread.
    ///
    /// # Errors
    ///
    /// When the kernel has no room for another process or descriptor.
    pub fn start() -> io::Result<Self> {
        let (order_reader, orders) = io::pipe()?;
        let (reports, report_writer) = io::pipe()?;
        tree::adopt_orphans()?;
        keeper::ignore_file_size_signal();
        // Keepers do as this process has found out.
        kernel::missing();
        let (runner, alive) = io::pipe()?;
        let resources = KeeperResources {
            runner: runner.into(),
            writes: Writes::new(),
            watches: FileWatches::new(),
        };
        let wire = Wire::new(order_reader, report_writer);
        let (keeper, (ends, alive)) = keeper::fork(wire, resources, ((orders, reports), alive))?;
        awake::unpause_by_signal();
        // Scripts have the score of the keeper, which is too small to be chosen.
        oom::protect();
        Ok(Self {
            ends: Some(ends),
            _alive: alive,
            remote: None,
            keeper: Some(keeper),
            stayed: Vec::new(),
            pauses: 0,
            pausing: 0,
            paused: Duration::ZERO,
        })
    }

    /// How long the run was paused in all.
    pub fn paused(&self) -> Duration {
        self.paused
    }

    /// Waits for SIGCONT, between steps, if the run is to be paused.
    pub async fn pause(&mut self, orders: &watch::Receiver<Orders>) {
        self.pauses = orders.borrow().pauses;
        self.paused += wait_for_continue(orders).await;
    }

    /// Has the keeper make a step ready, which may be while another one runs. Errors show
    /// when it is [followed](Self::follow).
    pub fn prepare(&mut self, step: &Step) {
        self.send(&Order::Prepare(Box::new(step.clone())));
    }

    /// Has the keeper start the step that was [made ready](Self::prepare) last; it may take no
    /// longer than `timeout`. Errors show when it is followed.
    pub fn begin(&mut self, timeout: Duration) {
        self.send(&Order::Run(timeout));
        // It is likely to be on this processor, and all else can wait.
        std::thread::yield_now();
    }

    fn send(&mut self, order: &Order) {
        if let Some(ends) = self.ends.take() {
            self.remote = Remote::new(ends).ok();
        }
        self.remote.take_if(|remote| remote.send(order).is_err());
    }

    /// Runs one step to its end, whatever its end is.
    pub async fn execute(
        &mut self,
        step: &Step,
        orders: &mut watch::Receiver<Orders>,
        on_event: impl FnMut(Event),
    ) -> Outcome {
        self.prepare(step);
        self.begin(step.limits.timeout);
        self.follow(&step.limits, orders, on_event).await
    }

    /// Follows the step that was started last to its end, whatever its end is.
    pub async fn follow(
        &mut self,
        limits: &Limits,
        orders: &mut watch::Receiver<Orders>,
        on_event: impl FnMut(Event),
    ) -> Outcome {
        let began = Instant::now();
        let outcome = self.converse(limits, orders, on_event).await;
        outcome.unwrap_or_else(|e| {
            // Whatever it kept is ours now; the keeper itself is among it.
            tree::kill_but(&self.stayed);
            tree::reap();
            (self.remote, self.keeper) = (None, None);
            let end = match e.kind() {
                io::ErrorKind::TimedOut => EndCause::TimedOut(limits.timeout),
                io::ErrorKind::NotConnected => EndCause::NoKeeper,
                _ => EndCause::KeeperLost,
            };
            Outcome::bare(end, began.elapsed())
        })
    }

    async fn converse(
        &mut self,
        limits: &Limits,
        orders: &mut watch::Receiver<Orders>,
        mut on_event: impl FnMut(Event),
    ) -> io::Result<Outcome> {
        let Some(remote) = &mut self.remote else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let mut sent = Orders::default();
        // The step before had ended when these came.
        let mut late = std::mem::take(&mut self.pausing);
        let mut stopped_at = None;
        let mut may_change = orders.has_changed().is_ok();
        let patience = limits.timeout + limits.grace + limits.leak + PATIENCE;
        let mut until = tokio::time::Instant::now() + patience;
        loop {
            while let Some(report) = remote.next()? {
                match report {
                    Report::Event(event) => on_event(event),
                    Report::Ended(outcome, keeper) => {
                        let next = i32::try_from(keeper).ok().and_then(Pid::from_raw);
                        if next != self.keeper {
                            self.stayed.extend(std::mem::replace(&mut self.keeper, next));
                        }
                        let mut outcome = *outcome;
                        let interrupted = interrupted(&outcome, orders, stopped_at).await;
                        outcome.end = interrupted.unwrap_or(outcome.end);
                        return Ok(outcome);
                    }
                    Report::Paused if late > 0 => late -= 1,
                    Report::Paused => {
                        self.pausing = self.pausing.saturating_sub(1);
                        let paused = wait_for_continue(orders).await;
                        until += paused;
                        self.paused += paused;
                        remote.send(&Order::Resume)?;
                    }
                }
            }
            let current = *orders.borrow_and_update();
            if current.stop.is_some() && sent.stop.is_none() {
                stopped_at = Some(Instant::now());
                let signal = current.stop.unwrap_or_default().to_owned();
                remote.send(&Order::Stop(signal))?;
            }
            if current.hurry && !sent.hurry {
                remote.send(&Order::Hurry)?;
            }
            if current.pauses != self.pauses && current.pauses != current.resumed {
                remote.send(&Order::Pause)?;
                self.pausing += 1;
            }
            self.pauses = current.pauses;
            sent = current;
            tokio::select! {
                () = tokio::time::sleep_until(until) => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                turned = remote.turn() => turned?,
                changed = orders.changed(), if may_change => may_change = changed.is_ok(),
            }
        }
    }
}

impl Supervisor {
    /// Tells the keeper to exit: there is no other step. That takes it some milliseconds, in which
    /// the runner can do something else.
    pub fn dismiss(&mut self) {
        // A keeper that can't read it sees the end of the wire.
        if let Some(mut remote) = self.remote.take() {
            let _ = remote.send(&Order::Dismiss);
        }
        if let (Some((mut orders, _)), Ok(dismiss)) = (self.ends.take(), frame(&Order::Dismiss)) {
            let _ = orders.write(&dismiss);
        }
    }
}

impl Drop for Supervisor {
    /// Waits until the keeper has exited, so that no process outlives the runner but those that were
    /// left on purpose.
    fn drop(&mut self) {
        self.dismiss();
        if let Some(keeper) = self.keeper {
            // The limit is for a keeper that hangs in the kernel.
            kernel::wait_for_end(keeper, EXIT_LIMIT);
            tree::reap();
            Leaf::remove_after(keeper);
        }
    }
}
