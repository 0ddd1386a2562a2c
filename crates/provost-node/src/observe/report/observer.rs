//! Reporting as an observer of a run.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use provost_api::LogKind;
use provost_exec::Orders;
use provost_fs::Storage;
use provost_record::{Cause, Record, Service};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::beats::Beats;
use super::drain_backlog::drain_backlog;
use super::drain_backlog::{report_refusal, report_unwritten};
use super::logs;
use super::reporter::Reporter;
use super::spool::Spool;
use super::timer;
use crate::failure::Failure;
use crate::fetch::Connection;
use crate::observe::observer::{Observer, RunContext, StepContext, StepEnd};
use crate::settings::{Paths, ReportedLogs};

/// How long a run waits at its end for the last beat of its last step.
const LAST_BEAT: Duration = Duration::from_secs(1);
/// How long it waits for logs of steps that succeeded, where a timer goes on with them.
const SUCCESS_LOGS: Duration = Duration::from_secs(5);

/// Sends the records of a run, and the logs of its steps, to the management node.
pub struct Reporting {
    connection: Connection,
    reporter: Option<Reporter>,
    /// Of which steps the logs are uploaded.
    logs: ReportedLogs,
    /// Whether the machine will be rebooted, which may take the logs.
    reboots: bool,
    /// The beats of the step that runs.
    beats: Option<Beats>,
    /// What is left to do for the step before it.
    last_beat: Option<JoinHandle<()>>,
}

impl Reporting {
    /// Sends to the servers of `connection`.
    pub fn new(connection: Connection) -> Self {
        let logs = ReportedLogs::Failed;
        let (reporter, beats, last_beat) = (None, None, None);
        Self { connection, reporter, logs, reboots: false, beats, last_beat }
    }

    fn paths(&self) -> &Paths {
        &self.connection.paths
    }
}

impl Observer for Reporting {
    fn run_started<'a>(&'a mut self, run: &'a RunContext) -> LocalBoxFuture<'a, ()> {
        let Connection { settings, client, paths, .. } = &self.connection;
        if !settings.servers.is_empty() {
            let live = (run.service, run.synced.clone());
            self.reporter = Some(Reporter::spawn(settings, client, paths, live, &run.id));
            self.logs = settings.report_logs.unwrap_or_else(|| {
                // Its journal is there by now.
                let storage = Storage::of(&paths.log).unwrap_or(Storage::Disk);
                ReportedLogs::default_of(&storage)
            });
        }
        Box::pin(async {})
    }

    fn step_started(&mut self, step: StepContext<'_>) {
        if self.reporter.is_some() {
            self.beats = Some(Beats::of(&self.connection, step));
        }
    }

    fn step_ended(&mut self, step: StepContext<'_>, end: StepEnd<'_>) {
        self.last_beat = self.beats.take().map(Beats::end);
        let has_run =
            !matches!(end.record.cause, Some(Cause::Missing | Cause::Exec | Cause::Verify));
        let Some(reporter) = &self.reporter else { return };
        let is_failure = end.record.is_failure();
        if is_failure {
            reporter.hurry();
        }
        self.reboots |= end.record.cause == Some(Cause::Reboot);
        let kind = match is_failure && end.retry.is_none() {
            true => LogKind::Failure,
            // A try that was repeated as well: how the step ends, nobody knows yet.
            false => LogKind::Success,
        };
        if has_run && (kind == LogKind::Failure || self.logs == ReportedLogs::All) {
            logs::keep(self.paths(), &self.connection.run, step.log, kind);
        }
    }

    fn flush<'a>(&'a mut self, orders: &'a mut watch::Receiver<Orders>) -> LocalBoxFuture<'a, ()> {
        Box::pin(async {
            if let Some(reporter) = self.reporter.take() {
                let goes_on = timer::is_installed(self.paths()) && !self.reboots;
                let success_logs = if goes_on { SUCCESS_LOGS } else { Duration::MAX };
                let left = reporter.finish(orders, success_logs).await;
                left.iter().for_each(|text| tracing::warn!("{text}"));
            }
            if let Some(last_beat) = self.last_beat.take() {
                // The script's log has all that isn't sent.
                let _ = tokio::time::timeout(LAST_BEAT, last_beat).await;
            }
        })
    }

    fn hold(&self) -> Option<watch::Receiver<Option<String>>> {
        self.reporter.as_ref().map(Reporter::hold)
    }

    fn drain_backlog(&mut self, limit: Duration) -> LocalBoxFuture<'_, Result<(), Failure>> {
        Box::pin(async move {
            let Connection { settings, client, paths, .. } = &self.connection;
            if settings.servers.is_empty() {
                return Ok(());
            }
            let spool = Spool::new(paths);
            let before = spool.unreported_total();
            let result = drain_backlog(settings, client, paths, limit).await;
            let left = spool.unreported_total();
            tracing::info!("{} records reported, {left} left", before.saturating_sub(left));
            result
        })
    }

    fn record_unwritten<'a>(&'a mut self, record: &'a Record) -> LocalBoxFuture<'a, ()> {
        Box::pin(async {
            report_unwritten(&self.connection, vec![record.clone()]).await;
        })
    }

    fn run_refused<'a>(
        &'a mut self,
        service: Service,
        failure: &'a Failure,
        _orders: &'a mut watch::Receiver<Orders>,
    ) -> LocalBoxFuture<'a, bool> {
        Box::pin(report_refusal(&self.connection, service, failure))
    }
}
