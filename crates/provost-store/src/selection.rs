use jiff::Timestamp;

use crate::{Node, WaitTarget, failed_at, failure_id, has_failed};

/// Which nodes are shown: those to which all of this applies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Only nodes whose kickstart, boot or last rerun failed.
    pub failed: bool,
    /// Only nodes with a step that takes, or took, much longer than usual.
    pub slow: bool,
    /// Only nodes with this status or updatestatus.
    pub status: Option<WaitTarget>,
    /// Only nodes that are or failed in this stage.
    pub stage: Option<String>,
    /// Only nodes that failed for this cause: a word such as `timeout`, or the id of a
    /// [`FailureGroup`](crate::FailureGroup), also as `@cause:ID`.
    pub cause: Option<String>,
    /// Only nodes that have changed their status since then.
    pub since: Option<Timestamp>,
}

impl Selection {
    /// Whether it has the node.
    pub fn has(&self, node: &Node) -> bool {
        self.has_of_group(node, || failure_id(node))
    }

    /// The same where the node's [`failure_id`] may be known already.
    pub fn has_of_group<T: AsRef<str>>(
        &self,
        node: &Node,
        failure_id: impl FnOnce() -> Option<T>,
    ) -> bool {
        let is_of_cause = |cause: &String| {
            let id = cause.strip_prefix("@cause:").unwrap_or(cause);
            node.detail.cause.is_some_and(|cause| cause.as_str() == id)
                || failure_id().is_some_and(|of_node| of_node.as_ref() == id)
        };
        let is_new = |earliest: Timestamp| {
            let changed = if has_failed(node) { failed_at(node) } else { node.since };
            changed.is_some_and(|at| at >= earliest)
        };
        (!self.failed || has_failed(node))
            && (!self.slow || node.slow.is_some())
            && self.status.is_none_or(|status| status.is_reached(node))
            && self.stage.as_ref().is_none_or(|stage| node.detail.stage.as_ref() == Some(stage))
            && self.cause.as_ref().is_none_or(is_of_cause)
            && self.since.is_none_or(is_new)
    }
}
