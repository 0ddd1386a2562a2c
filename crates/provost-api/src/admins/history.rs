//! What runs did over a day and a year.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What runs did, and how nodes stood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// How far back: `hour`, `day`, `week`, `year`.
    pub range: String,
    /// The time from one point to the next, in seconds.
    pub step_seconds: u64,
    /// The oldest first, without a gap. The last one isn't over.
    pub points: Vec<HistoryPoint>,
    /// The storms that ended in that time, the oldest first: many nodes that booted or installed at once.
    pub storms: Vec<StormResult>,
}

/// What happened within some time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HistoryPoint {
    /// When it begins, by the server's clock.
    pub at: Timestamp,
    /// How many runs began, …
    pub began: u64,
    /// … ended well …
    pub succeeded: u64,
    /// … and failed.
    pub failed: u64,
    /// The time within which half of the boots ended that ended well, to 3 %; absent where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ms: Option<u64>,
    /// The time within which 95 of 100 did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_ms: Option<u64>,
    /// How many nodes had each status at its end; absent where that isn't known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nodes: BTreeMap<String, u64>,
}

/// How a storm ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StormResult {
    /// When the first of its nodes began.
    pub began: Timestamp,
    /// When the last one was done.
    pub ended: Timestamp,
    /// How many nodes.
    pub nodes: u64,
    /// How many runs of them ended well …
    pub succeeded: u64,
    /// … and failed.
    pub failed: u64,
    /// How many nodes were lost.
    pub lost: u64,
}
