//! Delivers the messages to the install monitor: in the background, in order, and with retries until
//! it has read them.

use std::time::Duration;

use provost_exec::Orders;
use provost_http::backoff::{Backoff, Jitter};
use provost_node::failure::Failure;
use provost_node::observe::report::{last_time, start_timer};
use provost_node::settings::{Paths, Settings, Xcat};
use provost_record::{Cause, Service};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::messages::is_disabled;
use super::messages::{NEXT, StatusMessage};
use super::monitor::Monitor;
use super::queue::MessageQueue;

/// The wait after a try that failed: all nodes of a cluster may be waiting for one monitor.
const BACKOFF: Backoff = Backoff {
    first: Duration::from_millis(500),
    most: Duration::from_secs(30),
    jitter: Jitter::Full,
};
/// How long the monitor's greeting may take: a node that gives up loses its place in the queue, and
/// another node's silence costs each node in the queue 2 s.
const READY: Duration = Duration::from_secs(60);
/// `next` in a kickstart may take so many times as long as a run's last report: nothing delivers it
/// after an installer, and without it the node installs itself again.
const NEXT_FACTOR: u32 = 20;

/// The task that delivers, and the queue.
pub(super) struct Deliverer {
    queue: MessageQueue,
    /// The messages before it started.
    before: Vec<StatusMessage>,
    task: JoinHandle<()>,
    /// Changes when there is a new message; true once there won't be more.
    news: watch::Sender<bool>,
    /// How long the last deliveries may take.
    pub(super) deadline: Duration,
    /// The same while `next` isn't delivered.
    next_deadline: Duration,
    /// Why nothing but `next` is delivered.
    disabled: Option<&'static str>,
    node: String,
    paths: Paths,
}

