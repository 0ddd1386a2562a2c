//! What becomes of a node, for people and programs that want to be told.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Node;

/// What has happened to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoticeKind {
    /// Its boot succeeded.
    Booted,
    /// Its kickstart, its boot or a rerun failed.
    Failed,
    /// The guard holds it.
    Held,
}

/// Something that has happened to a node, as it is shown at that moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    /// What.
    pub kind: NoticeKind,
    /// When it became known, by the server's clock.
    pub at: Timestamp,
    /// The node; of a failure, its detail says why.
    pub node: Box<Node>,
}
