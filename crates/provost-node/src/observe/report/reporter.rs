//! The task that reports while a run goes on.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use provost_api::LogKind;
use provost_exec::Orders;
use provost_http::Client;
use provost_http::backoff::{Backoff, Jitter};
use provost_record::Service;
use provost_steplog::wording;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tracing::Instrument;

use super::delivery::{CurrentRun, Delivery};
use super::servers::ReportError;
use super::spool::Spool;
use super::{logs, timer};
use crate::failure::Failure;
use crate::settings::{Paths, Settings};

/// The waits after reports that failed. A management node that is back is reported to within 5 s,
/// the time of the report included.
const BACKOFF: Backoff = Backoff {
    first: Duration::from_millis(500),
    most: Duration::from_secs(3),
    jitter: Jitter::Full,
};
/// The least time between the beginnings of two reports, so that short scripts share one; a management
/// node that many report to asks for a longer one. A failure doesn't wait, nor does the last one.
const INTERVAL: Duration = Duration::from_secs(1);
/// So many bytes of records don't wait, either.
const ENOUGH: u64 = 64 << 10;

/// The reporting task of a run. It reads the journals and never holds a script up.
pub(super) struct Reporter {
    task: JoinHandle<()>,
    /// The run has ended, and the logs of its successful steps may take so long.
    finishing: watch::Sender<Option<Duration>>,
    urgent: watch::Sender<u64>,
    news: watch::Receiver<u64>,
    deadline: Duration,
    paths: Paths,
    spool: Spool,
    problems: Arc<Mutex<Problems>>,
    hold: watch::Receiver<Option<String>>,
}

/// What the task couldn't report.
#[derive(Default)]
struct Problems {
    /// A message about each record and log that the management node will never take.
    refused: Vec<String>,
    /// Why the last report failed, if it did.
    last: Option<Failure>,
}

impl Reporter {
    /// Starts to report what earlier runs have left, and then the records of the run `run`: they are
    /// in the journal of the service `live`, of which so many bytes are surely on the disk.
    pub(super) fn spawn(
        settings: &Settings,
        client: &Client,
        paths: &Paths,
        live: (Service, watch::Receiver<u64>),
        run: &str,
    ) -> Self {
        let (finishing, finish) = watch::channel(None);
        let (held, hold) = watch::channel(None);
        let (urgent, failures) = watch::channel(0);
        let news = live.1.clone();
        let wake = Wake { news: news.clone(), finish, failures };
        let current = CurrentRun { id: run.to_owned(), hold: held };
        let spool = Spool::of_run(paths, live);
        let delivery = Delivery::new(settings, client, paths, spool, Some(current));
        let problems = Arc::default();
        let task = work(delivery, wake, Arc::clone(&problems));
        Self {
            task: tokio::spawn(task.in_current_span()),
            finishing,
            urgent,
            news,
            deadline: settings.report_deadline.duration(),
            paths: paths.clone(),
            spool: Spool::new(paths),
            problems,
            hold,
        }
    }

    /// Why the management node wants nothing more to run, while it does: its answer to the last
    /// report of this run.
    pub(super) fn hold(&self) -> watch::Receiver<Option<String>> {
        self.hold.clone()
    }

    /// A step has failed, whose record is the next to come to the disk: it is reported at once.
    pub(super) fn hurry(&self) {
        self.urgent.send_replace(*self.news.borrow());
    }

    /// Gives the rest its time, so much of it to logs of successful steps. Returns a message about each thing that
    /// isn't reported.
    pub(super) async fn finish(
        mut self,
        orders: &mut watch::Receiver<Orders>,
        success_logs: Duration,
    ) -> Vec<String> {
        self.finishing.send_replace(Some(success_logs));
        flush(&mut self.task, self.deadline, orders).await;
        let is_finished = self.task.is_finished();
        self.task.abort();
        let left = self.spool.unreported_total();
        let logs = logs::waiting(&self.paths, LogKind::Failure).len();
        let success_logs = logs::waiting(&self.paths, LogKind::Success).len();
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        let mut messages = std::mem::take(&mut problems.refused);
        // Where the disk takes no note of it, all is reported and still counts as left.
        let is_done = is_finished && problems.last.is_none();
        if left + logs > 0 && !is_done {
            let what = [(left, "record"), (logs + success_logs, "log")];
            let what = what.into_iter().filter(|(n, _)| *n > 0);
            let what: Vec<String> = what.map(|(n, what)| wording::count(n, what)).collect();
            let what = what.join(" and ");
            let timer = if timer::start(&self.paths) { "a timer, " } else { "" };
            messages.push(format!(
                "{what} not sent yet; sending again with {timer}the next run or `provost report`"
            ));
            messages.extend(problems.last.take().map(|failure| failure.to_string()));
        } else if success_logs > 0 {
            let logs = wording::count(success_logs, "log");
            let by = match timer::start(&self.paths) {
                true => "a timer",
                false => "the next run or `provost report`",
            };
            tracing::info!("{logs} of steps that succeeded will be uploaded later, by {by}");
        }
        messages
    }
}

