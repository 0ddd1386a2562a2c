//! All nodes at a glance: numbers by status, the progress of a storm, failures by cause.

use std::sync::Arc;

use askama::Template;
use jiff::Timestamp;
use provost_api::admins::Expiring;
use provost_record::Cause;
use provost_store::{FailureGroup, Node, Status, UpdateStatus, failure_groups_by, words};
use std::collections::BTreeMap;
use tokio::task::spawn_blocking;

use super::hint::{Piece, pieces};
use super::history;
use super::map::Map;
use super::numbers::{NameSet, counted, grouped};
use super::page::{Page, render};
use super::running::RunningNow;
pub(super) use super::tone::tone;
use crate::fleet::Fleet;
use crate::fleet::expiry::Expiry;
use crate::fleet::history::{History, Range};
use crate::fleet::layout::Layouts;
use crate::fleet::reasons::{ReasonOfCause, Reasons};
use crate::fleet::snapshot::Snapshot;
use crate::listener::refusal::Refusal;
use crate::nodes::beats::Beats;
use crate::nodes::enrolment::Enrolment;
use crate::nodes::over_quota::OverQuota;

/// How many causes are shown, those of most nodes first.
const MOST_GROUPS: usize = 40;
/// How many lines of a message are shown.
const MOST_LINES: usize = 3;

/// The page.
#[derive(Clone)]
pub(crate) struct Overview {
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) layouts: Arc<Layouts>,
    pub(crate) history: Arc<History>,
    /// How far back the history is shown.
    pub(crate) range: Range,
    pub(crate) running: RunningNow,
    pub(crate) beats: Arc<Beats>,
    pub(crate) over_quota: Arc<OverQuota>,
    pub(crate) enrolment: Arc<Enrolment>,
    pub(crate) expiry: Arc<Expiry>,
    pub(crate) reasons: Arc<Reasons>,
}

#[derive(Template)]
#[template(path = "overview.html")]
struct Content {
    total: String,
    numbers: Vec<Number>,
    map: Map,
    /// The section of the history.
    history: String,
    groups: Vec<Group>,
    /// How many causes aren't shown.
    more_groups: usize,
    /// The section of what runs now.
    running: String,
    over_quota: Vec<String>,
    pending: usize,
    /// What expires soon: its name, and what to do.
    expiring: Vec<(String, Vec<Piece>)>,
    /// How many of it aren't shown.
    more_expiring: usize,
}

/// What of the page other modules make.
struct Sections {
    map: Map,
    history: String,
    running: String,
}

/// How many nodes have a status.
struct Number {
    count: String,
    word: String,
    /// Its class of style.
    tone: &'static str,
    /// The nodes.
    href: String,
}

/// Nodes that failed for one cause.
struct Group {
    id: String,
    count: String,
    title: String,
    message: String,
    nodes: NameSet,
    when: String,
    /// What its nodes share and the others don't.
    why: Option<String>,
    hint: Option<Vec<Piece>>,
    next: Vec<Vec<Piece>>,
}

impl Page for Overview {
    fn title(&self) -> String {
        "Overview".to_owned()
    }

    fn section(&self) -> &'static str {
        "overview"
    }

    fn stamp(&self, snapshot: &Snapshot) -> u64 {
        snapshot.version.wrapping_add(self.beats.stage_stamp())
    }

    async fn content(&self) -> Result<String, Refusal> {
        let snapshot = self.fleet.look().await?;
        let expiring = self.expiry.soon().await?;
        let pending = self.enrolment.waiting().await?.len();
        let reasons = self.reasons.of_snapshot(&snapshot).await;
        let (layouts, nodes) = (self.layouts.clone(), snapshot.clone());
        let map = spawn_blocking(move || Map::new(&nodes, &layouts.of(&nodes))).await?;
        let history = history::section(&self.history, self.range, &snapshot).await?;
        let now = Timestamp::now();
        let running = self.running.section(&snapshot, now).await?;
        let sections = Sections { map, history, running };
        render(&Content { pending, ..self.shown(&snapshot, &reasons, &expiring, sections, now) })
    }
}

impl Overview {
    fn shown(
        &self,
        snapshot: &Snapshot,
        reasons: &ReasonOfCause,
        expiring: &[Expiring],
        Sections { map, history, running }: Sections,
        now: Timestamp,
    ) -> Content {
        let members = &snapshot.members;
        let failed =
            members.iter().filter_map(|member| Some((&member.node, member.group.as_deref()?)));
        let groups = failure_groups_by(failed);
        Content {
            total: counted(members.len(), "node"),
            numbers: numbers(members.iter().map(|member| &member.node)),
            map,
            history,
            more_groups: groups.len().saturating_sub(MOST_GROUPS),
            groups: groups.iter().take(MOST_GROUPS).map(|g| Group::of(g, reasons, now)).collect(),
            running,
            over_quota: self.over_quota.list(MOST_LINES),
            pending: 0,
            expiring: expiring
                .iter()
                .take(MOST_LINES)
                .map(|one| (words::expiring(one, now), pieces(&one.hint)))
                .collect(),
            more_expiring: expiring.len().saturating_sub(MOST_LINES),
        }
    }
}

/// How many nodes have which status: those that failed first, then in the order of a node's life. Each status of
/// ours has its place, so that nothing moves while nodes go from one to the next.
fn numbers<'a>(nodes: impl Iterator<Item = &'a Node>) -> Vec<Number> {
    let (mut counts, mut reruns) = (BTreeMap::<Status, usize>::new(), 0);
    counts.extend(Status::ALL.map(|status| (status, 0)));
    for node in nodes {
        *counts.entry(node.status).or_default() += 1;
        reruns += usize::from(node.updatestatus == Some(UpdateStatus::Failed));
    }
    let number = |(status, count): (Status, usize)| Number {
        count: grouped(count),
        word: status.to_string(),
        tone: if count > 0 { tone(status) } else { "faint" },
        href: format!("/nodes?status={status}"),
    };
    let failed = counts.remove_entry(&Status::Failed);
    let mut numbers: Vec<Number> = failed.into_iter().chain(counts).map(number).collect();
    if reruns > 0 {
        let (word, href) =
            ("failed in a rerun".to_owned(), "/nodes?failed=true&sort=stage".to_owned());
        numbers.push(Number { count: grouped(reruns), word, tone: "bad", href });
    }
    numbers
}

impl Group {
    fn of(group: &FailureGroup, reasons: &ReasonOfCause, now: Timestamp) -> Self {
        let mut next = vec![group.next()];
        if group.detail.cause == Some(Cause::Held) {
            next.push(format!("provostctl continue @cause:{}", group.id));
        }
        let message = group.message();
        let lines: Vec<&str> = message.lines().take(MOST_LINES).collect();
        Self {
            id: group.id.clone(),
            count: grouped(group.nodes.len()),
            title: group.title(),
            message: lines.join("\n"),
            nodes: NameSet::of(&group.nodes, Some(&group.id)),
            when: group.when(now),
            why: reasons.get(&group.id).and_then(|reasons| reasons.first()).cloned(),
            hint: group.detail.hint.as_ref().map(|hint| {
                let nodes: Vec<&str> = group.nodes.iter().map(String::as_str).collect();
                pieces(&words::hint_of(hint, &nodes))
            }),
            next: next.iter().map(|next| pieces(next)).collect(),
        }
    }
}
