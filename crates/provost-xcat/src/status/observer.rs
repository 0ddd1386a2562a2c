//! Telling the status as an observer of a run.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use provost_exec::Orders;
use provost_node::failure::Failure;
use provost_node::fetch::source::{Connection, Fetched};
use provost_node::observe::observer::{Observer, RunContext};
use provost_node::settings::Xcat;
use provost_node::state::root::Root;
use provost_record::{ExitCode, Service};
use tokio::sync::watch;

use super::deliverer::{Deliverer, undelivered};
use super::messages::{at_end, at_start};

/// How long reporting a run that couldn't begin may take.
const REFUSED: Duration = Duration::from_secs(10);

/// Tells the install monitor of this node's status.
pub(crate) struct StatusReporter {
    connection: Connection,
    xcat: Xcat,
    /// Whether xCAT's own boot unit runs this. Then only the end is told, as xCAT's programs do: the
    /// initrd and the unit have told that the node boots.
    is_of_boot_unit: bool,
    deliverer: Option<Deliverer>,
}

impl StatusReporter {
    pub(crate) fn new(connection: &Connection, xcat: Xcat, is_of_boot_unit: bool) -> Self {
        Self { connection: connection.clone(), xcat, is_of_boot_unit, deliverer: None }
    }

    fn words_at_start(&self, run: &RunContext) -> &'static [&'static str] {
        match self.is_of_boot_unit {
            true => &[],
            false => at_start(run.service, run.root != Root::Other),
        }
    }

    async fn start(&self, service: Service, words: &[&'static str]) -> Deliverer {
        let Connection { settings, paths, .. } = &self.connection;
        Deliverer::start(settings, &self.xcat, paths, service, words).await
    }
}

impl Observer for StatusReporter {
    fn run_started<'a>(&'a mut self, run: &'a RunContext) -> LocalBoxFuture<'a, ()> {
        Box::pin(async {
            // Of a root that has booted before it isn't known yet whether anything runs.
            let words = if run.root == Root::Booted { &[] } else { self.words_at_start(run) };
            self.deliverer = Some(self.start(run.service, words).await);
        })
    }

    fn planned<'a>(
        &'a mut self,
        run: &'a RunContext,
        fetched: &'a Fetched,
        steps: usize,
    ) -> LocalBoxFuture<'a, ()> {
        Box::pin(async move {
            let words = self.words_at_start(run);
            let Some(deliverer) = &mut self.deliverer else { return };
            let is_disabled = fetched.plan.env.get("NODESTATUS").is_some_and(|value| is_no(value));
            if is_disabled && run.service != Service::Run {
                deliverer.disable("NODESTATUS in the site table says no").await;
            }
            // A root that has booted before boots only where scripts run then.
            if steps > 0 && run.root == Root::Booted {
                deliverer.add(words).await;
            }
        })
    }

    fn run_ended<'a>(&'a mut self, run: &'a RunContext, exit: ExitCode) -> LocalBoxFuture<'a, ()> {
        Box::pin(async move {
            if let Some(deliverer) = &self.deliverer {
                deliverer.add(at_end(run.service, exit == ExitCode::Done)).await;
            }
        })
    }

    fn flush<'a>(&'a mut self, orders: &'a mut watch::Receiver<Orders>) -> LocalBoxFuture<'a, ()> {
        Box::pin(async {
            if let Some(deliverer) = self.deliverer.take() {
                deliverer.finish(orders).await;
            }
        })
    }

    fn drain_backlog(&mut self, limit: Duration) -> LocalBoxFuture<'_, Result<(), Failure>> {
        Box::pin(async move {
            let (_sender, mut orders) = watch::channel(Orders::default());
            let mut deliverer = self.start(Service::Run, &[]).await;
            deliverer.deadline = limit;
            let all = deliverer.settle(&mut orders).await;
            deliverer.say_read(&all);
            undelivered(&all).map_or(Ok(()), Err)
        })
    }

    fn run_refused<'a>(
        &'a mut self,
        service: Service,
        _: &'a Failure,
        orders: &'a mut watch::Receiver<Orders>,
    ) -> LocalBoxFuture<'a, bool> {
        Box::pin(async move {
            let words = at_end(service, false);
            let mut deliverer = self.start(service, words).await;
            deliverer.deadline = deliverer.deadline.min(REFUSED);
            let all = deliverer.settle(orders).await;
            !words.is_empty() && undelivered(&all).is_none()
        })
    }
}

fn is_no(value: &str) -> bool {
    ["0", "n", "no"].iter().any(|no| value.eq_ignore_ascii_case(no))
}
