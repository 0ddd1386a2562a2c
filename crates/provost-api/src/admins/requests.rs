//! What admins ask for: the bodies of their requests.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::Role;

/// A node's name.
#[cfg(feature = "schema")]
const NODE_NAME: &str = r"^[A-Za-z0-9_][A-Za-z0-9._-]{0,199}$";
/// Nodes' names; a set such as `cn[001-512]!cn007` is as good.
pub const NODE_NAMES: &str =
    r"^ *[A-Za-z0-9_][A-Za-z0-9._-]{0,199}( *, *[A-Za-z0-9_][A-Za-z0-9._-]{0,199})* *$";
/// The name of an admin.
#[cfg(feature = "schema")]
const ADMIN_NAME: &str = r"^[A-Za-z0-9._@-]{1,64}$";
/// The fingerprint of a key.
#[cfg(feature = "schema")]
const FINGERPRINT: &str = r"^SHA256:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]$";
/// A network; one of IPv6 is as good.
#[cfg(feature = "schema")]
const NETWORK: &str = r"^10\.(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.0\.0/16$";

/// Nodes, by names or as a set: `cn[001-512]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NodesRequest {
    /// Which.
    #[cfg_attr(feature = "schema", schemars(length(min = 1), inner(regex(pattern = NODE_NAMES))))]
    pub nodes: Vec<String>,
}

/// Nodes that were sent a boot, or what a kickstart or boot of theirs has left unfinished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BootsRequest {
    /// Which.
    #[cfg_attr(feature = "schema", schemars(length(min = 1), inner(regex(pattern = NODE_NAMES))))]
    pub nodes: Vec<String>,
    /// They couldn't be reached, or run something else: the status that they had is still theirs.
    #[serde(default)]
    pub withdrawn: bool,
}

/// For which nodes tokens are made, and what becomes of those that they have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TokensRequest {
    /// Which.
    #[cfg_attr(feature = "schema", schemars(length(min = 1), inner(regex(pattern = NODE_NAMES))))]
    pub nodes: Vec<String>,
    /// Only for those that have none.
    #[serde(default)]
    pub missing: bool,
    /// For how long the old ones are valid, if the new ones aren't used before; without it, no more.
    #[serde(default, deserialize_with = "whole_or_none", skip_serializing_if = "Option::is_none")]
    pub overlap_ms: Option<u64>,
    /// Also for names that aren't published.
    #[serde(default)]
    pub force: bool,
}

/// Nodes, and for how long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TimeRequest {
    /// Which.
    #[cfg_attr(feature = "schema", schemars(length(min = 1), inner(regex(pattern = NODE_NAMES))))]
    pub nodes: Vec<String>,
    /// For how long, in milliseconds.
    #[serde(deserialize_with = "whole")]
    pub for_ms: u64,
    /// The network from where a join token is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = NETWORK)))]
    pub from: Option<String>,
}

/// Which windows are closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CloseRequest {
    /// Those of these nodes; without it, all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1), inner(regex(pattern = NODE_NAMES))))]
    pub nodes: Option<Vec<String>>,
}

/// A node, and which of its keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct KeyRequest {
    /// The node.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = NODE_NAME)))]
    pub node: String,
    /// The fingerprint; without it, the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = FINGERPRINT)))]
    pub key: Option<String>,
}

/// An admin to be added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct AdminRequest {
    /// The name, which the audit log has.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = ADMIN_NAME)))]
    pub name: String,
    /// What the admin may do.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["read", "operate", "publish"])))]
    pub role: Role,
    /// For how long the token is valid, in milliseconds.
    #[serde(deserialize_with = "whole")]
    pub for_ms: u64,
}

/// An admin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AdminName {
    /// The name.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = ADMIN_NAME)))]
    pub name: String,
}

/// A whole number, which JSON may also have as `1000.0`: some languages know no others.
fn whole<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    whole_or_none(from)?.ok_or_else(|| D::Error::custom("null isn't a whole number"))
}

fn whole_or_none<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let Some(number) = Option::<serde_json::Number>::deserialize(from)? else { return Ok(None) };
    let float = || number.as_f64().filter(|f| *f >= 0.0 && f.fract() == 0.0);
    // One that is too large is the largest.
    let whole = number.as_u64().or_else(|| float().map(|float| float as u64));
    whole
        .map(Some)
        .ok_or_else(|| D::Error::custom(format!("{number} isn't a whole number from 0 on")))
}
