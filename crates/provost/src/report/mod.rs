//! Reporting: a task of its own that reads the journals, which are its spool, and never holds a
//! script up.

mod logs;
mod post;
mod spool;

use std::time::Duration;

use provost_exec::Orders;
use provost_record::{ExitCode, Service};
use reqwest::Client;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::console::{Console, complain};
use crate::settings::{Input, Paths, Settings};
use post::{Post, Stuck};
pub(crate) use spool::Spool;

/// The first wait after a report that failed is below this, the next ones below its doubles.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// No wait is above this.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// How long the last flush may take at the most in a run that a signal ended.
const WHEN_STOPPED: Duration = Duration::from_secs(5);

/// The reporting task of a run.
pub(crate) struct Reporter {
    task: JoinHandle<()>,
    finishing: watch::Sender<bool>,
    deadline: Duration,
    spool: Spool,
}

impl Reporter {
    /// Begins to report whatever isn't reported yet, and then what the present run records: that
    /// is in the journal of the service `live`, of which so many bytes are surely on the disk.
    pub(crate) fn spawn(
        settings: &Settings,
        client: &Client,
        paths: &Paths,
        live: (Service, watch::Receiver<u64>),
    ) -> Self {
        let (finishing, finish) = watch::channel(false);
        let news = live.1.clone();
        let post = Post::new(settings, client, Spool::of_run(paths, live));
        let deadline = settings.report_deadline.duration();
        let task = tokio::spawn(work(post, news, finish));
        Self { task, finishing, deadline, spool: Spool::new(paths) }
    }

    /// Gives the rest its time: less of it if the run was ended by a signal, none after another
    /// signal. Returns how many records are left.
    pub(crate) async fn finish(self, orders: &mut watch::Receiver<Orders>) -> usize {
        self.finishing.send_replace(true);
        let stopped = orders.borrow_and_update().stop.is_some();
        let deadline = if stopped { self.deadline.min(WHEN_STOPPED) } else { self.deadline };
        let abort = self.task.abort_handle();
        tokio::select! {
            // What a task that failed has left shows in the count.
            _ = tokio::time::timeout(deadline, self.task) => {}
            _ = orders.wait_for(|now| now.hurry || (now.stop.is_some() && !stopped)) => {}
        }
        abort.abort();
        self.spool.unreported_at_all()
    }
}

async fn work(mut post: Post, mut news: watch::Receiver<u64>, mut finish: watch::Receiver<bool>) {
    let mut failures = 0;
    loop {
        news.mark_unchanged();
        let delivered = post.deliver().await;
        let finishing = *finish.borrow_and_update();
        match delivered {
            Ok(()) => {
                failures = 0;
                if finishing && !news.has_changed().unwrap_or(false) {
                    return;
                }
                tokio::select! {
                    changed = news.changed() => if changed.is_err() { return },
                    _ = finish.changed() => {}
                }
            }
            // Another try would only repeat it: the next run may know better.
            Err(Stuck::ForGood(_)) if finishing => return,
            Err(_) => {
                failures += 1;
                let most = FIRST_WAIT.saturating_mul(1 << failures.min(10)).min(LONGEST_WAIT);
                let wait = Duration::from_micros(fastrand::u64(0..=most.as_micros() as u64));
                tokio::select! {
                    () = tokio::time::sleep(wait) => {}
                    _ = finish.changed() => {}
                }
            }
        }
    }
}

/// Reports what is left from earlier runs: `provost report`.
pub(crate) fn main(input: &Input) -> ExitCode {
    let paths = input.paths();
    let spool = Spool::new(&paths);
    let before = spool.unreported_at_all();
    let report = async {
        let settings = input.settings()?;
        let client = crate::http::client(&settings)?;
        let until = Instant::now() + settings.report_deadline.duration();
        let mut post = Post::new(&settings, &client, Spool::new(&paths));
        let mut last = None;
        loop {
            let delivered = tokio::time::timeout_at(until, post.deliver()).await;
            match delivered {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(Stuck::ForGood(failure))) => return Err(failure),
                Ok(Err(Stuck::ForNow(failure))) if Instant::now() + FIRST_WAIT >= until => {
                    return Err(failure);
                }
                Ok(Err(Stuck::ForNow(failure))) => last = Some(failure),
                Err(_) => {
                    return Err(last.unwrap_or_else(|| {
                        let message = "reporting: not done in time";
                        crate::failure::Failure::new(
                            provost_record::Cause::Fetch,
                            message,
                            "see why the server is slow, or raise `deadline` under [report]",
                        )
                    }));
                }
            }
            tokio::time::sleep(FIRST_WAIT).await;
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(report),
        Err(e) => Err(crate::failure::Failure::config(e, "see ulimit -n and the free memory")),
    };
    let left = spool.unreported_at_all();
    let mut console = Console::new(&paths.log.join("provost.log"), false);
    match result {
        Ok(()) => {
            console.say(&format!("{} records reported, {left} left", before.saturating_sub(left)));
            ExitCode::Done
        }
        Err(failure) => {
            complain(&format!("error: {failure}"));
            console.say(&format!("{} records reported, {left} left", before.saturating_sub(left)));
            failure.exit_code()
        }
    }
}
