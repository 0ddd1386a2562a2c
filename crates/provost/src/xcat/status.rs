//! Tells an xCAT management node how far this node is: in the background, in order, again and again
//! until its monitor has read it.

use std::time::Duration;

use provost_exec::Orders;
use provost_record::{Cause, Service};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::monitor::Monitor;
use super::told::{Book, Fate, NEXT, Told};
use crate::discover::Machine;
use crate::failure::Failure;
use crate::report::{jitter, last_time, start_timer};
use crate::settings::{Paths, Settings, Xcat};

/// The first wait after a try that failed is below this, the next ones below its doubles.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// No wait is above this: all nodes of a cluster may be waiting for one monitor.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// How long the monitor's greeting may take: whoever gives up loses its place among those who
/// wait, and another node's silence costs each of them 2 s.
const READY: Duration = Duration::from_secs(60);
/// How long it may take where no run is going on.
const AT_ONCE: Duration = Duration::from_secs(10);

/// Who tells it during a run.
pub(crate) struct Status {
    book: Book,
    /// What was known of it before.
    before: Vec<Told>,
    task: JoinHandle<()>,
    /// Changes when there is more to tell; true once there won't be more.
    news: watch::Sender<bool>,
    deadline: Duration,
    node: String,
    paths: Paths,
}

/// What is told when a run of `service` begins; `installed` is whether a kickstart made this root.
pub(crate) fn beginning(service: Service, installed: bool) -> &'static [&'static str] {
    match service {
        Service::Kickstart => &["installstatus installing"],
        Service::Boot if installed => &["installstatus postbooting"],
        Service::Boot => &["installstatus netbooting"],
        // Whoever runs updatenode notes how that ended.
        Service::Run => &[],
    }
}

/// What is told when one ends. A node that failed doesn't install itself again, which might go on
/// for ever.
pub(crate) fn end(service: Service, well: bool) -> &'static [&'static str] {
    match (service, well) {
        (Service::Kickstart, true) => &[NEXT],
        (Service::Kickstart, false) => &[NEXT, "installstatus failed"],
        (Service::Boot, true) => &["installstatus booted"],
        (Service::Boot, false) => &["installstatus failed"],
        (Service::Run, _) => &[],
    }
}

