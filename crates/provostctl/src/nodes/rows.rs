use std::fmt::Write;

use clap::ValueEnum;
use jiff::Timestamp;
use provost_plan::nodes::fold;
use provost_steplog::Paint;
use provost_store::{Node, Status, UpdateStatus, words};

use super::overview::plain_http;
use crate::table::{Table, Tone};

/// The order of rows.
#[derive(Clone, Copy, Default, ValueEnum)]
pub(super) enum Sort {
    #[default]
    Name,
    // In the order of a node's life.
    Status,
    // The newest first.
    Since,
    // And by cause.
    Stage,
}

impl Sort {
    /// Sorts nodes, which come by name.
    pub(super) fn sort(self, nodes: &mut [Node]) {
        match self {
            Self::Name => {}
            Self::Status => nodes.sort_by_key(|node| node.status),
            Self::Since => nodes.sort_by_key(|node| std::cmp::Reverse(node.since)),
            Self::Stage => {
                nodes.sort_by_cached_key(|node| (node.detail.stage.clone(), node.detail.cause))
            }
        }
    }
}

/// The rows, and below them `reasons` why nodes failed.
pub(super) fn table(
    nodes: &[Node],
    reasons: &[String],
    now: Timestamp,
    width: Option<u16>,
    paint: Paint,
) -> String {
    let mut text = String::new();
    if !nodes.is_empty() {
        let head = ["NODE", "STATUS", "SINCE", "RERUN", "STAGE", "CAUSE", "WHAT"];
        let mut table = Table::new(head);
        for node in nodes {
            table.add(row(node, now), tone(node.status));
        }
        text = table.render(width, paint);
    }
    text.push_str(&format!("{}\n", words::summary(nodes)));
    if let Some((title, names)) = plain_http(nodes) {
        let _ = writeln!(text, "{title}: {}", fold(&names));
    }
    for reason in reasons {
        let _ = writeln!(text, "{reason}");
    }
    let failed = |node: &&Node| {
        node.status == Status::Failed || node.updatestatus == Some(UpdateStatus::Failed)
    };
    if let Some(node) = nodes.iter().find(failed) {
        text.push_str(&format!("details: provostctl show {}\n", node.name));
    }
    text
}

fn row(node: &Node, now: Timestamp) -> [String; 7] {
    [
        node.name.clone(),
        node.status.as_str().into(),
        node.since.map(|at| words::ago(at, now)).unwrap_or_default(),
        node.updatestatus.map(|status| status.as_str().to_owned()).unwrap_or_default(),
        node.detail.stage.clone().unwrap_or_default(),
        words::ending(&node.detail).unwrap_or_default(),
        words::what(node, now),
    ]
}

fn tone(status: Status) -> Tone {
    match status {
        Status::Failed => Tone::Bad,
        Status::Booted => Tone::Good,
        Status::Defined => Tone::Faint,
        _ => Tone::Busy,
    }
}
