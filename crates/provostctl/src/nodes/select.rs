use jiff::Timestamp;
use provost_bundle::Limit;
use provost_store::{Node, failed_at, failure_id, has_failed};

use crate::goal::Goal;

/// Which of the nodes are shown: those to which all options apply.
#[derive(clap::Args)]
pub(crate) struct Selection {
    /// Only nodes whose kickstart, boot or last rerun failed
    #[arg(long)]
    failed: bool,
    /// Only nodes with this status or updatestatus
    #[arg(long)]
    status: Option<Goal>,
    /// Only nodes that are or failed in this stage
    #[arg(long)]
    stage: Option<String>,
    /// Only nodes that failed for this cause: a word such as timeout, or the ID of @cause:ID
    #[arg(long)]
    cause: Option<String>,
    /// Only nodes that changed their status within this time, such as 10m
    #[arg(long, value_name = "D")]
    since: Option<Limit>,
}

impl Selection {
    pub(super) fn has(&self, node: &Node, now: Timestamp) -> bool {
        let is_of_cause = |cause: &String| {
            let id = cause.strip_prefix("@cause:").unwrap_or(cause);
            node.detail.cause.is_some_and(|cause| cause.as_str() == id)
                || failure_id(node).is_some_and(|of_node| of_node == id)
        };
        let is_new = |limit: Limit| {
            let changed = if has_failed(node) { failed_at(node) } else { node.since };
            changed.is_some_and(|at| {
                now.checked_sub(limit.duration()).is_ok_and(|earliest| at >= earliest)
            })
        };
        (!self.failed || has_failed(node))
            && self.status.is_none_or(|status| status.is_reached(node))
            && self.stage.as_ref().is_none_or(|stage| node.detail.stage.as_ref() == Some(stage))
            && self.cause.as_ref().is_none_or(is_of_cause)
            && self.since.is_none_or(is_new)
    }
}
