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
use crate::backoff::{Backoff, Jitter};
use crate::failure::Failure;
use crate::observe::console::complain;
use crate::observe::report::{last_time, start_timer};
use crate::settings::discover::Machine;
use crate::settings::{Paths, Settings, Xcat};

/// The wait after a try that failed: all nodes of a cluster may be waiting for one monitor.
const BACKOFF: Backoff = Backoff {
    first: Duration::from_millis(500),
    most: Duration::from_secs(30),
    jitter: Jitter::Full,
};
/// How long the monitor's greeting may take: whoever gives up loses its place among those who
/// wait, and another node's silence costs each of them 2 s.
const READY: Duration = Duration::from_secs(60);
/// How long it may take where no run is going on.
const AT_ONCE: Duration = Duration::from_secs(10);
/// So many times as long as a run's last report may take telling `next` in a kickstart: nobody goes
/// on with it after an installer, and without it the node installs itself again.
const PATIENCE: u32 = 20;

/// Who tells it during a run.
pub struct Status {
    book: Book,
    /// What was known of it before.
    before: Vec<Told>,
    task: JoinHandle<()>,
    /// Changes when there is more to tell; true once there won't be more.
    news: watch::Sender<bool>,
    deadline: Duration,
    /// The same while `next` is to be told.
    patience: Duration,
    /// Why nothing but `next` is told.
    quiet: Option<&'static str>,
    node: String,
    paths: Paths,
}

/// What is told when a run of `service` begins; `installed` is whether a kickstart made this root.
pub fn beginning(service: Service, installed: bool) -> &'static [&'static str] {
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
pub fn end(service: Service, well: bool) -> &'static [&'static str] {
    match (service, well) {
        (Service::Kickstart, true) => &[NEXT],
        (Service::Kickstart, false) => &[NEXT, "installstatus failed"],
        (Service::Boot, true) => &["installstatus booted"],
        (Service::Boot, false) => &["installstatus failed"],
        (Service::Run, _) => &[],
    }
}

impl Status {
    /// Begins to tell what earlier runs have left, then `words`, for a run of `service`.
    pub async fn begin(
        settings: &Settings,
        xcat: &Xcat,
        paths: &Paths,
        service: Service,
        words: &[&'static str],
    ) -> Self {
        let book = Book::of(&paths.state);
        let quiet = is_quiet().then_some("nonodestatus is on the kernel's command line");
        if quiet.is_some() {
            book.hush().await;
        }
        if service != Service::Run {
            book.begin(&heard(words, quiet)).await;
        }
        let before = book.all().await;
        let (news, heard) = watch::channel(false);
        let monitor = Monitor::new(settings, xcat.monitor_port, READY);
        let task = tokio::spawn(work(monitor, book.clone(), heard));
        let (deadline, node) = (settings.report_deadline.duration(), settings.node.clone());
        let patience = deadline * if service == Service::Kickstart { PATIENCE } else { 1 };
        Self { book, before, task, news, deadline, patience, quiet, node, paths: paths.clone() }
    }

    /// Has nothing but `next` told from now on, and says why.
    pub async fn hush(&mut self, why: &'static str) {
        self.quiet = Some(why);
        self.book.hush().await;
    }

    /// Has `words` told as well. When this returns they are on the disk.
    pub async fn tell(&self, words: &[&'static str]) {
        self.book.add(&heard(words, self.quiet)).await;
        self.news.send_replace(false);
    }

    /// Gives the rest its time, as a run's last report gets it. Says what came of all that was
    /// told.
    pub async fn finish(mut self, orders: &mut watch::Receiver<Orders>, say: &mut dyn FnMut(&str)) {
        let all = self.settle(orders, say).await;
        self.summary(&all).await.iter().for_each(|text| say(text));
    }

    async fn summary(&self, all: &[Told]) -> Vec<String> {
        let mut say: Vec<String> = self.read(all).into_iter().collect();
        say.extend(self.quiet.map(|why| format!("{why}: xCAT is told no status")));
        let Some(failure) = left(all) else { return say };
        let timer = if start_timer(&self.paths) { "a timer, " } else { "" };
        say.push(format!("{failure}\nit goes with {timer}the next run or `provost report`"));
        if needs_next(all) {
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
    async fn settle(
        &mut self,
        orders: &mut watch::Receiver<Orders>,
        say: &mut dyn FnMut(&str),
    ) -> Vec<Told> {
        self.news.send_replace(true);
        let began = Instant::now();
        last_time(&mut self.task, self.deadline, orders).await;
        let more = self.patience.saturating_sub(self.deadline);
        let mut all = self.book.all().await;
        if needs_next(&all)
            && !more.is_zero()
            && !self.task.is_finished()
            && orders.borrow().stop.is_none()
        {
            let why = left(&all).map(|failure| failure.to_string()).unwrap_or_default();
            let seconds = more.as_secs();
            say(&format!(
                "{why}\ntrying on for up to {seconds} s, since without `next` this node \
                          installs itself again; SIGTERM or Ctrl-C ends that"
            ));
            last_time(&mut self.task, more, orders).await;
            all = self.book.all().await;
        }
        self.task.abort();
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

/// Waits for the monitor's greeting, and says nothing. Returns who greeted.
pub async fn greeting(
    settings: &Settings,
    xcat: &Xcat,
    limit: Duration,
) -> Result<String, Failure> {
    let ready = Monitor::new(settings, xcat.monitor_port, limit).ready().await;
    ready.map(|ready| ready.name().to_owned())
}

/// Whether an admin wants no status to be told. `next` is none: a node that doesn't send it
/// installs itself again.
pub fn is_quiet() -> bool {
    Machine::here().kernel_line().has("nonodestatus")
}

/// What of `words` is told all the same.
fn heard(words: &[&'static str], quiet: Option<&str>) -> Vec<&'static str> {
    words.iter().copied().filter(|words| quiet.is_none() || *words == NEXT).collect()
}

fn needs_next(all: &[Told]) -> bool {
    all.iter().any(|told| told.is_waiting() && told.told == NEXT)
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
            () = tokio::time::sleep(BACKOFF.wait(failures + 1)) => failures += 1,
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
pub async fn tell_rest(
    settings: &Settings,
    xcat: &Xcat,
    paths: &Paths,
    say: impl FnOnce(&str),
) -> Result<(), Failure> {
    let (_orders, mut orders) = watch::channel(Orders::default());
    let mut status = Status::begin(settings, xcat, paths, Service::Run, &[]).await;
    let all = status.settle(&mut orders, &mut |_| {}).await;
    status.read(&all).as_deref().map(say);
    left(&all).map_or(Ok(()), Err)
}

/// Tells that a run of `service` failed before it could begin. Says whether the monitor knows.
pub async fn tell_failed(
    settings: &Settings,
    xcat: &Xcat,
    paths: &Paths,
    service: Service,
    orders: &mut watch::Receiver<Orders>,
) -> bool {
    let words = end(service, false);
    let mut status = Status::begin(settings, xcat, paths, service, words).await;
    status.deadline = status.deadline.min(AT_ONCE);
    // What there is to say about it is in the error that was told already.
    let all = status.settle(orders, &mut complain).await;
    !words.is_empty() && left(&all).is_none()
}
