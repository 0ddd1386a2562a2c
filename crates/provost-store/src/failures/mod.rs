//! Failures of many nodes, grouped by their cause.

mod factors;
mod fisher;
mod normal;
mod site_facts;

use std::collections::BTreeMap;

use jiff::Timestamp;
use provost_record::Cause;

pub use self::factors::{Factor, are_comparable, factors_of};
pub use self::fisher::Share;
pub use self::site_facts::SiteFacts;
use crate::{Detail, Node, Status, UpdateStatus};

/// Nodes that failed for one cause: in the same stage, by the same [`Cause`], with the same message
/// but for numbers, paths, addresses, ids, names, times and what is in quotes.
#[derive(Clone, Debug, PartialEq)]
pub struct FailureGroup {
    /// Six hexadecimal digits, which stay the same for the same cause.
    pub id: String,
    /// Why the first of its nodes failed.
    pub detail: Detail,
    /// Whether it was the first node's kickstart or boot; else it was its last rerun.
    pub is_of_boot: bool,
    /// The nodes, in the order in which they were given.
    pub nodes: Vec<String>,
    /// When the first of them failed, by their own clocks.
    pub first: Option<Timestamp>,
    /// When the last of them failed.
    pub last: Option<Timestamp>,
}

impl FailureGroup {
    /// What its first node printed, without progress where a line says why it failed; before it the
    /// command, where no line of a script says which one it was.
    pub fn message(&self) -> String {
        let message = self.detail.error_message.as_deref().unwrap_or_default();
        let command = crate::words::command_without_line(&self.detail)
            .map(|command| format!("command: {command}"));
        let mut lines = normal::reasons(message);
        if lines.is_empty() {
            lines = message.lines().collect();
        }
        command.as_deref().into_iter().chain(lines).collect::<Vec<_>>().join("\n")
    }
}

/// The last line of a message that says why something failed; its last line, where none says it.
pub(crate) fn last_reason(message: &str) -> Option<&str> {
    normal::reasons(message).last().copied().or_else(|| message.lines().last())
}

/// Whether a node's kickstart, boot or last rerun failed.
pub fn has_failed(node: &Node) -> bool {
    node.status == Status::Failed || node.updatestatus == Some(UpdateStatus::Failed)
}

/// The id of the group that a node belongs to; none if it hasn't failed.
pub fn failure_id(node: &Node) -> Option<String> {
    has_failed(node).then(|| id(node))
}

/// The failures among `nodes`, those of most nodes first.
pub fn failure_groups<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> Vec<FailureGroup> {
    failure_groups_by(nodes.into_iter().filter_map(|node| Some((node, failure_id(node)?))))
}

/// The failures of nodes that have failed, each with its [`failure_id`], those of most nodes first.
pub fn failure_groups_by<'a, I: AsRef<str>>(
    nodes: impl IntoIterator<Item = (&'a Node, I)>,
) -> Vec<FailureGroup> {
    let mut groups = BTreeMap::<String, FailureGroup>::new();
    for (node, id) in nodes {
        let id = id.as_ref();
        let group = match groups.get_mut(id) {
            Some(known) => known,
            None => groups.entry(id.to_owned()).or_insert_with(|| FailureGroup {
                id: id.to_owned(),
                detail: node.detail.clone(),
                is_of_boot: node.status == Status::Failed,
                nodes: Vec::new(),
                first: None,
                last: None,
            }),
        };
        group.nodes.push(node.name.clone());
        group.first = [group.first, failed_at(node)].into_iter().flatten().min();
        group.last = group.last.max(failed_at(node));
    }
    let mut groups: Vec<FailureGroup> = groups.into_values().collect();
    groups.sort_by(|a, b| b.nodes.len().cmp(&a.nodes.len()).then_with(|| a.id.cmp(&b.id)));
    groups
}

/// When a node failed. Of a rerun only the time of its last report is known.
pub fn failed_at(node: &Node) -> Option<Timestamp> {
    if node.status == Status::Failed { node.since } else { node.last_seen }
}

fn id(node: &Node) -> String {
    let detail = &node.detail;
    // What a script printed until it was ended is no cause.
    let was_ended =
        matches!(detail.cause, Some(Cause::Timeout | Cause::Interrupted | Cause::Signal));
    let message = detail.error_message.as_deref().unwrap_or_default();
    let parts = [
        detail.stage.as_deref().unwrap_or_default(),
        detail.cause.as_ref().map_or("", Cause::as_str),
        // That of a time-out says only how long it took to end.
        detail
            .signal
            .as_deref()
            .filter(|_| detail.cause != Some(Cause::Timeout))
            .unwrap_or_default(),
        &normal::message(message, &node.name, !was_ended),
    ];
    let hash = parts
        .join("\0")
        .bytes()
        .fold(FNV_BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME));
    format!("{:06x}", (hash ^ (hash >> 24) ^ (hash >> 48)) & 0xff_ffff)
}

/// FNV-1a of 64 bits (draft-eastlake-fnv): an id must not change with the version of a library.
const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

#[cfg(test)]
mod tests;
