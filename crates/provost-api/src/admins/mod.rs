//! The admins' API: what `provostctl`, the web page and other programs ask the daemon for, and the answers.

mod changes;
mod history;
mod requests;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::ops::AddAssign;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use changes::{NodeChanges, Publication, ScriptChange, ValueChange};
pub use history::{History, HistoryPoint, StormResult};
pub use requests::{
    AdminName, AdminRequest, BootsRequest, CloseRequest, KeyRequest, NODE_NAMES, NodesRequest,
    TimeRequest, TokensRequest,
};

use crate::{AuthFailure, Expires, Growth, Role, Route};

/// `GET`: the nodes, or those of `?nodes=SET`.
pub const NODES: Route = Route("/v1/nodes");
/// `GET`: a node with its newest runs, `?runs=N` of them whole.
pub const NODE: Route = Route("/v1/nodes/{node}");
/// `GET`: what was changed between two runs of a node, by `?bundles=16-17&plans=3-4&script=NAME`, [`NodeChanges`].
pub const CHANGES: Route = Route("/v1/nodes/{node}/changes");
/// `GET`: what the log of a script that runs has grown by after `?from=BYTE`, a [`Followed`]; waits for a while.
pub const FOLLOW: Route = Route("/v1/nodes/{node}/follow/{script}");
/// `GET`: the records of a run.
pub const RUN_RECORDS: Route = Route("/v1/runs/{run}/records");
/// `GET`: an uploaded log, text.
pub const RUN_LOG: Route = Route("/v1/runs/{run}/logs/{name}");
/// `GET`: server-sent events, from now on; with `?beats=true` also beats.
pub const EVENTS: Route = Route("/v1/events");
/// `GET`: the nodes and keys that have no right to report yet, each a [`PendingNode`].
pub const PENDING: Route = Route("/v1/pending");
/// `GET`: what an installer needs first, an [`Installer`].
pub const INSTALLER: Route = Route("/v1/installer");
/// `GET`: the published [`Scripts`].
pub const SCRIPTS: Route = Route("/v1/scripts");
/// `GET`: the published [`Groups`].
pub const GROUPS: Route = Route("/v1/groups");
/// `GET`: what was published and by whom, the oldest first, each a [`Publication`].
pub const PUBLICATIONS: Route = Route("/v1/publications");
/// `GET`: all that expires, soonest first, each an [`Expiring`].
pub const EXPIRY: Route = Route("/v1/expiry");
/// `GET`: what runs did and how nodes stood over `?range=hour|day|week|year`, a [`History`].
pub const HISTORY: Route = Route("/v1/history");
/// `GET`: by what ssh knows nodes whose host keys are certified, an [`SshAuthority`].
pub const SSH_AUTHORITY: Route = Route("/v1/ssh-authority");
/// `GET`: the newest [`Generations`] that nodes have reported.
pub const GENERATIONS: Route = Route("/v1/generations");
/// `POST`, [`TokensRequest`]: makes tokens, each a [`NewToken`].
pub const TOKENS: Route = Route("/v1/tokens");
/// `POST`, [`NodesRequest`]: releases nodes that the guard holds, each a [`Released`].
pub const RELEASE: Route = Route("/v1/release");
/// `POST`, [`NodesRequest`]: removes nodes and all that is known of them, each a [`Named`] node.
pub const REMOVE: Route = Route("/v1/remove");
/// `POST`, [`BootsRequest`]: notes that nodes were sent a boot, each a [`Named`] node that is known.
pub const BOOTS: Route = Route("/v1/boots");
/// `POST`: deletes history older than `[retention]`; `GET`: what it would delete.
pub const PRUNE: Route = Route("/v1/prune");
/// `POST`, [`TimeRequest`]: makes join tokens, each a [`NewJoin`].
pub const JOIN: Route = Route("/v1/join");
/// `POST`, [`TimeRequest`]: opens a [`Window`] of enrolment; `GET`: those that are open.
pub const WINDOWS: Route = Route("/v1/windows");
/// `POST`, [`CloseRequest`]: closes windows; answers which, [`Closed`].
pub const CLOSE_WINDOWS: Route = Route("/v1/windows/close");
/// `POST`, [`KeyRequest`]: makes a pending key a node's identity, [`Approved`].
pub const APPROVE: Route = Route("/v1/approve");
/// `POST`, [`KeyRequest`]: rejects a pending key, [`Rejected`].
pub const REJECT: Route = Route("/v1/reject");
/// `POST`, [`NodesRequest`]: ends identities and tokens, each a [`Revoked`].
pub const REVOKE: Route = Route("/v1/revoke");
/// `GET`: the [`Admin`]s; `POST`, [`AdminRequest`]: adds one, [`NewAdmin`].
pub const ADMINS: Route = Route("/v1/admins");
/// `POST`, [`AdminName`]: ends an admin's token.
pub const REMOVE_ADMIN: Route = Route("/v1/admins/remove");
/// `GET`: who changed what, since `?since=TIME`.
pub const AUDIT: Route = Route("/v1/audit");
/// `GET`: whether nodes can report, [`Health`]; 503 if not.
pub const HEALTH: Route = Route("/healthz");
/// `GET`: metrics, in the text format of Prometheus.
pub const METRICS: Route = Route("/metrics");

/// A new token. It is shown only once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewToken {
    /// Whose.
    pub node: String,
    /// The token.
    pub token: String,
    /// Whether the node was unknown before.
    pub new: bool,
}

/// A node that was released.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Released {
    /// The node.
    pub node: String,
    /// How many failed attempts are forgotten.
    pub attempts: u32,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Named {
    /// Its name.
    pub node: String,
}

