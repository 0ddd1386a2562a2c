//! The keys that wait for an admin, and the nodes that can't report.

use std::sync::Arc;

use askama::Template;
use jiff::Timestamp;
use provost_api::admins::PendingNode;
use provost_store::words;

use super::page::{Page, encoded, render};
use crate::listener::refusal::Refusal;
use crate::nodes::enrolment::Enrolment;

/// How many are shown: anybody can ask.
const MOST: usize = 500;

/// The page.
#[derive(Clone)]
pub(super) struct PendingPage {
    pub(super) enrolment: Arc<Enrolment>,
}

#[derive(Template)]
#[template(path = "pending.html")]
struct Content {
    keys: Vec<Row>,
    others: Vec<Row>,
    more: usize,
}

pub(super) struct Row {
    pub(super) node: String,
    pub(super) key: String,
    /// Where it is decided.
    pub(super) href: String,
    pub(super) why: String,
    pub(super) address: String,
    pub(super) since: String,
    /// The time itself.
    pub(super) at: String,
    pub(super) last: String,
    pub(super) attempts: String,
    pub(super) hint: String,
}

impl Page for PendingPage {
    fn title(&self) -> String {
        "Pending".to_owned()
    }

    fn section(&self) -> &'static str {
        "nodes"
    }

    async fn content(&self) -> Result<String, Refusal> {
        let all = self.enrolment.waiting().await?;
        let now = Timestamp::now();
        let (keys, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| one.key.is_some());
        let more = keys.len().saturating_sub(MOST) + others.len().saturating_sub(MOST);
        let rows = |of: Vec<PendingNode>| {
            of.into_iter().take(MOST).map(|one| Row::new(one, now)).collect()
        };
        render(&Content { keys: rows(keys), others: rows(others), more })
    }
}

impl Row {
    pub(super) fn new(one: PendingNode, now: Timestamp) -> Self {
        let key = one.key.unwrap_or_default();
        Self {
            href: format!("/pending/key?node={}&key={}", encoded(&one.node), encoded(&key)),
            why: one.why.words().to_owned(),
            address: one.address.to_string(),
            since: words::ago(one.since, now),
            at: format!("{:.0}", one.since),
            last: words::ago(one.last, now),
            attempts: one.attempts.map(|tries| tries.to_string()).unwrap_or_default(),
            hint: one.hint.unwrap_or_default(),
            node: one.node,
            key,
        }
    }
}
