//! The nodes, filtered and sorted, a part at a time.

use std::collections::HashSet;
use std::sync::Arc;

use askama::Template;
use axum::http::StatusCode;
use jiff::Timestamp;
use provost_plan::nodes::expand;
use provost_store::{Node, Selection, Status, UpdateStatus, WaitTarget, words};
use serde::{Deserialize, Serialize};

use super::numbers::{counted, grouped};
use super::overview::tone;
use super::page::{Page, encoded, render};
use crate::fleet::Fleet;
use crate::fleet::snapshot::{Member, Snapshot, member};
use crate::listener::refusal::Refusal;
use crate::nodes::beats::Beats;
use crate::nodes::enrolment::Enrolment;

/// How many nodes are shown at once.
const PART: usize = 100;

/// Which nodes, as the address says it. What is empty isn't asked for.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct NodeListQuery {
    /// A part of the name, or a folded set.
    q: String,
    status: String,
    stage: String,
    cause: String,
    failed: bool,
    /// The generation that they ran last.
    bundle: Option<u64>,
    sort: Sort,
    /// From the last to the first.
    down: bool,
    /// Which part, from 1.
    page: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Sort {
    #[default]
    Name,
    Status,
    Since,
    Stage,
}

/// The page.
#[derive(Clone)]
pub(super) struct NodeList {
    query: NodeListQuery,
    selection: Selection,
    names: Names,
    fleet: Arc<Fleet>,
    beats: Arc<Beats>,
    enrolment: Arc<Enrolment>,
}

/// The names that are asked for.
#[derive(Clone)]
enum Names {
    All,
    Part(String),
    Set(Arc<HashSet<String>>),
}

#[derive(Template)]
#[template(path = "node_list.html")]
struct Content<'a> {
    query: &'a NodeListQuery,
    statuses: Vec<String>,
    /// How many nodes there are of how many.
    found: String,
    /// Whether no node is known at all.
    is_empty: bool,
    heads: Vec<Head>,
    rows: Vec<Row>,
    /// The numbers of the first and the last row.
    first: usize,
    last: usize,
    previous: Option<String>,
    next: Option<String>,
}

/// The head of a column.
struct Head {
    word: &'static str,
    class: &'static str,
    /// The rows sorted by it, where they can be.
    href: Option<String>,
    /// How they are sorted by it, as ARIA has it.
    sorted: Option<&'static str>,
}

struct Row {
    name: String,
    status: Status,
    tone: &'static str,
    since: String,
    /// The time itself.
    at: String,
    rerun: String,
    stage: String,
    ending: String,
    what: String,
}

impl NodeList {
    pub(super) fn new(
        query: NodeListQuery,
        fleet: Arc<Fleet>,
        beats: Arc<Beats>,
        enrolment: Arc<Enrolment>,
    ) -> Result<Self, Refusal> {
        let wrong =
            |error: String, hint: String| Refusal::new(StatusCode::BAD_REQUEST, error, hint);
        let some = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let status = some(&query.status).map(|text| text.parse::<WaitTarget>()).transpose();
        let status = status.map_err(|e| wrong(e, "choose a status of the list".to_owned()))?;
        let q = query.q.trim();
        let names = match q.contains(['[', ',', '!', '&', '^']) {
            _ if q.is_empty() => Names::All,
            false => Names::Part(q.to_owned()),
            true => {
                let names = expand(q).map_err(|e| wrong(e.to_string(), e.hint()))?;
                Names::Set(Arc::new(names.into_iter().collect()))
            }
        };
        let selection = Selection {
            failed: query.failed,
            slow: false,
            status,
            stage: some(&query.stage),
            cause: some(&query.cause),
            since: None,
        };
        Ok(Self { query, selection, names, fleet, beats, enrolment })
    }

    /// The names of the nodes that are asked for, without those that nobody but themselves has named.
    pub(super) async fn names(&self) -> Result<Vec<String>, Refusal> {
        let snapshot = self.fleet.look().await?;
        let found = snapshot.members.iter().filter(|member| self.has(member));
        Ok(found.map(|member| member.node.name.clone()).collect())
    }

    /// The address of their first part.
    pub(super) fn address(&self) -> String {
        self.href(|query| query.page = 0)
    }

    /// The nodes that nobody but themselves has named.
    fn strangers(&self, snapshot: &Snapshot) -> Vec<Arc<Member>> {
        let nodes = self.enrolment.unpublished().into_values();
        let nodes = nodes.filter(|node| snapshot.member(&node.name).is_none());
        nodes.map(|node| member(node, snapshot.version)).collect()
    }

    fn has(&self, member: &Member) -> bool {
        let node = &member.node;
        let is_named = match &self.names {
            Names::All => true,
            Names::Part(part) => node.name.contains(part.as_str()),
            Names::Set(names) => names.contains(&node.name),
        };
        is_named
            && self.query.bundle.is_none_or(|bundle| node.bundle == Some(bundle))
            && self.selection.has_of_group(node, || member.group.as_deref())
    }

    /// The address with other values.
    fn href(&self, change: impl FnOnce(&mut NodeListQuery)) -> String {
        let mut query = self.query.clone();
        change(&mut query);
        query.href()
    }

