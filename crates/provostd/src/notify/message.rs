//! What happened, in Provost's own form and in a line for people.

use jiff::Timestamp;
use provost_plan::nodes::fold;
use provost_steplog::terminal::escape_cell;
use provost_steplog::wording;
use provost_store::{Detail, NoticeKind, Storm, failure_groups, words};
use serde::Serialize;

use super::group::Group;
use super::link::link;

/// How much of what a script printed is in a line for people, in characters.
const MOST: usize = 300;

/// A message of Provost's own form.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Message {
    event: NoticeKind,
    /// One line for people.
    pub(super) text: String,
    /// The nodes, folded; how many.
    pub(super) nodes: String,
    pub(super) count: usize,
    /// Where the web page shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<String>,
    /// When the first and the last of these became known.
    first: Timestamp,
    last: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<String>,
    /// Of the first node.
    #[serde(flatten)]
    pub(super) detail: Detail,
    #[serde(skip_serializing_if = "Option::is_none")]
    storm: Option<Storm>,
    /// What the nodes of a failure share and the others don't.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) why: Option<String>,
    events: Vec<Part>,
}

/// What is known beside what happened.
#[derive(Clone, Copy, Default)]
pub(super) struct Beside<'a> {
    /// The URL of the web page.
    pub(super) page: Option<&'a str>,
    /// What the nodes of a failure share and the others don't.
    pub(super) why: Option<&'a str>,
}

/// What happened to one node.
#[derive(Debug, Serialize)]
struct Part {
    id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    at: Timestamp,
}

impl Message {
    pub(super) fn of(group: &Group, Beside { page, why }: Beside<'_>) -> Self {
        let names = group.nodes();
        let times = || group.0.iter().map(|queued| queued.notice.at);
        let first = group.first();
        let node = first.node.as_deref();
        let part = |queued: &provost_store::Queued| {
            let node = queued.notice.node.as_deref();
            Part {
                id: queued.id,
                node: node.map(|node| node.name.clone()),
                run: node.and_then(|node| node.run.clone()),
                at: queued.notice.at,
            }
        };
        let nodes = fold(&names);
        Self {
            event: group.kind(),
            text: text(&nodes, names.len(), group.kind(), &what(group, names.len())),
            nodes,
            count: names.len(),
            url: page.map(|page| link(group, page)),
            first: times().min().unwrap_or(first.at),
            last: times().max().unwrap_or(first.at),
            service: node.and_then(|node| node.service.clone()),
            detail: node.map(|node| node.detail.clone()).unwrap_or_default(),
            storm: first.storm.clone(),
            why: why.map(line_of),
            events: group.0.iter().map(part).collect(),
        }
    }

    /// Why it happened, in one line.
    pub(super) fn reason(&self) -> String {
        let ending = words::ending(&self.detail);
        let stage = self.detail.stage.as_deref();
        let command = words::command_without_line(&self.detail);
        let line = self.detail.error_message.as_deref().and_then(|text| text.lines().last());
        let parts = [stage, ending.as_deref(), command, line].into_iter().flatten();
        line_of(&parts.collect::<Vec<_>>().join(": "))
    }
}

/// One line of at most [`MOST`] characters, in which nothing steers a terminal.
pub(super) fn line_of(text: &str) -> String {
    escape_cell(text).chars().take(MOST).collect()
}

/// One line for people: `cn[001-040] (40 nodes) failed in mount: exit status 32: no route to host`.
pub(super) fn text(nodes: &str, count: usize, kind: NoticeKind, what: &str) -> String {
    match count {
        _ if kind == NoticeKind::StormDone => what.to_owned(),
        1 => format!("{nodes} {what}"),
        _ => format!("{nodes} ({}) {what}", wording::count(count, "node")),
    }
}

/// What happened to so many nodes of the group.
pub(super) fn what(group: &Group, count: usize) -> String {
    let (what, line) = parts(group, count);
    line_of(&[Some(what), line].into_iter().flatten().collect::<Vec<_>>().join(": "))
}

/// What happened to so many nodes of the group, and the line of a script that says why, where the first doesn't have it.
pub(super) fn parts(group: &Group, count: usize) -> (String, Option<String>) {
    let first = group.first();
    let node = first.node.as_deref();
    let message = || node.and_then(|node| node.detail.error_message.as_deref()).unwrap_or_default();
    let what = match group.kind() {
        NoticeKind::Booted => "booted".to_owned(),
        NoticeKind::Held if count > 1 => "held after too many failures".to_owned(),
        NoticeKind::Pending => match count {
            1 => format!("tries to report: {}", message()),
            _ => "try to report without a valid token or identity".to_owned(),
        },
        NoticeKind::Other(word) => word.as_str().to_owned(),
        NoticeKind::StormDone => storm(first.storm.as_ref(), first.at),
        NoticeKind::Failed | NoticeKind::Held | NoticeKind::Lost => {
            let groups = failure_groups(node);
            let title = groups.first().map_or("failed".to_owned(), |group| group.title());
            let command =
                groups.first().and_then(|group| words::command_without_line(&group.detail));
            let message = groups.first().map(|group| group.message()).unwrap_or_default();
            match message.lines().last() {
                Some(line) if line.starts_with(&title) => line.to_owned(),
                line => {
                    let what = [Some(title.as_str()), command].into_iter().flatten();
                    return (what.collect::<Vec<_>>().join(": "), line.map(str::to_owned));
                }
            }
        }
    };
    (what, None)
}

fn storm(storm: Option<&Storm>, at: Timestamp) -> String {
    let storm = storm.cloned().unwrap_or_default();
    let took = wording::age(at.duration_since(storm.began).try_into().unwrap_or_default());
    let Storm { succeeded, failed, lost, .. } = storm;
    let nodes = wording::count(storm.nodes, "node");
    format!("storm done: {nodes} in {took}; {succeeded} succeeded, {failed} failed, {lost} lost")
}
