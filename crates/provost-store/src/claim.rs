use std::collections::BTreeMap;
use std::net::IpAddr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Detail, Node, Status};

/// How many programs' status is kept of a node.
const PROGRAMS: usize = 32;

/// What is claimed of a node from its address without a token, as xCAT's nodes do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The node whose address it is.
    pub node: String,
    /// The address.
    #[serde(rename = "claimedBy")]
    pub by: IpAddr,
    /// What is claimed.
    #[serde(flatten)]
    pub content: ClaimContent,
}

/// What is claimed of a node without a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ClaimContent {
    /// Its status.
    Status {
        /// The word.
        status: Status,
        /// The text after the word.
        #[serde(default, rename = "errorMessage", skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// The status of a program on it.
    Program {
        /// Its name.
        program: String,
        /// The program's own word.
        appstatus: String,
    },
}

#[cfg(feature = "postgres")]
impl Claim {
    /// The same without what can be of any length.
    pub(crate) fn cut(self) -> Self {
        let content = match self.content {
            ClaimContent::Status { status, .. } => ClaimContent::Status { status, message: None },
            ClaimContent::Program { program, .. } => {
                ClaimContent::Program { program, appstatus: String::new() }
            }
        };
        Self { content, ..self }
    }
}

/// What is remembered of a node's claims.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Claims {
    /// Its status, until a report with a token has another one.
    pub(crate) status: Option<ClaimedStatus>,
    /// The status of its programs, by their names.
    programs: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ClaimedStatus {
    pub(crate) status: Status,
    since: Timestamp,
    by: IpAddr,
    message: Option<String>,
}

impl Claims {
    /// Remembers that the node has `status` at the server's time `at`.
    pub(crate) fn status(
        &mut self,
        status: Status,
        by: IpAddr,
        message: Option<String>,
        at: Timestamp,
    ) {
        let same = self.status.as_ref().filter(|before| before.status == status);
        let since = same.map_or(at, |before| before.since);
        self.status = Some(ClaimedStatus { status, since, by, message });
    }

    /// Takes in how a program is. ClaimContent whether there was room for it.
    pub(crate) fn program(&mut self, name: String, is: String) -> bool {
        let room = self.programs.len() < PROGRAMS || self.programs.contains_key(&name);
        if room {
            self.programs.insert(name, is);
        }
        room
    }

    /// Adds the programs to a node.
    pub(crate) fn programs(&self, node: Node) -> Node {
        Node { appstatus: self.programs.clone(), ..node }
    }
}

impl ClaimedStatus {
    /// Fills in what is claimed.
    pub(crate) fn show(&self, node: Node) -> Node {
        let has_failed = self.status == Status::Failed;
        Node {
            status: self.status,
            since: Some(self.since),
            claimed_by: Some(self.by),
            detail: Detail {
                error_message: self.message.clone().filter(|_| has_failed),
                hint: has_failed.then(|| "read /var/log/xcat/xcat.log on the node".to_owned()),
                ..node.detail
            },
            ..node
        }
    }
}
