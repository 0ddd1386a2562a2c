//! The daemon's own log names each failure of a node once: the daemon that took the report does.

use provost_steplog::terminal::escape_cell;
use provost_store::{Notice, NoticeKind, failure_groups};

/// How much of what a script printed is logged, in characters.
const MOST: usize = 300;

/// Logs those of `notices` that are failures.
pub(crate) fn log(notices: &[Notice]) {
    let failures = notices.iter().filter(|notice| notice.kind != NoticeKind::Booted);
    for node in failures.filter_map(|notice| notice.node.as_deref()) {
        let mut groups = failure_groups([node]);
        let Some(group) = groups.first_mut() else { continue };
        // A node whose boot has failed as well is in the group of that.
        group.is_of_boot = node.service.as_deref() != Some("run");
        let (title, message) = (group.title(), group.message());
        let text = match message.lines().last() {
            // Such as "held after 3 failures".
            Some(line) if line.starts_with(&title) => line.to_owned(),
            Some(line) => format!("{title}: {line}"),
            None => title,
        };
        let name = escape_cell(&node.name);
        // What a node sends is hostile.
        let text: String = escape_cell(&text).chars().take(MOST).collect();
        let stage = node.detail.stage.as_deref().map(escape_cell);
        let cause = node.detail.cause.as_ref().map(|cause| cause.as_str());
        let hint = match &node.detail.hint {
            Some(hint) => escape_cell(hint).chars().take(MOST).collect(),
            None => format!("see what it printed: provostctl show {name}"),
        };
        let run = node.run.as_deref().unwrap_or_default();
        tracing::warn!(node = name, stage, cause, run, hint, "{name} {text}");
    }
}
