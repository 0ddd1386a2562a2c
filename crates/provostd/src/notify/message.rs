//! What receivers get.

use jiff::{SignedDuration, Timestamp};
use provost_plan::nodes::fold;
use provost_steplog::terminal::{escape, escape_cell};
use provost_steplog::wording;
use provost_store::{Detail, NoticeKind, Storm, failure_groups, words};
use serde::Serialize;
use serde_json::{Value, json};

use super::group::Group;
use crate::config::Template;

/// How much of what a script printed is in a line for people, in characters, …
const MOST: usize = 300;
/// … and how much in a block of lines.
const MOST_BLOCK: usize = 2000;
/// How long an alert lasts that nothing ends.
const ALERT: SignedDuration = SignedDuration::from_hours(7 * 24);

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
    why: Option<String>,
    events: Vec<Part>,
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
    pub(super) fn of(group: &Group, why: Option<&str>) -> Self {
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
            text: text(group, &nodes, names.len()),
            nodes,
            count: names.len(),
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
fn text(group: &Group, nodes: &str, count: usize) -> String {
    let what = what(group, count);
    match count {
        _ if group.kind() == NoticeKind::StormDone => what,
        1 => format!("{nodes} {what}"),
        _ => format!("{nodes} ({}) {what}", wording::count(count, "node")),
    }
}

/// What happened to so many nodes of the group.
fn what(group: &Group, count: usize) -> String {
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
        NoticeKind::StormDone => return storm(first.storm.as_ref(), first.at),
        NoticeKind::Failed | NoticeKind::Held | NoticeKind::Lost => {
            let groups = failure_groups(node);
            let title = groups.first().map_or("failed".to_owned(), |group| group.title());
            let command =
                groups.first().and_then(|group| words::command_without_line(&group.detail));
            let message = groups.first().map(|group| group.message()).unwrap_or_default();
            match message.lines().last() {
                Some(line) if line.starts_with(&title) => line.to_owned(),
                line => [Some(title.as_str()), command, line]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join(": "),
            }
        }
    };
    line_of(&what)
}

fn storm(storm: Option<&Storm>, at: Timestamp) -> String {
    let storm = storm.cloned().unwrap_or_default();
    let took = wording::age(at.duration_since(storm.began).try_into().unwrap_or_default());
    let Storm { succeeded, failed, lost, .. } = storm;
    let nodes = wording::count(storm.nodes, "node");
    format!("storm done: {nodes} in {took}; {succeeded} succeeded, {failed} failed, {lost} lost")
}

/// The body of a message, by its template.
pub(super) fn body(group: &Group, why: Option<&str>, template: Template) -> Value {
    let message = Message::of(group, why);
    match template {
        Template::Json => json!(message),
        Template::Slack => json!({ "text": slack(&message) }),
        Template::Alertmanager => alerts(group, &message),
    }
}

/// What a script printed is in a block of code, in which nothing mentions a person or a channel.
fn slack(message: &Message) -> String {
    let plain = |text: &str| {
        let text = escape(text).replace("\\n", "\n").replace('`', "'");
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
    };
    let mut text = plain(&message.text).replace('@', "(at)");
    if let Some(why) = &message.why {
        text.push_str(&format!("\nwhy: {}", plain(why).replace('@', "(at)")));
    }
    for part in [&message.detail.error_message, &message.detail.hint].into_iter().flatten() {
        let block: String = part.chars().take(MOST_BLOCK).collect();
        text.push_str(&format!("\n```\n{}\n```", plain(&block)));
    }
    text
}

/// An alert for each node. That it has booted ends what it had before.
fn alerts(group: &Group, message: &Message) -> Value {
    let now = Timestamp::now();
    // Each is about its own node: the names of all would make a message as long as their square.
    let what = what(group, 1);
    let alert = |name: &str, node: &str, at: Timestamp, until: Timestamp| {
        json!({
            "labels": { "alertname": name, "node": node, "service": "provost", "severity": "warning" },
            "annotations": {
                "summary": format!("{node} {what}"),
                "description": message.reason(),
                "stage": line_of(message.detail.stage.as_deref().unwrap_or_default()),
                "cause": message.detail.cause.as_ref().map_or("", |cause| cause.as_str()),
                "why": message.why.as_deref().unwrap_or_default(),
                "hint": line_of(message.detail.hint.as_deref().unwrap_or_default()),
            },
            "startsAt": at,
            "endsAt": until,
        })
    };
    let mut alerts = Vec::new();
    for notice in group.0.iter().map(|queued| &queued.notice) {
        let Some(node) = &notice.node else { continue };
        let until = notice.at.checked_add(ALERT).unwrap_or(Timestamp::MAX);
        let mut add = |name, until| alerts.push(alert(name, &node.name, notice.at, until));
        match notice.kind {
            NoticeKind::Failed => add("ProvostNodeFailed", until),
            NoticeKind::Held => add("ProvostNodeHeld", until),
            NoticeKind::Lost => add("ProvostNodeLost", until),
            NoticeKind::Pending => add("ProvostNodePending", until),
            NoticeKind::Booted => {
                for name in [
                    "ProvostNodeFailed",
                    "ProvostNodeHeld",
                    "ProvostNodeLost",
                    "ProvostNodePending",
                ] {
                    add(name, now.max(notice.at));
                }
            }
            NoticeKind::StormDone | NoticeKind::Other(_) => {}
        }
    }
    Value::Array(alerts)
}

