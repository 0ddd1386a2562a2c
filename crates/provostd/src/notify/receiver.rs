//! The delivery of one receiver's queue, in order, by tries that repeat until one succeeds.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use provost_http::backoff::{Backoff, Jitter};
use provost_steplog::wording;
use provost_steplog::wording::error_chain;
use provost_store::{NoticeKind, StoreError};
use tokio::time::{Instant, sleep};

use super::age::{KEEP, Queues, TIDY};
use super::group::{Group, groups, is_ripe};
use super::hook::Hooks;
use super::webhook::Webhook;

/// How often a queue is looked at, …
const LOOK: Duration = Duration::from_secs(1);
/// … and how long after another daemon has its turn, or after an error of the store.
const LATER: Duration = Duration::from_secs(3);
/// How many notices are looked at together.
const BATCH: usize = 1000;
/// The longest time between two tries.
const MOST_PAUSE: Duration = Duration::from_secs(300);
/// The longest that a receiver may ask to wait.
const MOST_WAIT: Duration = Duration::from_secs(3600);
/// How often a message is tried that the receiver refuses for what it is. Such a one can't hold the
/// others up for ever.
const MOST_TRIES: u32 = 10;

/// How it is told.
pub(super) enum Transport {
    Webhook(Webhook),
    Hooks(Hooks),
}

impl Transport {
    /// The time between two tries. That of a program is longer: it has ten of them.
    fn backoff(&self) -> Backoff {
        let first = match self {
            Self::Webhook(_) => Duration::from_millis(50),
            Self::Hooks(_) => Duration::from_secs(1),
        };
        Backoff { first, most: MOST_PAUSE, jitter: Jitter::Half }
    }
}

/// A receiver.
pub(super) struct Receiver {
    pub(super) name: String,
    pub(super) transport: Transport,
    /// For how long notices are gathered.
    pub(super) window: SignedDuration,
    /// How many are told together.
    pub(super) most: usize,
}

impl Receiver {
    /// Delivers for ever.
    pub(super) async fn keep(&self, queues: &Queues) {
        let mut tidied = None;
        loop {
            let pause = match self.round(queues, &mut tidied).await {
                Ok(pause) => pause,
                Err(error) => {
                    let (hint, why) = (error.hint(), error_chain(&error));
                    tracing::error!(hint, "delivering to {}: {why}", self.name);
                    LATER
                }
            };
            sleep(pause).await;
        }
    }

    /// Delivers what is ripe. Returns how long to wait.
    async fn round(
        &self,
        queues: &Queues,
        tidied: &mut Option<Instant>,
    ) -> Result<Duration, StoreError> {
        if !queues.store.delivers().await? {
            queues.store.wait_to_deliver().await?;
        }
        self.tidy(queues, tidied).await?;
        let queued = queues.store.queued(&self.name, BATCH).await?;
        let is_backlog = queued.len() == BATCH;
        if !is_backlog && !is_ripe(&queued, self.window, Timestamp::now()) {
            return Ok(LOOK);
        }
        for group in groups(queued, self.most) {
            if !self.deliver(queues, &group, tidied).await? {
                return Ok(LATER);
            }
        }
        Ok(if is_backlog { Duration::ZERO } else { LOOK })
    }

    /// Delivers one message. Returns whether this daemon still is who delivers.
    async fn deliver(
        &self,
        queues: &Queues,
        group: &Group,
        tidied: &mut Option<Instant>,
    ) -> Result<bool, StoreError> {
        let count = group.0.len() as u64;
        let (mut tries, why) = (0, self.why(queues, group).await?);
        let why = why.as_deref();
        let told = loop {
            // Another daemon may have its turn by now.
            if !queues.store.delivers().await? {
                return Ok(false);
            }
            tries += 1;
            let tried = match &self.transport {
                Transport::Webhook(webhook) => webhook.deliver(group, why).await,
                Transport::Hooks(hooks) => hooks.run(group, why, tries).await,
            };
            let Err(failed) = tried else { break true };
            queues.metrics.deliveries.failed(&self.name);
            let is_too_old = Timestamp::now().duration_since(group.first().at) > KEEP;
            if is_too_old || failed.is_of_message && tries >= MOST_TRIES {
                let what = wording::count(count, "event");
                let hint = "see why the receiver refuses it, by the receiver's own log";
                let why = failed.why;
                tracing::error!(
                    hint,
                    "dropped {what} for {} after {tries} tries: {why}",
                    self.name
                );
                break false;
            }
            let wait = failed
                .wait
                .unwrap_or_default()
                .min(MOST_WAIT)
                .max(self.transport.backoff().wait(tries));
            // The first one, and then ever fewer of them.
            if tries.is_power_of_two() {
                let hint =
                    "events wait in the queue meanwhile; see provost_notice_queue in /metrics";
                let wait = wording::duration(wait);
                let (name, why) = (&self.name, failed.why);
                tracing::warn!(
                    hint,
                    "{name} didn't take a message (try {tries}): {why}; retrying in {wait}"
                );
            }
            sleep(wait).await;
            self.tidy(queues, tidied).await?;
        };
        // Not again, whatever happens to the store meanwhile.
        while let Err(error) = queues.store.delivered(group.ids()).await {
            let (hint, why) = (error.hint(), error_chain(&error));
            tracing::error!(hint, "noting what was delivered to {}: {why}", self.name);
            sleep(LATER).await;
        }
        if told {
            if tries > 1 {
                tracing::info!("{} took the message at try {tries}", self.name);
            }
            queues.metrics.deliveries.delivered(&self.name, count);
        } else {
            queues.metrics.deliveries.dropped(&self.name, count);
        }
        Ok(true)
    }

    /// What nodes that failed share and the others don't, if it is about such.
    async fn why(&self, queues: &Queues, group: &Group) -> Result<Option<String>, StoreError> {
        let failed = group.first().node.as_deref();
        match failed.filter(|_| group.kind() == NoticeKind::Failed) {
            Some(node) => queues.reasons.of_failure(node, queues.store.nodes()).await,
            None => Ok(None),
        }
    }

    /// Drops what is too much or too old, now and then.
    async fn tidy(&self, queues: &Queues, tidied: &mut Option<Instant>) -> Result<(), StoreError> {
        if tidied.is_some_and(|at| at.elapsed() < TIDY) {
            return Ok(());
        }
        *tidied = Some(Instant::now());
        let hint = "see why the receiver takes none: journalctl -u provostd | grep retrying";
        queues.drop_old(&self.name, hint).await
    }
}
