//! Reporting: a task of its own that reads the journals, which are its spool, and never holds a
//! script up.

pub mod answer;
pub mod direct;
pub mod logs;
pub mod observer;
pub mod post;
pub mod spool;
pub mod timer;
pub mod turn;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use provost_exec::Orders;
use provost_record::{Cause, Service};
use reqwest::Client;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::backoff::{Backoff, Jitter};
use crate::failure::Failure;
use crate::settings::{Input, Paths, Settings};
use answer::Present;
pub use logs::{keep as keep_log, waiting_runs};
pub use observer::Reporting;
use post::{Post, Stuck};
pub use spool::Spool;
pub use timer::start as start_timer;

/// The wait after a report that failed. A management node that is back gets the next one within
/// 5 s.
const BACKOFF: Backoff = Backoff {
    first: Duration::from_millis(500),
    most: Duration::from_secs(3),
    jitter: Jitter::Full,
};
/// The wait between the reports of `provost report`.
const PAUSE: Duration = Duration::from_millis(250);

/// Reports begin no quicker one after the other: short scripts share one. The last one, which
/// tells of a failure, doesn't wait.
const EVERY: Duration = Duration::from_millis(250);
/// How long the last flush may take at the most in a run that a signal ended.
const WHEN_STOPPED: Duration = Duration::from_secs(5);

/// The reporting task of a run.
pub struct Reporter {
    task: JoinHandle<()>,
    finishing: watch::Sender<bool>,
    deadline: Duration,
    paths: Paths,
    spool: Spool,
    told: Arc<Mutex<Told>>,
    hold: watch::Receiver<Option<String>>,
}

/// What the task has to say at the end.
#[derive(Default)]
struct Told {
    /// What the management node will never take.
    refused: Vec<String>,
    /// Why the last report failed, if it did.
    stuck: Option<Failure>,
}

impl Reporter {
    /// Begins to report whatever isn't reported yet, and then what the present run `run` records:
    /// that is in the journal of the service `live`, of which so many bytes are surely on the
    /// disk.
    pub fn spawn(
        settings: &Settings,
        client: &Client,
        paths: &Paths,
        live: (Service, watch::Receiver<u64>),
        run: &str,
    ) -> Self {
        let (finishing, finish) = watch::channel(false);
        let (tell, hold) = watch::channel(None);
        let news = live.1.clone();
        let present = Present { run: run.to_owned(), hold: tell };
        let spool = Spool::of_run(paths, live);
        let post = Post::new(settings, client, paths, spool, Some(present));
        let deadline = settings.report_deadline.duration();
        let told = Arc::default();
        let task = tokio::spawn(work(post, news, finish, Arc::clone(&told)));
        Self {
            task,
            finishing,
            deadline,
            paths: paths.clone(),
            spool: Spool::new(paths),
            told,
            hold,
        }
    }

    /// Why the management node wants nothing more to run, while it does: its answer to the last
    /// report of this run.
    pub fn hold(&self) -> watch::Receiver<Option<String>> {
        self.hold.clone()
    }

    /// Gives the rest its time. Returns what there is to say about it.
    pub async fn finish(mut self, orders: &mut watch::Receiver<Orders>) -> Vec<String> {
        self.finishing.send_replace(true);
        last_time(&mut self.task, self.deadline, orders).await;
        self.task.abort();
        let left = self.spool.unreported_at_all();
        let logs = logs::waiting(&self.paths).len();
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let mut say = std::mem::take(&mut told.refused);
        if left + logs > 0 {
            let what = [(left, "record"), (logs, "log")].into_iter().filter(|(n, _)| *n > 0);
            let what: Vec<String> = what.map(|(n, what)| count(n, what)).collect();
            let what = what.join(" and ");
            let timer = if timer::start(&self.paths) { "a timer, " } else { "" };
            say.push(format!(
                "{what} could not be reported yet; what is left is kept, and goes with {timer}the \
                 next run or `provost report`"
            ));
            say.extend(told.stuck.take().map(|failure| failure.to_string()));
        }
        say
    }
}

/// Gives a run's last `task` its time: less of it if the run was ended by a signal, none after
/// another signal. Whoever began it ends it then.
pub async fn last_time(
    task: &mut JoinHandle<()>,
    deadline: Duration,
    orders: &mut watch::Receiver<Orders>,
) {
    let stopped = orders.borrow_and_update().stop.is_some();
    let deadline = if stopped { deadline.min(WHEN_STOPPED) } else { deadline };
    tokio::select! {
        // What a task that failed has left is counted by whoever began it.
        _ = tokio::time::timeout(deadline, &mut *task) => {}
        _ = orders.wait_for(|now| now.hurry || (now.stop.is_some() && !stopped)) => {}
    }
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

async fn work(
    mut post: Post,
    mut news: watch::Receiver<u64>,
    mut finish: watch::Receiver<bool>,
    told: Arc<Mutex<Told>>,
) {
    let told = || told.lock().unwrap_or_else(PoisonError::into_inner);
    let mut failures = 0;
    loop {
        news.mark_unchanged();
        let begun = Instant::now();
        let delivered = post.deliver(&mut |text| told().refused.push(text.to_owned())).await;
        let finishing = *finish.borrow_and_update();
        let (failure, for_good) = match delivered {
            Ok(()) => {
                failures = 0;
                told().stuck = None;
                match (finishing, news.has_changed().unwrap_or(false)) {
                    (true, false) => return,
                    // The run ended while a report was on its way: nothing is left to wait for.
                    (true, true) => continue,
                    (false, _) => {}
                }
                tokio::select! {
                    changed = news.changed() => if changed.is_err() { return },
                    _ = finish.changed() => continue,
                }
                tokio::select! {
                    () = tokio::time::sleep_until(begun + EVERY) => {}
                    _ = finish.changed() => {}
                }
                continue;
            }
            Err(Stuck::ForGood(failure)) => (failure, true),
            Err(Stuck::ForNow(failure)) => (failure, false),
        };
        told().stuck = Some(failure);
        if for_good && finishing {
            // Another try would only repeat it: the next run may know better.
            return;
        }
        failures += 1;
        tokio::select! {
            () = tokio::time::sleep(BACKOFF.wait(failures)) => {}
            _ = finish.changed() => {}
        }
    }
}

/// How many records are still to be reported to the management node, if it takes records.
pub fn unreported(input: &Input) -> usize {
    if input.takes_records() { Spool::new(&input.paths()).unreported_at_all() } else { 0 }
}

/// Reports what is left from earlier runs, within `limit`.
async fn report_rest(
    settings: &Settings,
    client: &Client,
    paths: &Paths,
    limit: Duration,
) -> Result<(), Failure> {
    let until = Instant::now() + limit;
    let mut post = Post::new(settings, client, paths, Spool::new(paths), None);
    let late = "see why the server is slow, or raise `deadline` under [report]";
    let mut last = Failure::new(Cause::Fetch, "reporting: not done in time", late);
    loop {
        let mut say = |text: &str| tracing::warn!("{text}");
        let delivered = post.deliver(&mut say);
        match tokio::time::timeout_at(until, delivered).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(Stuck::ForGood(failure))) => return Err(failure),
            Ok(Err(Stuck::ForNow(failure))) => last = failure,
            Err(_) => return Err(last),
        }
        if Instant::now() + PAUSE >= until {
            return Err(last);
        }
        tokio::time::sleep(PAUSE).await;
    }
}