#[cfg(test)]
mod tests {
    use provost_record::Cause;
    use provost_store::{Node, Notice, Queued, Status};

    use super::*;

    fn group(kind: NoticeKind, nodes: &[&str]) -> Group {
        let queued = nodes.iter().zip(1..).map(|(name, id)| {
            let detail = Detail {
                stage: Some("mount".into()),
                cause: Some(Cause::Exit),
                exit_code: Some(32),
                error_message: Some("mounting\ncannot\u{1b}[2J <!channel> @all `x`".into()),
                ..Detail::default()
            };
            let node =
                Node { name: (*name).into(), status: Status::Failed, detail, ..Node::default() };
            let at = Timestamp::from_second(1_700_000_000 + id).unwrap();
            Queued { id, notice: Notice::of(kind, node, at) }
        });
        Group(queued.collect())
    }

    #[test]
    fn forty_nodes_are_one_message() {
        let names: Vec<String> = (1..=40).map(|n| format!("cn{n:03}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let message = body(&group(NoticeKind::Failed, &names), None, Template::Json);
        assert_eq!(
            (&message["event"], &message["nodes"]),
            (&"failed".into(), &"cn[001-040]".into())
        );
        let (first, last) = ("2023-11-14T22:13:21Z", "2023-11-14T22:14:00Z");
        assert_eq!((&message["first"], &message["last"]), (&first.into(), &last.into()));
        assert_eq!((&message["count"], &message["exitCode"]), (&40.into(), &32.into()));
        assert_eq!(message["events"][39], json!({"id": 40, "node": "cn040", "at": last}));
        let text = message["text"].as_str().unwrap();
        let expected = "cn[001-040] (40 nodes) failed in mount: exit status 32: cannot\\u{1b}[2J";
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn a_time_out_names_the_command_that_hung() {
        let mut group = group(NoticeKind::Failed, &["cn001"]);
        let node = group.0[0].notice.node.as_mut().unwrap();
        node.detail = Detail {
            stage: Some("mount".into()),
            cause: Some(Cause::Timeout),
            error_message: Some("mounting".into()),
            command: Some("mount /scratch".into()),
            ..Detail::default()
        };
        let message = body(&group, None, Template::Json);
        let text = "cn001 failed in mount: time-out: mount /scratch: mounting";
        assert_eq!(
            (&message["text"], &message["command"]),
            (&text.into(), &"mount /scratch".into())
        );
        let alert = body(&group, None, Template::Alertmanager);
        let reason = "mount: time-out: mount /scratch: mounting";
        assert_eq!(alert[0]["annotations"]["description"], reason);
    }

    #[test]
    fn what_a_script_printed_mentions_nobody() {
        let message = body(&group(NoticeKind::Failed, &["cn001"]), None, Template::Slack);
        let text = message["text"].as_str().unwrap();
        assert!(
            text.contains("\n```\nmounting\ncannot\\u{1b}[2J &lt;!channel&gt; @all 'x'\n```"),
            "{text}"
        );
        let line = text.lines().next().unwrap();
        assert!(!line.contains(['<', '`', '@']), "{line}");
    }

    #[test]
    fn a_boot_ends_the_alerts_of_its_node() {
        let failed =
            body(&group(NoticeKind::Failed, &["cn001", "cn002"]), None, Template::Alertmanager);
        let booted = body(&group(NoticeKind::Booted, &["cn002"]), None, Template::Alertmanager);
        let summary = failed[1]["annotations"]["summary"].as_str().unwrap();
        assert!(summary.starts_with("cn002 failed in mount: exit status 32: "), "{summary}");
        assert_eq!((failed.as_array().unwrap().len(), booted.as_array().unwrap().len()), (2, 4));
        assert_eq!(failed[1]["labels"], booted[0]["labels"]);
        assert_eq!(failed[1]["endsAt"], "2023-11-21T22:13:22Z");
        let ends: Timestamp = booted[0]["endsAt"].as_str().unwrap().parse().unwrap();
        assert!(ends <= Timestamp::now());
    }
}
