//! Who is told of what happens to nodes: receivers over HTTP, and programs on this machine. Each has a
//! queue in the store; of many daemons one delivers.

pub(crate) mod age;
pub(crate) mod failed;
pub(crate) mod group;
pub(crate) mod hook;
pub(crate) mod link;
pub(crate) mod message;
pub(crate) mod program;
pub(crate) mod receiver;
pub(crate) mod storm;
pub(crate) mod templates;
pub(crate) mod webhook;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::SignedDuration;
use provost_bundle::Limit;
use provost_store::{Notice, NoticeKind, Subscription};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::config::{Config, HOOKS};
use crate::error::DaemonError;
use crate::listener::Stop;
use crate::nodes::pending_nodes::PendingNodes;
pub(crate) use age::Queues;
use hook::Hooks;
use receiver::{Receiver, Transport};
use webhook::Webhook;

/// How many nodes a message is about, and a call of a program.
const NODES_OF_MESSAGE: usize = 1000;
const NODES_OF_CALL: usize = 100;
/// How many nodes that are pending wait to be queued. What is more is only in `provostctl pending`.
const PENDING: usize = 100;

/// All receivers.
pub(crate) struct Deliveries {
    receivers: Vec<Receiver>,
    subscriptions: Vec<Subscription>,
    pending: mpsc::Receiver<Notice>,
}

impl Deliveries {
    /// Those of the configuration, and where they are told of pending nodes.
    pub(crate) fn new(config: &Config) -> Result<(Self, PendingNodes), DaemonError> {
        let (mut receivers, mut subscriptions) = (Vec::new(), Vec::new());
        let signed = |limit: Limit| {
            SignedDuration::try_from(limit.duration()).unwrap_or(SignedDuration::MAX)
        };
        let page = config.page.url.as_deref();
        for webhook in &config.webhooks {
            let (name, kinds) = (webhook.name.clone(), webhook.kinds());
            subscriptions.push(Subscription { receiver: name.clone(), kinds });
            let transport = Transport::Webhook(Webhook::new(webhook, page)?);
            let window = signed(webhook.window);
            receivers.push(Receiver { name, transport, window, most: NODES_OF_MESSAGE });
        }
        let kinds = Hooks::kinds(&config.hooks);
        if !kinds.is_empty() {
            subscriptions.push(Subscription { receiver: HOOKS.to_owned(), kinds });
            let transport = Transport::Hooks(Hooks::new(&config.hooks, page));
            let (name, window) = (HOOKS.to_owned(), signed(config.hooks.window));
            receivers.push(Receiver { name, transport, window, most: NODES_OF_CALL });
        }
        let (sender, pending) = mpsc::channel(PENDING);
        let deliveries = Self { receivers, subscriptions, pending };
        let sender = deliveries.tells(NoticeKind::Pending).then_some(sender);
        Ok((deliveries, PendingNodes::new(sender)))
    }

    /// Who is told of what.
    pub(crate) fn subscriptions(&self) -> Vec<Subscription> {
        self.subscriptions.clone()
    }

    fn tells(&self, kind: NoticeKind) -> bool {
        self.subscriptions.iter().any(|subscription| subscription.kinds.contains(&kind))
    }

    /// Delivers until `stop`. What is under way then counts as failed.
    pub(crate) async fn keep(mut self, queues: Arc<Queues>, mut stop: Stop) {
        let mut tasks = JoinSet::new();
        let known: BTreeSet<String> =
            self.receivers.iter().map(|receiver| receiver.name.clone()).collect();
        queues.metrics.deliveries.configured(known.clone());
        let of_all = Arc::clone(&queues);
        tasks.spawn(async move { of_all.drop_unclaimed(known).await });
        for receiver in self.receivers {
            let queues = Arc::clone(&queues);
            tasks.spawn(async move { receiver.keep(&queues).await });
        }
        // Also where nobody is told: the history has their results.
        let of_storms = Arc::clone(&queues);
        tasks.spawn(async move { storm::watch(&*of_storms.store).await });
        tasks.spawn(async move {
            while let Some(notice) = self.pending.recv().await {
                if let Err(error) = queues.store.queue(notice).await {
                    tracing::error!(
                        hint = error.hint(),
                        "queueing that a node is pending: {error}"
                    );
                }
            }
        });
        stop.wait().await;
    }
}
