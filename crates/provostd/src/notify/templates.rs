//! The forms of a message that receivers of others take.

use jiff::{SignedDuration, Timestamp};
use provost_steplog::terminal::escape;
use provost_store::NoticeKind;
use serde_json::{Map, Value, json};

use super::group::Group;
use super::link::link_of_node;
use super::message::{Beside, Message, line_of, parts, text, what};
use crate::config::Template;

/// How much of what a script printed is in a block of lines, in characters.
const MOST_BLOCK: usize = 2000;
/// How long an alert lasts that nothing ends.
const ALERT: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The body of a message, by its template.
pub(super) fn body(group: &Group, template: Template, beside: Beside<'_>) -> Value {
    let message = Message::of(group, beside);
    match template {
        Template::Json => json!(message),
        Template::Slack => json!({ "text": slack(group, &message) }),
        Template::Alertmanager => alerts(group, &message, beside.page),
    }
}

/// What happened in one line, then what a script printed, in a block of code, in which nothing mentions a person or a
/// channel; the hint, and a link to the page.
fn slack(group: &Group, message: &Message) -> String {
    let plain = |text: &str| {
        let text = text.replace('`', "'");
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
    };
    let (what, line) = parts(group, message.count);
    let what = line_of(&what);
    let title = text(&message.nodes, message.count, group.kind(), &what);
    let mut text = plain(&title).replace('@', "(at)");
    if let Some(why) = &message.why {
        text.push_str(&format!("\nwhy: {}", plain(why).replace('@', "(at)")));
    }
    // Its last line isn't in the title; of what is there already, nothing is said again.
    let printed = message.detail.error_message.as_deref();
    if let Some(printed) = printed.filter(|printed| line.is_some() || printed.lines().count() > 1) {
        let block: String = printed.chars().take(MOST_BLOCK).collect();
        text.push_str(&format!("\n```\n{}\n```", plain(&escape(&block).replace("\\n", "\n"))));
    }
    if let Some(hint) = &message.detail.hint {
        text.push_str(&format!("\nhint: `{}`", plain(&line_of(hint))));
    }
    if let Some(url) = &message.url {
        text.push_str(&format!("\n<{}|Open in Provost>", plain(url)));
    }
    text
}