impl Status {
    /// Begins to tell what earlier runs have left, then `words`. None where an admin wants nothing
    /// to be told.
    pub(crate) async fn begin(
        settings: &Settings,
        xcat: &Xcat,
        paths: &Paths,
        words: &[&'static str],
    ) -> Option<Self> {
        if is_unwanted() {
            return None;
        }
        let book = Book::of(&paths.state);
        if !words.is_empty() {
            book.begin(words).await;
        }
        let before = book.all().await;
        let (news, heard) = watch::channel(false);
        let monitor = Monitor::new(settings, xcat.monitor_port, READY);
        let task = tokio::spawn(work(monitor, book.clone(), heard));
        let (deadline, node) = (settings.report_deadline.duration(), settings.node.clone());
        Some(Self { book, before, task, news, deadline, node, paths: paths.clone() })
    }

    /// Has `words` told as well. When this returns they are on the disk.
    pub(crate) async fn tell(&self, words: &[&'static str]) {
        self.book.add(words).await;
        self.news.send_replace(false);
    }

    /// Gives the rest its time, as a run's last report gets it. Returns what there is to say about
    /// all that was told.
    pub(crate) async fn finish(mut self, orders: &mut watch::Receiver<Orders>) -> Vec<String> {
        let all = self.settle(orders).await;
        let mut say: Vec<String> = self.read(&all).into_iter().collect();
        let Some(failure) = left(&all) else { return say };
        let timer = if start_timer(&self.paths) { "a timer, " } else { "" };
        say.push(format!("{failure}\nit goes with {timer}the next run or `provost report`"));
        if all.iter().any(|told| told.is_waiting() && told.told == NEXT) {
            say.push(format!(
                "until it is told `{NEXT}`, this node installs itself again whenever it boots from \
                 the network; by hand, on the management node: nodeset {} boot",
                self.node
            ));
        }
        let file = self.paths.state.join("monitor.json");
        let unkept = self.book.unkept().await;
        say.extend(unkept.map(|why| format!("keeping that in {}: {why}", file.display())));
        say
    }

    /// Gives the rest its time. Returns what came of all.
    async fn settle(&mut self, orders: &mut watch::Receiver<Orders>) -> Vec<Told> {
        self.news.send_replace(true);
        let began = Instant::now();
        last_time(&mut self.task, self.deadline, orders).await;
        let all = self.book.all().await;
        if all.iter().find(|told| told.is_waiting()).is_none_or(|first| first.error.is_some()) {
            return all;
        }
        let message =
            format!("no greeting in the {} s that there were for it", began.elapsed().as_secs());
        let hint = "it is busy with others, or stuck (systemctl restart xcatd); or raise `deadline` \
                    under [report]";
        self.book.tried(None, Some(&Failure::new(Cause::Fetch, message, hint))).await;
        self.book.all().await
    }

    /// What was read since this began.
    fn read(&self, all: &[Told]) -> Option<String> {
        let is_new = |told: &&Told| told.result == Fate::Read && !self.before.contains(told);
        let read = list(all.iter().filter(is_new))?;
        Some(format!(
            "the install monitor has read: {read}; `lsdef {} -i status` there tells what came of it",
            self.node
        ))
    }
}

/// What isn't told yet, and why.
fn left(all: &[Told]) -> Option<Failure> {
    let waiting = || all.iter().filter(|told| told.is_waiting());
    let (words, first) = (list(waiting())?, waiting().next()?);
    let why = first.error.clone().unwrap_or_default();
    let message = format!("the install monitor could not be told yet: {words}; {why}");
    Some(Failure::new(Cause::Fetch, message, first.hint.clone().unwrap_or_default()))
}

fn list<'a>(told: impl Iterator<Item = &'a Told>) -> Option<String> {
    let words: Vec<&str> = told.map(|told| told.told.as_str()).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Waits for the monitor's greeting, and says nothing. Returns who greeted; none where an admin
/// wants nothing to be told.
pub(crate) async fn greeting(
    settings: &Settings,
    xcat: &Xcat,
    limit: Duration,
) -> Option<Result<String, Failure>> {
    if is_unwanted() {
        return None;
    }
    let ready = Monitor::new(settings, xcat.monitor_port, limit).ready().await;
    Some(ready.map(|ready| ready.name().to_owned()))
}

fn is_unwanted() -> bool {
    Machine::here().kernel_line().has("nonodestatus")
}

async fn work(monitor: Monitor, book: Book, mut news: watch::Receiver<bool>) {
    let mut failures = 0;
    loop {
        let last = *news.borrow_and_update();
        if book.next().await.is_none() {
            if last || news.changed().await.is_err() {
                return;
            }
            continue;
        }
        if try_once(&monitor, &book).await {
            failures = 0;
            continue;
        }
        tokio::select! {
            () = tokio::time::sleep(jitter(FIRST_WAIT, LONGEST_WAIT, failures)) => failures += 1,
            // What is new deserves tries of its own.
            _ = news.changed() => failures = 0,
        }
    }
}

async fn try_once(monitor: &Monitor, book: &Book) -> bool {
    let ready = match monitor.ready().await {
        Ok(ready) => ready,
        Err(failure) => {
            book.tried(None, Some(&failure)).await;
            return false;
        }
    };
    // Something newer may have come while it was busy with others.
    let Some(words) = book.next().await else { return true };
    let said = ready.say(&words).await;
    book.tried(Some(&words), said.as_ref().err()).await;
    said.is_ok()
}

/// Tells what earlier runs have left: `provost report`.
pub(crate) async fn tell_rest(
    settings: &Settings,
    xcat: &Xcat,
    paths: &Paths,
    say: impl FnOnce(&str),
) -> Result<(), Failure> {
    let (_orders, mut orders) = watch::channel(Orders::default());
    let Some(mut status) = Status::begin(settings, xcat, paths, &[]).await else { return Ok(()) };
    let all = status.settle(&mut orders).await;
    status.read(&all).as_deref().map(say);
    left(&all).map_or(Ok(()), Err)
}

/// Tells that a run of `service` failed before it could begin. Says whether the monitor knows.
pub(crate) async fn tell_failed(
    settings: &Settings,
    xcat: &Xcat,
    paths: &Paths,
    service: Service,
) -> bool {
    let (_orders, mut orders) = watch::channel(Orders::default());
    let words = end(service, false);
    let Some(mut status) = Status::begin(settings, xcat, paths, words).await else { return false };
    status.deadline = status.deadline.min(AT_ONCE);
    // What there is to say about it is in the error that was told already.
    let all = status.settle(&mut orders).await;
    !words.is_empty() && left(&all).is_none()
}