    fn heads(&self) -> Vec<Head> {
        let columns = [
            ("Node", "", Some(Sort::Name)),
            ("Status", "", Some(Sort::Status)),
            ("Since", "wide", Some(Sort::Since)),
            ("Rerun", "wide", None),
            ("Stage", "", Some(Sort::Stage)),
            ("Cause", "wide", None),
            ("What", "what", None),
        ];
        let head = |(word, class, sort): (&'static str, &'static str, Option<Sort>)| {
            let is_by = sort == Some(self.query.sort);
            let sorted = is_by.then_some(if self.query.down { "descending" } else { "ascending" });
            let href = sort.map(|sort| {
                self.href(|query| {
                    query.down = is_by && !query.down;
                    query.sort = sort;
                    query.page = 1;
                })
            });
            Head { word, class, href, sorted }
        };
        columns.into_iter().map(head).collect()
    }
}

impl NodeListQuery {
    fn href(&self) -> String {
        let default = Self::default();
        let mut parts = Vec::new();
        let mut add = |name: &str, value: &str| {
            parts.push(format!("{name}={}", encoded(value)));
        };
        for (name, value) in [
            ("q", &self.q),
            ("status", &self.status),
            ("stage", &self.stage),
            ("cause", &self.cause),
        ] {
            if !value.is_empty() {
                add(name, value);
            }
        }
        if self.failed {
            add("failed", "true");
        }
        if let Some(bundle) = self.bundle {
            add("bundle", &bundle.to_string());
        }
        if self.sort != default.sort {
            add("sort", self.sort.as_str());
        }
        if self.down {
            add("down", "true");
        }
        if self.page > 1 {
            add("page", &self.page.to_string());
        }
        format!("/nodes?{}", parts.join("&"))
    }
}

impl Sort {
    fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Status => "status",
            Self::Since => "since",
            Self::Stage => "stage",
        }
    }

    /// Sorts nodes, which come by name.
    fn sort(self, members: &mut [&Arc<Member>]) {
        match self {
            Self::Name => {}
            Self::Status => members.sort_by_key(|member| member.node.status),
            Self::Since => members.sort_by_key(|member| std::cmp::Reverse(member.node.since)),
            Self::Stage => members.sort_by_key(|member| {
                let detail = &member.node.detail;
                // Nodes without a stage come last.
                (detail.stage.is_none(), &detail.stage, detail.cause)
            }),
        }
    }
}

impl Page for NodeList {
    fn title(&self) -> String {
        "Nodes".to_owned()
    }

    fn section(&self) -> &'static str {
        "nodes"
    }

    fn selected(&self) -> Option<String> {
        let query =
            NodeListQuery { sort: Sort::default(), down: false, page: 0, ..self.query.clone() };
        // Nobody means all nodes by a list that nothing was asked of.
        let href = query.href();
        let (_, query) = href.split_once('?')?;
        Some(query.to_owned()).filter(|query| !query.is_empty())
    }

    fn stamp(&self, snapshot: &Snapshot) -> u64 {
        snapshot.version.wrapping_add(self.beats.stage_stamp())
    }

    async fn content(&self) -> Result<String, Refusal> {
        let snapshot = self.fleet.look().await?;
        let strangers = self.strangers(&snapshot);
        let members = snapshot.members.iter().chain(&strangers);
        let mut found: Vec<&Arc<Member>> = members.filter(|member| self.has(member)).collect();
        if !strangers.is_empty() {
            found.sort_by(|a, b| a.node.name.cmp(&b.node.name));
        }
        self.query.sort.sort(&mut found);
        if self.query.down {
            found.reverse();
        }
        let parts = found.len().div_ceil(PART).max(1);
        let page = self.query.page.clamp(1, parts);
        let first = (page - 1) * PART;
        let shown = &found[first..found.len().min(first + PART)];
        let mut nodes: Vec<_> = shown.iter().map(|member| member.node.clone()).collect();
        self.beats.show(&mut nodes);
        self.enrolment.show(&mut nodes).await?;
        let now = Timestamp::now();
        let (all, count) = (snapshot.members.len() + strangers.len(), found.len());
        let part = |page: usize| self.href(|query| query.page = page);
        render(&Content {
            query: &self.query,
            statuses: statuses(),
            found: match count == all {
                true => counted(all, "node"),
                false => format!("{} of {}", grouped(count), counted(all, "node")),
            },
            is_empty: all == 0,
            heads: self.heads(),
            rows: nodes.iter().map(|node| Row::of(node, now)).collect(),
            first: first + usize::from(count > 0),
            last: first + shown.len(),
            previous: (page > 1).then(|| part(page - 1)),
            next: (page < parts).then(|| part(page + 1)),
        })
    }
}

/// What a node may be looked for by.
fn statuses() -> Vec<String> {
    let reruns = [UpdateStatus::Syncing, UpdateStatus::Synced];
    let statuses = Status::ALL.iter().map(Status::to_string);
    statuses.chain(reruns.iter().map(UpdateStatus::to_string)).collect()
}

impl Row {
    fn of(node: &Node, now: Timestamp) -> Self {
        Self {
            name: node.name.clone(),
            status: node.status,
            tone: tone(node.status),
            since: node.since.map(|at| words::ago(at, now)).unwrap_or_default(),
            at: node.since.map(|at| at.to_string()).unwrap_or_default(),
            rerun: node.updatestatus.map(|status| status.to_string()).unwrap_or_default(),
            stage: node.detail.stage.clone().unwrap_or_default(),
            ending: words::ending(&node.detail).unwrap_or_default(),
            what: words::what(node, now),
        }
    }
}
