//! Admins who come over TLS, and what anybody has changed over the admin API.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What an admin may do. Each role may also do what those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// See nodes, records and logs.
    Read,
    /// Change what provostd knows: tokens, releases, removals.
    Operate,
    /// Change what nodes run.
    Publish,
}

impl Role {
    /// All of them, those that may less first.
    pub const ALL: [Self; 3] = [Self::Read, Self::Operate, Self::Publish];

    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Operate => "operate",
            Self::Publish => "publish",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|role| role.as_str() == text);
        known.ok_or_else(|| format!("unknown role {text:?}; expected read, operate or publish"))
    }
}

/// An admin who has a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admin {
    /// The name, which the audit log has.
    pub name: String,
    /// What the admin may do.
    pub role: Role,
    /// When the token was made.
    pub created: Timestamp,
    /// Until when it counts.
    pub until: Timestamp,
}

/// A change that somebody asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AuditEntry {
    /// When.
    pub at: Timestamp,
    /// Who: an admin's name, or the name of a user of the management node.
    pub who: String,
    /// From where: an address, or a socket.
    pub from: String,
    /// What, as the command of provostctl that does it.
    pub action: String,
    /// The body of the request, JSON.
    pub request: Box<RawValue>,
    /// `done`, or why it was refused; none if that isn't known, because provostd ended before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// How many changes are given back at once.
pub const MAX_AUDIT: usize = 10_000;