/// What the task waits for.
struct Wake {
    /// How much of the journal is on the disk, in bytes.
    news: watch::Receiver<u64>,
    finish: watch::Receiver<Option<Duration>>,
    /// A failure is the next record after so many bytes of the journal.
    failures: watch::Receiver<u64>,
}

async fn work(mut delivery: Delivery, mut wake: Wake, problems: Arc<Mutex<Problems>>) {
    let problems = || problems.lock().unwrap_or_else(PoisonError::into_inner);
    let mut failed = 0;
    loop {
        // A manifest that comes late may name TLS: a connection from before this node has its identity must not be
        // there for the plan. The end of the run waits for nothing.
        tokio::select! {
            () = delivery.wait_ready() => {}
            _ = wake.finish.wait_for(Option::is_some) => {}
        }
        let reported = *wake.news.borrow_and_update();
        let began = Instant::now();
        let refused = &mut |text: &str| problems().refused.push(text.to_owned());
        let delivered = delivery.deliver(refused).await;
        let finishing = *wake.finish.borrow_and_update();
        let Err(error) = delivered else {
            failed = 0;
            problems().last = None;
            if let Some(limit) = finishing {
                // What was recorded while a report was on its way goes with another one.
                if wake.news.has_changed().unwrap_or(false) {
                    continue;
                }
                let uploading = delivery.deliver_success_logs(refused);
                // A management node that is busy isn't asked again now.
                if let Ok(Err(error)) = tokio::time::timeout(limit, uploading).await {
                    tracing::debug!("{}", error.failure());
                }
                return;
            }
            let soonest = (began + INTERVAL).max(Instant::now() + delivery.pause());
            if !wake.next(soonest, reported).await {
                return;
            }
            continue;
        };
        tracing::debug!("{}", error.failure());
        let aborts = matches!(error, ReportError::Abort(_));
        let wait = error.wait();
        problems().last = Some(error.into_failure());
        if aborts && finishing.is_some() {
            // Another try would only repeat it: the next run may know better.
            return;
        }
        failed += 1;
        tokio::select! {
            () = tokio::time::sleep(wait + BACKOFF.wait(failed)) => {}
            // A server that has said when to come isn't asked sooner.
            _ = wake.finish.changed(), if wait.is_zero() => {}
        }
    }
}

impl Wake {
    /// Waits until there is something to report, and until `soonest`, if it can wait; so many bytes of the
    /// journal are `reported`. Returns false if there is nothing to come any more.
    async fn next(&mut self, soonest: Instant, reported: u64) -> bool {
        let Self { news, finish, failures } = self;
        tokio::select! {
            changed = news.changed() => if changed.is_err() { return false },
            _ = finish.changed() => return true,
        }
        let (mut failed, mut much) = (news.clone(), news.clone());
        let failure = async {
            failures.changed().await?;
            let before = *failures.borrow_and_update();
            failed.wait_for(|length| *length > before).await.map(drop)
        };
        tokio::select! {
            () = tokio::time::sleep_until(soonest) => {}
            Ok(()) = failure => {}
            Ok(_) = much.wait_for(|length| *length >= reported + ENOUGH) => {}
            _ = finish.changed() => {}
        }
        true
    }
}

/// How long it may take at most in a run that a signal ended.
const WHEN_STOPPED: Duration = Duration::from_secs(5);

/// Gives a run's last `task` its time: less of it if a signal ended the run, none after another
/// signal. Who started the task ends it then.
pub async fn flush(
    task: &mut JoinHandle<()>,
    deadline: Duration,
    orders: &mut watch::Receiver<Orders>,
) {
    let stopped = orders.borrow_and_update().stop.is_some();
    let deadline = if stopped { deadline.min(WHEN_STOPPED) } else { deadline };
    tokio::select! {
        // What a task that failed has left is counted by who started it.
        _ = tokio::time::timeout(deadline, &mut *task) => {}
        _ = orders.wait_for(|now| now.hurry || (now.stop.is_some() && !stopped)) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn short_records_share_a_report_each_second_and_a_failure_or_many_do_not_wait() {
        let ((disk, news), (_finish, finish)) = (watch::channel(0), watch::channel(None));
        let (urgent, failures) = watch::channel(0);
        let mut wake = Wake { news, finish, failures };
        let mut wait = async |reported| {
            let began = Instant::now();
            assert!(wake.next(began + INTERVAL, reported).await);
            began.elapsed()
        };
        disk.send_replace(10);
        assert_eq!(wait(0).await, INTERVAL);
        urgent.send_replace(10);
        disk.send_replace(20);
        assert_eq!(wait(10).await, Duration::ZERO, "the failure is on the disk");
        // It isn't yet: other records are.
        disk.send_replace(30);
        urgent.send_replace(30);
        let later = Duration::from_millis(300);
        let sync = async {
            tokio::time::sleep(later).await;
            disk.send_replace(40);
        };
        assert_eq!(tokio::join!(wait(20), sync).0, later);
        disk.send_replace(40 + ENOUGH);
        assert_eq!(wait(40).await, Duration::ZERO);
    }
}
