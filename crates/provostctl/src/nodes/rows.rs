use clap::ValueEnum;
use jiff::Timestamp;
use provost_record::{Cause, Paint, wording};
use provost_store::{Detail, Node, Status, UpdateStatus};

use crate::table::{Table, Tone};
use crate::text;

/// The order of rows.
#[derive(Clone, Copy, Default, ValueEnum)]
pub(super) enum Sort {
    /// By name
    #[default]
    Name,
    /// By status, in the order of a node's life
    Status,
    /// The newest status first
    Since,
    /// By stage and cause
    Stage,
}

impl Sort {
    /// Sorts nodes, which come by name.
    pub(super) fn sort(self, nodes: &mut [Node]) {
        match self {
            Self::Name => {}
            Self::Status => nodes.sort_by_key(|node| node.status),
            Self::Since => nodes.sort_by_key(|node| std::cmp::Reverse(node.since)),
            Self::Stage => nodes.sort_by_cached_key(|node| {
                (node.detail.stage.clone(), node.detail.cause.map(Cause::as_str))
            }),
        }
    }
}

pub(super) fn table(nodes: &[Node], now: Timestamp, width: Option<u16>, paint: Paint) -> String {
    let mut text = String::new();
    if !nodes.is_empty() {
        let head = ["NODE", "STATUS", "SINCE", "RERUN", "STAGE", "CAUSE", "WHAT"];
        let mut table = Table::new(head);
        for node in nodes {
            table.add(row(node, now), tone(node.status));
        }
        text = table.render(width, paint);
    }
    text.push_str(&format!("{}\n", summary(nodes)));
    let failed = |node: &&Node| {
        node.status == Status::Failed || node.updatestatus == Some(UpdateStatus::Failed)
    };
    if let Some(node) = nodes.iter().find(failed) {
        text.push_str(&format!("why: provostctl show {}\n", node.name));
    }
    text
}

fn row(node: &Node, now: Timestamp) -> [String; 7] {
    [
        node.name.clone(),
        node.status.as_str().into(),
        node.since.map(|at| text::ago(at, now)).unwrap_or_default(),
        node.updatestatus.map(|status| status.as_str().to_owned()).unwrap_or_default(),
        node.detail.stage.clone().unwrap_or_default(),
        ending(&node.detail).unwrap_or_default(),
        what(node, now),
    ]
}

/// How it failed, if it did.
pub(crate) fn ending(detail: &Detail) -> Option<String> {
    let Detail { cause, exit_code, signal, .. } = detail;
    let has_failed = cause.is_some() || exit_code.is_some() || signal.is_some();
    has_failed.then(|| wording::outcome(*cause, *exit_code, signal.as_deref()))
}

/// For how long its stage has run; or where it failed, and its last line of output.
fn what(node: &Node, now: Timestamp) -> String {
    if let Some(running) = &node.running_for {
        return text::running_for(running, now);
    }
    let detail = &node.detail;
    let place = detail.error_line.as_deref().and_then(|line| line.split(' ').next());
    let last = detail.error_message.as_deref().and_then(|message| message.lines().last());
    match (place, last) {
        (Some(place), Some(last)) => format!("line {place}: {last}"),
        (Some(place), None) => format!("line {place}"),
        (None, last) => last.unwrap_or_default().to_owned(),
    }
}

fn tone(status: Status) -> Tone {
    match status {
        Status::Failed => Tone::Bad,
        Status::Booted => Tone::Good,
        Status::Defined => Tone::Faint,
        _ => Tone::Busy,
    }
}

/// `3 nodes: 2 booted, 1 failed`.
pub(super) fn summary(nodes: &[Node]) -> String {
    let count = |status: Status| nodes.iter().filter(|node| node.status == status).count();
    let counts = Status::ALL.map(|status| (count(status), status.as_str()));
    let counts: Vec<_> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    match nodes.len() {
        0 => "no nodes".into(),
        n => format!("{}: {}", wording::count(n, "node"), counts.join(", ")),
    }
}
