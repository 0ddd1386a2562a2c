use std::str::FromStr;

use jiff::Timestamp;
use provost_record::Cause;

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

    /// Whether the node has it.
    pub fn is_reached(self, node: &Node) -> bool {
        match self {
            Self::Status(status) => node.status == status,
            Self::Update(status) => node.updatestatus == Some(status),
        }
    }

    /// Whether a node that has it has it for good: it isn't lost, and no run of it is in progress or was
    /// sent to it since. A status of a run in progress is as good as it can be.
    pub fn is_settled(self, node: &Node) -> bool {
        use Status::{Failed, Installing, Netbooting, Postbooting};
        const OF_RUNS: [Status; 3] = [Installing, Netbooting, Postbooting];
        let runs = OF_RUNS.contains(&node.status)
            || node.is_rerun() && node.updatestatus == Some(UpdateStatus::Syncing);
        let is_lost = node.detail.cause == Some(Cause::Lost);
        match self {
            Self::Update(UpdateStatus::Syncing) => true,
            Self::Status(status) if OF_RUNS.contains(&status) => true,
            // One that is lost has failed.
            Self::Status(Failed) | Self::Update(UpdateStatus::Failed) => {
                !runs && node.boot_sent.is_none()
            }
            Self::Status(_) | Self::Update(_) => !runs && !is_lost && node.boot_sent.is_none(),
        }
    }

    /// When the node's status of the goal's kind changed, if that is known. Of a rerun only the time of its
    /// last report is.
    pub fn changed_at(self, node: &Node) -> Option<Timestamp> {
        match self {
            Self::Status(_) => node.since,
            Self::Update(_) => node.last_seen.filter(|_| node.is_rerun()),
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