impl Deliverer {
    /// Starts to deliver what earlier runs have left, then `words`, for a run of `service`.
    pub(super) async fn start(
        settings: &Settings,
        xcat: &Xcat,
        paths: &Paths,
        service: Service,
        words: &[&'static str],
    ) -> Self {
        let queue = MessageQueue::of(&paths.state);
        let disabled = is_disabled().then_some("nonodestatus is on the kernel's command line");
        if disabled.is_some() {
            queue.hush().await;
        }
        if service != Service::Run {
            queue.begin(&wanted(words, disabled)).await;
        }
        let before = queue.all().await;
        let (news, receiver) = watch::channel(false);
        let monitor = Monitor::new(settings, xcat.monitor_port, READY);
        let task = tokio::spawn(deliver(monitor, queue.clone(), receiver));
        let deadline = settings.report_deadline.duration();
        let next_deadline = deadline * if service == Service::Kickstart { NEXT_FACTOR } else { 1 };
        let (node, paths) = (settings.node.clone(), paths.clone());
        Self { queue, before, task, news, deadline, next_deadline, disabled, node, paths }
    }

    /// Delivers nothing but `next` from now on, because of `why`.
    pub(super) async fn disable(&mut self, why: &'static str) {
        self.disabled = Some(why);
        self.queue.hush().await;
    }

    /// Delivers `words` as well. When this returns they are on the disk.
    pub(super) async fn add(&self, words: &[&'static str]) {
        self.queue.add(&wanted(words, self.disabled)).await;
        self.news.send_replace(false);
    }

    /// Delivers the rest within the deadline, as a run's last report, and says what was delivered.
    pub(super) async fn finish(mut self, orders: &mut watch::Receiver<Orders>) {
        let all = self.settle(orders).await;
        self.say_result(&all).await;
    }

    async fn say_result(&self, all: &[StatusMessage]) {
        self.say_read(all);
        if let Some(why) = self.disabled {
            tracing::info!("{why}: sending no status to xCAT");
        }
        let Some(failure) = undelivered(all) else { return };
        let timer = if start_timer(&self.paths) { "a timer, " } else { "" };
        tracing::warn!("{failure}\nit goes with {timer}the next run or `provost report`");
        if needs_next(all) {
            tracing::warn!(
                "until xCAT gets `{NEXT}`, this node installs itself again whenever it boots from \
                 the network; by hand, on the management node: nodeset {} boot",
                self.node
            );
        }
        if let Some(why) = self.queue.write_error().await {
            let file = self.paths.state.join("monitor.json");
            tracing::warn!("writing it to {}: {why}", file.display());
        }
    }

    /// Says what was delivered since this started.
    pub(super) fn say_read(&self, all: &[StatusMessage]) {
        let is_new = |m: &&StatusMessage| m.is_read() && !self.before.contains(m);
        if let Some(words) = list(all.iter().filter(is_new)) {
            let node = &self.node;
            tracing::info!(
                "the install monitor has read: {words}; check there: lsdef {node} -i status"
            );
        }
    }

    /// Delivers the rest within the deadline. Returns all messages.
    pub(super) async fn settle(
        &mut self,
        orders: &mut watch::Receiver<Orders>,
    ) -> Vec<StatusMessage> {
        self.news.send_replace(true);
        let began = Instant::now();
        last_time(&mut self.task, self.deadline, orders).await;
        let more = self.next_deadline.saturating_sub(self.deadline);
        let mut all = self.queue.all().await;
        if needs_next(&all)
            && !more.is_zero()
            && !self.task.is_finished()
            && orders.borrow().stop.is_none()
        {
            let why = undelivered(&all).map(|failure| failure.to_string()).unwrap_or_default();
            let seconds = more.as_secs();
            tracing::warn!(
                "{why}\nretrying for up to {seconds} s, because without `next` this node installs \
                 itself again; SIGTERM or Ctrl-C ends that"
            );
            last_time(&mut self.task, more, orders).await;
            all = self.queue.all().await;
        }
        self.task.abort();
        let first = all.iter().find(|message| message.is_waiting());
        if first.is_none_or(|first| first.error.is_some()) {
            return all;
        }
        let message = format!("no greeting within the {} s left", began.elapsed().as_secs());
        let hint = "restart it if it hangs (systemctl restart xcatd), or raise `deadline` under \
                    [report]";
        let failure = Failure::new(Cause::Fetch, message, hint);
        self.queue.tried(None, Some(&failure)).await;
        self.queue.all().await
    }
}

/// What isn't delivered yet, and why.
pub(super) fn undelivered(all: &[StatusMessage]) -> Option<Failure> {
    let waiting = || all.iter().filter(|message| message.is_waiting());
    let (words, first) = (list(waiting())?, waiting().next()?);
    let why = first.error.clone().unwrap_or_default();
    let message = format!("telling the install monitor {words}: {why}");
    Some(Failure::new(Cause::Fetch, message, first.hint.clone().unwrap_or_default()))
}

fn list<'a>(messages: impl Iterator<Item = &'a StatusMessage>) -> Option<String> {
    let words: Vec<&str> = messages.map(|message| message.words.as_str()).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// What of `words` is delivered, though status may be disabled.
fn wanted(words: &[&'static str], disabled: Option<&str>) -> Vec<&'static str> {
    words.iter().copied().filter(|words| disabled.is_none() || *words == NEXT).collect()
}

fn needs_next(all: &[StatusMessage]) -> bool {
    all.iter().any(|message| message.is_waiting() && message.words == NEXT)
}

async fn deliver(monitor: Monitor, queue: MessageQueue, mut news: watch::Receiver<bool>) {
    let mut failures = 0;
    loop {
        let is_last = *news.borrow_and_update();
        if queue.next().await.is_none() {
            if is_last || news.changed().await.is_err() {
                return;
            }
            continue;
        }
        if deliver_one(&monitor, &queue).await {
            failures = 0;
            continue;
        }
        tokio::select! {
            () = tokio::time::sleep(BACKOFF.wait(failures + 1)) => failures += 1,
            // A new message is tried at once.
            _ = news.changed() => failures = 0,
        }
    }
}

/// Returns whether it was delivered.
async fn deliver_one(monitor: &Monitor, queue: &MessageQueue) -> bool {
    let greeted = match monitor.ready().await {
        Ok(greeted) => greeted,
        Err(failure) => {
            queue.tried(None, Some(&failure)).await;
            return false;
        }
    };
    // A newer one may have come while the monitor was busy with other nodes.
    let Some(words) = queue.next().await else { return true };
    let sent = greeted.send(&words).await;
    queue.tried(Some(&words), sent.as_ref().err()).await;
    sent.is_ok()
}