/// An alert for each node. That it has booted ends what it had before.
fn alerts(group: &Group, message: &Message, page: Option<&str>) -> Value {
    let now = Timestamp::now();
    // Each is about its own node: the names of all would make a message as long as their square.
    let what = what(group, 1);
    let alert = |name: &str, node: &str, at: Timestamp, until: Timestamp| {
        let detail = &message.detail;
        let mut annotations = Map::new();
        for (key, value) in [
            ("summary", format!("{node} {what}")),
            ("description", message.reason()),
            ("stage", line_of(detail.stage.as_deref().unwrap_or_default())),
            ("cause", detail.cause.as_ref().map_or("", |cause| cause.as_str()).to_owned()),
            ("why", message.why.clone().unwrap_or_default()),
            ("hint", line_of(detail.hint.as_deref().unwrap_or_default())),
        ] {
            if !value.is_empty() {
                annotations.insert(key.to_owned(), value.into());
            }
        }
        let mut alert = json!({
            "labels": { "alertname": name, "node": node, "service": "provost", "severity": "warning" },
            "annotations": annotations,
            "startsAt": at,
            "endsAt": until,
        });
        if let Some(page) = page {
            alert["generatorURL"] = link_of_node(node, page).into();
        }
        alert
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
    use provost_store::{Detail, Node, Notice, Queued, Status};

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
        let message = body(&group(NoticeKind::Failed, &names), Template::Json, Beside::default());
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
        let message = body(&group, Template::Json, Beside::default());
        let text = "cn001 failed in mount: time-out: mount /scratch: mounting";
        assert_eq!(
            (&message["text"], &message["command"]),
            (&text.into(), &"mount /scratch".into())
        );
        let alert = body(&group, Template::Alertmanager, Beside::default());
        let reason = "mount: time-out: mount /scratch: mounting";
        assert_eq!(alert[0]["annotations"]["description"], reason);
    }

    #[test]
    fn what_a_script_printed_mentions_nobody() {
        let message =
            body(&group(NoticeKind::Failed, &["cn001"]), Template::Slack, Beside::default());
        let text = message["text"].as_str().unwrap();
        assert!(
            text.contains("\n```\nmounting\ncannot\\u{1b}[2J &lt;!channel&gt; @all 'x'\n```"),
            "{text}"
        );
        assert_eq!(text.lines().next(), Some("cn001 failed in mount: exit status 32"));
        assert_eq!(text.matches("cannot").count(), 1, "{text}");
    }

    #[test]
    fn slack_says_nothing_twice_and_links_to_the_page() {
        let mut group = group(NoticeKind::Failed, &["cn001", "cn002"]);
        let node = group.0[0].notice.node.as_mut().unwrap();
        node.detail.error_message = Some("no route to host".into());
        node.detail.hint = Some("check the `switch`\n<!here>".into());
        let text = |group: &Group, page| {
            let message = body(group, Template::Slack, Beside { page, why: None });
            message["text"].as_str().unwrap().to_owned()
        };
        let id = provost_store::failure_id(group.first().node.as_deref().unwrap()).unwrap();
        let expected = format!(
            "cn[001-002] (2 nodes) failed in mount: exit status 32\n```\nno route to host\n```\n\
             hint: `check the 'switch'\\n&lt;!here&gt;`\n<https://mgmt:8483/nodes?cause={id}|Open in Provost>"
        );
        assert_eq!(text(&group, Some("https://mgmt:8483/")), expected);
        let node = group.0[0].notice.node.as_mut().unwrap();
        node.detail = Detail {
            cause: Some(Cause::Held),
            error_message: Some("held after 3 failures; release it".into()),
            ..Detail::default()
        };
        group.0.truncate(1);
        group.0[0].notice.kind = NoticeKind::Held;
        assert_eq!(text(&group, None), "cn001 held after 3 failures; release it");
        group.0[0].notice.kind = NoticeKind::Pending;
        let pending = "cn001 tries to report: held after 3 failures; release it";
        assert_eq!(
            text(&group, Some("http://m")),
            format!("{pending}\n<http://m/pending|Open in Provost>")
        );
    }

    #[test]
    fn an_alert_links_to_its_node_and_says_nothing_empty() {
        let booted =
            body(&group(NoticeKind::Booted, &["cn002"]), Template::Alertmanager, Beside::default());
        assert!(
            booted[0].get("generatorURL").is_none()
                && booted[0]["annotations"].get("hint").is_none()
        );
        let failed = group(NoticeKind::Failed, &["cn001", "n.2"]);
        let failed =
            body(&failed, Template::Alertmanager, Beside { page: Some("https://mgmt"), why: None });
        assert_eq!(failed[1]["generatorURL"], "https://mgmt/nodes/n%2E2");
    }

    #[test]
    fn a_boot_ends_the_alerts_of_its_node() {
        let failed = body(
            &group(NoticeKind::Failed, &["cn001", "cn002"]),
            Template::Alertmanager,
            Beside::default(),
        );
        let booted =
            body(&group(NoticeKind::Booted, &["cn002"]), Template::Alertmanager, Beside::default());
        let summary = failed[1]["annotations"]["summary"].as_str().unwrap();
        assert!(summary.starts_with("cn002 failed in mount: exit status 32: "), "{summary}");
        assert_eq!((failed.as_array().unwrap().len(), booted.as_array().unwrap().len()), (2, 4));
        assert_eq!(failed[1]["labels"], booted[0]["labels"]);
        assert_eq!(failed[1]["endsAt"], "2023-11-21T22:13:22Z");
        let ends: Timestamp = booted[0]["endsAt"].as_str().unwrap().parse().unwrap();
        assert!(ends <= Timestamp::now());
    }
}
