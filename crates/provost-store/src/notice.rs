//! What becomes of nodes, for people and programs that want to be told: a queue for each of these
//! receivers.

use std::sync::OnceLock;

use jiff::Timestamp;
use provost_api::NoticeKind;
use serde::{Deserialize, Serialize};

use crate::{Answer, Node};

/// Something that has happened, to one node or in a storm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    /// What.
    pub kind: NoticeKind,
    /// When it became known, by the server's clock.
    pub at: Timestamp,
    /// The node as it was shown then; of a failure, its detail says why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Box<Node>>,
    /// The storm that is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storm: Option<Storm>,
}

impl Notice {
    /// One of a node.
    pub fn of(kind: NoticeKind, node: Node, at: Timestamp) -> Self {
        Self { kind, at, node: Some(Box::new(node)), storm: None }
    }

    /// Whether it is of a rerun, which an admin has begun and watches.
    pub fn is_of_rerun(&self) -> bool {
        let service = self.node.as_ref().and_then(|node| node.service.as_deref());
        service == Some("run") && matches!(self.kind, NoticeKind::Failed | NoticeKind::Held)
    }
}

/// Many nodes that booted or installed at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Storm {
    /// How many nodes.
    pub nodes: u64,
    /// How many runs of them succeeded …
    pub succeeded: u64,
    /// … and failed, …
    pub failed: u64,
    /// … and how many nodes were lost.
    pub lost: u64,
    /// When the first of them began.
    pub began: Timestamp,
}

/// Who is told of what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// The name of the queue.
    pub receiver: String,
    /// Of these; never of reruns.
    pub kinds: Vec<NoticeKind>,
}

/// A notice that waits for its receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Queued {
    /// Its number. Of one node, a later notice has a greater one.
    pub id: i64,
    /// What is told.
    pub notice: Notice,
}

/// The queues of notices. What a batch of records tells is in them as soon as the batch is durable.
pub trait Notices {
    /// Says who is told of what, once, before the first record comes. Without it nothing is queued.
    fn subscribe(&self, subscriptions: Vec<Subscription>);

    /// Queues what isn't told by records, for those who have subscribed.
    fn queue(&self, notice: Notice) -> Answer<'_, ()>;

    /// Notes that a storm began at that time, unless one is under way.
    fn begin_storm(&self, began: Timestamp) -> Answer<'_, ()>;

    /// When the storm began that is under way, if one is.
    fn storm(&self) -> Answer<'_, Option<Timestamp>>;

    /// Queues `notice` of the storm that is done now, unless that was done before.
    fn end_storm(&self, notice: Notice) -> Answer<'_, ()>;

    /// The oldest notices for `receiver`, at most `most`.
    fn queued<'a>(&'a self, receiver: &'a str, most: usize) -> Answer<'a, Vec<Queued>>;

    /// How many wait for each receiver.
    fn queue_lengths(&self) -> Answer<'_, Vec<(String, u64)>>;

    /// Removes what was delivered.
    fn delivered(&self, ids: Vec<i64>) -> Answer<'_, ()>;

    /// Removes notices for `receiver` from before that time, and all but the newest `most`. Returns how
    /// many these were.
    fn drop_notices<'a>(
        &'a self,
        receiver: &'a str,
        most: u64,
        before: Timestamp,
    ) -> Answer<'a, u64>;

    /// Whether this daemon delivers now: of many daemons one does.
    fn delivers(&self) -> Answer<'_, bool>;

    /// Waits until this daemon delivers.
    fn wait_to_deliver(&self) -> Answer<'_, ()>;
}

/// Who has subscribed.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions(OnceLock<Vec<Subscription>>);

impl Subscriptions {
    pub(crate) fn set(&self, subscriptions: Vec<Subscription>) {
        // Those who came first stay.
        let _ = self.0.set(subscriptions);
    }

    /// A row for each of `notices` and each receiver of it, in their order: the receiver, and its text.
    pub(crate) fn rows<'a>(
        &self,
        notices: impl IntoIterator<Item = &'a Notice>,
    ) -> serde_json::Result<Vec<(&str, i64, String)>> {
        let Some(subscriptions) = self.0.get() else { return Ok(Vec::new()) };
        let mut rows = Vec::new();
        for notice in notices.into_iter().filter(|notice| !notice.is_of_rerun()) {
            let receivers = subscriptions.iter().filter(|s| s.kinds.contains(&notice.kind));
            for subscription in receivers {
                let text = serde_json::to_string(notice)?;
                rows.push((&*subscription.receiver, notice.at.as_millisecond(), text));
            }
        }
        Ok(rows)
    }
}
