//! What was published, and what that changed for a node.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Something that was published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Publication {
    /// Counts the publications.
    pub number: u64,
    /// The bundle's generation.
    pub generation: u64,
    /// When it was.
    pub at: Timestamp,
    /// Which user published it.
    pub by: String,
    /// On which machine.
    pub host: String,
    /// Why: `publish`, `promote`, `rollback`, `rotate`, `revoke`.
    pub action: String,
    /// To which channel; absent: to all nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// The SHA-256 of each script, in hexadecimal digits.
    pub scripts: BTreeMap<String, String>,
}

/// What was changed for a node between two bundles and two plans.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NodeChanges {
    /// The scripts; absent if one of the two generations isn't kept any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scripts: Option<Vec<ScriptChange>>,
    /// The unified diff of the script that was asked for, if it was changed and this admin may read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Steps and environment; absent if one of the two plans isn't kept any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Vec<ValueChange>>,
    /// Why there is no diff or why values are absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden: Option<String>,
}

/// A script that was added, changed or removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScriptChange {
    /// Its path.
    pub script: String,
    /// Its SHA-256 before; absent if it was added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<String>,
    /// Its SHA-256 afterwards; absent if it was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// The generation that changed it, …
    pub generation: u64,
    /// … when it was published, …
    pub at: Timestamp,
    /// … by which user …
    pub by: String,
    /// … and on which machine.
    pub host: String,
}

/// A part of a plan that was added, changed or removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValueChange {
    /// `env NAME`, `postscript`, `postbootscript`, `order of postscripts`, `runbootscripts`.
    pub name: String,
    /// Its value before, `(hidden)` if it is secret; absent if there was none, or who asks may not read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<String>,
    /// Its value afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
}
