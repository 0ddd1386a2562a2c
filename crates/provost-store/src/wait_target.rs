use std::str::FromStr;

use crate::{Node, Status, UpdateStatus};

/// A status or an updatestatus that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitTarget {
    /// Of the last kickstart or boot.
    Status(Status),
    /// Of the last rerun.
    Update(UpdateStatus),
}

impl FromStr for WaitTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // `failed` is a status first.
        match (text.into(), text.into()) {
            (Status::Other(_), UpdateStatus::Other(_)) => {
                let words: Vec<&str> = Status::ALL.iter().map(Status::as_str).collect();
                let words = words.join(", ");
                Err(format!("unknown status {text:?}; expected one of {words}, syncing, synced"))
            }
            (Status::Other(_), update) => Ok(Self::Update(update)),
            (status, _) => Ok(Self::Status(status)),
        }
    }
}

impl WaitTarget {
    /// The word.
    pub fn as_str(&self) -> &str {
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
    pub fn current(self, node: &Node) -> &str {
        match self {
            Self::Status(_) => node.status.as_str(),
            Self::Update(_) => node.updatestatus.as_ref().map_or("not rerun", UpdateStatus::as_str),
        }
    }
}
