use std::str::FromStr;

use crate::{Node, Status, UpdateStatus};

/// A status or an updatestatus that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Of the last kickstart or boot.
    Status(Status),
    /// Of the last rerun.
    Update(UpdateStatus),
}

impl FromStr for Goal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let status = Status::ALL.into_iter().find(|s| s.as_str() == text).map(Self::Status);
        // `failed` is a status first.
        let update = UpdateStatus::ALL.into_iter().find(|s| s.as_str() == text).map(Self::Update);
        status.or(update).ok_or_else(|| {
            let words = Status::ALL.map(Status::as_str).join(", ");
            format!("unknown status {text:?}; expected one of {words}, syncing, synced")
        })
    }
}

impl Goal {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Status(status) => status.as_str(),
            Self::Update(status) => status.as_str(),
        }
    }

    /// Whether each kickstart or boot has this status once, so that it may be of an earlier one.
    pub fn is_of_a_boot(self) -> bool {
        !matches!(self, Self::Status(Status::Defined | Status::Failed) | Self::Update(_))
    }

    /// Whether the node has it.
    pub fn is_reached(self, node: &Node) -> bool {
        match self {
            Self::Status(status) => node.status == status,
            Self::Update(status) => node.updatestatus == Some(status),
        }
    }

    /// Whether the node has failed instead.
    pub fn is_missed_by(self, node: &Node) -> bool {
        match self {
            Self::Status(_) => node.status == Status::Failed && !self.is_reached(node),
            Self::Update(_) => node.updatestatus == Some(UpdateStatus::Failed),
        }
    }

    /// The node's status of the goal's kind.
    pub fn current(self, node: &Node) -> &'static str {
        match self {
            Self::Status(_) => node.status.as_str(),
            Self::Update(_) => node.updatestatus.map_or("not rerun", UpdateStatus::as_str),
        }
    }
}
