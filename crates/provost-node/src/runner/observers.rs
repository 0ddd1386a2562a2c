use futures_util::future::LocalBoxFuture;
use provost_exec::{Event, Orders};
use provost_record::{ExitCode, Record};
use tokio::sync::watch;

use crate::fetch::Fetched;
use crate::observe::observer::{Observer, RunContext, StepContext, StepEnd};

/// All observers of a run, in the order in which they are notified.
pub(crate) struct Observers(pub(crate) Vec<Box<dyn Observer>>);

impl Observer for Observers {
    fn run_started<'a>(&'a mut self, run: &'a RunContext) -> LocalBoxFuture<'a, ()> {
        Box::pin(async move {
            for observer in &mut self.0 {
                observer.run_started(run).await;
            }
        })
    }

    fn planned<'a>(
        &'a mut self,
        run: &'a RunContext,
        fetched: &'a Fetched,
        steps: usize,
    ) -> LocalBoxFuture<'a, ()> {
        Box::pin(async move {
            for observer in &mut self.0 {
                observer.planned(run, fetched, steps).await;
            }
        })
    }

    fn step_started(&mut self, step: StepContext<'_>) {
        self.0.iter_mut().for_each(|observer| observer.step_started(step));
    }

    fn step_running(&mut self, step: StepContext<'_>, event: &Event) {
        self.0.iter_mut().for_each(|observer| observer.step_running(step, event));
    }

    fn step_ended(&mut self, step: StepContext<'_>, end: StepEnd<'_>) {
        self.0.iter_mut().for_each(|observer| observer.step_ended(step, end));
    }

    fn run_ended<'a>(&'a mut self, run: &'a RunContext, exit: ExitCode) -> LocalBoxFuture<'a, ()> {
        Box::pin(async move {
            for observer in &mut self.0 {
                observer.run_ended(run, exit).await;
            }
        })
    }

    fn flush<'a>(&'a mut self, orders: &'a mut watch::Receiver<Orders>) -> LocalBoxFuture<'a, ()> {
        Box::pin(async move {
            for observer in &mut self.0 {
                observer.flush(orders).await;
            }
        })
    }

    fn record_unwritten<'a>(&'a mut self, record: &'a Record) -> LocalBoxFuture<'a, ()> {
        Box::pin(async move {
            for observer in &mut self.0 {
                observer.record_unwritten(record).await;
            }
        })
    }

    fn shows_output(&self) -> bool {
        self.0.iter().any(|observer| observer.shows_output())
    }

    fn hold(&self) -> Option<watch::Receiver<Option<String>>> {
        self.0.iter().find_map(|observer| observer.hold())
    }
}