/// A new join token. It is shown only once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewJoin {
    /// Whose.
    pub node: String,
    /// The token.
    pub token: String,
}

/// A window of enrolment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Window {
    /// Of which nodes, folded.
    pub nodes: String,
    /// Until when.
    pub until: Timestamp,
    /// Which of them it gives nothing, folded: those that have an identity, or have booted.
    #[serde(rename = "withoutEffect", default, skip_serializing_if = "String::is_empty")]
    pub without_effect: String,
}

/// The windows that were closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Closed {
    /// Of which nodes, folded.
    pub nodes: String,
}

/// A key that is an identity now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Approved {
    /// The node.
    pub node: String,
    /// The fingerprint.
    pub key: String,
    /// Until when it is valid.
    pub until: Timestamp,
}

/// A key that was rejected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rejected {
    /// The node.
    pub node: String,
    /// The fingerprint.
    pub key: String,
}

/// A node that was revoked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Revoked {
    /// The node.
    pub node: String,
    /// The fingerprint of its identity, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// A node's identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodeIdentity {
    /// The fingerprint.
    pub key: String,
    /// Since when.
    pub since: Timestamp,
    /// Until when.
    pub until: Timestamp,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Timestamp>,
}

/// A node that tries to report without a right to, or a key that waits for an admin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PendingNode {
    /// The name that it gives.
    pub node: String,
    /// From where, the last time.
    pub address: IpAddr,
    /// What is missing.
    pub why: AuthFailure,
    /// The last time.
    pub last: Timestamp,
    /// The first time.
    pub since: Timestamp,
    /// How often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u64>,
    /// The fingerprint of a key that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// What nodes have reported of what is published: the newest generations, and keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Generations {
    /// The published folder that this daemon serves.
    pub www: PathBuf,
    /// Of the bundle; 0 if none was reported.
    pub bundle: u64,
    /// Of each node's plan.
    pub plans: BTreeMap<String, u64>,
    /// Of all bundles that nodes have: what is published keeps their files.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub bundles: BTreeSet<u64>,
    /// The public key by which this daemon refreshes what is published, if that names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_key: Option<String>,
    /// How nodes reach this daemon by TLS, if they can: what `publish --tls` takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<String>,
    /// The ids of the keys that each node trusts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keys: BTreeMap<String, Vec<String>>,
    /// Which of the publisher's keys came after which, and which were revoked, as this daemon knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub succession: Option<String>,
}

/// Something that expires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Expiring {
    /// What it is.
    pub what: Expires,
    /// Which: a channel, a node, an admin, a listener; `all` is what is published for all nodes.
    pub name: String,
    /// When it ends.
    pub expires: Timestamp,
    /// Whether it is time to do something about it: 30 days before, or at half of its time if that is later; or it has
    /// expired.
    pub soon: bool,
    /// What to do.
    pub hint: String,
}

/// The authority of nodes' ssh host keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SshAuthority {
    /// Its line for a file of known hosts.
    pub known_hosts: String,
}

/// What an installer needs first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Installer {
    /// The address of the nodes' listener, as others reach it.
    pub server: Option<String>,
    /// The publisher's public key.
    pub key: String,
    /// The digest of the node's program for x86_64, or for the only architecture.
    pub sha256: String,
    /// The digests of all, by architecture as uname(1) calls it.
    #[serde(default)]
    pub programs: BTreeMap<String, String>,
    /// The generation that is published.
    pub generation: u64,
    /// Whether it names TLS.
    #[serde(default)]
    pub tls: bool,
    /// The SHA-256 of `install.sh`, which `server` serves.
    #[serde(default)]
    pub install_sh: Option<String>,
}

/// The published scripts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scripts {
    /// Their names; null where nothing is published here.
    pub scripts: Option<Vec<String>>,
    /// The format of the manifest that names them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<u32>,
    /// Its generation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
}

/// The groups of the published site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Groups {
    /// Each with its nodes, folded.
    pub groups: BTreeMap<String, String>,
}

/// A part of a log that somebody follows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Followed {
    /// The run; none if there is no beat of that script.
    pub run: Option<String>,
    /// `NN-SCRIPT`.
    pub log: Option<String>,
    /// What the reader doesn't have, in order.
    pub pieces: Vec<Growth>,
    /// Whether the step has ended.
    pub ended: bool,
}

/// Whether nodes can report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Health {
    /// `ok` or `failed`.
    pub status: String,
    /// The daemon's version; none of one that didn't name it yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// An admin who has a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Admin {
    /// The name, which the audit log has.
    pub name: String,
    /// What the admin may do.
    pub role: Role,
    /// When the token was made.
    pub created: Timestamp,
    /// Until when it is valid.
    pub until: Timestamp,
}

/// A new admin, and the token, which is shown only once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewAdmin {
    /// The admin.
    #[serde(flatten)]
    pub admin: Admin,
    /// The token.
    pub token: String,
}

/// What was removed of the history, or would be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Pruned {
    /// Runs.
    pub runs: u64,
    /// Their records.
    pub records: u64,
    /// The bytes of these.
    pub record_bytes: u64,
    /// Logs.
    pub logs: u64,
    /// The bytes of these.
    pub log_bytes: u64,
}

impl AddAssign for Pruned {
    fn add_assign(&mut self, more: Self) {
        self.runs += more.runs;
        self.records += more.records;
        self.record_bytes += more.record_bytes;
        self.logs += more.logs;
        self.log_bytes += more.log_bytes;
    }
}

/// A change that somebody asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    pub request: Box<RawValue>,
    /// `done`, or why it was refused; none if that isn't known, because provostd ended before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}
