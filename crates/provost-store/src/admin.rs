//! Admins who come over TLS, and what anybody has changed over the admin API.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

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
