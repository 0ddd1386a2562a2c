use std::collections::BTreeMap;
use std::net::IpAddr;

use jiff::Timestamp;

use crate::{Cause, Facts, InnerStage, Service, Status, UpdateStatus};
use serde::{Deserialize, Serialize};

/// What a node has reported of what is published: the newest generations, 0 where there is none, and the keys. It
/// refuses older ones, and others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ReportedGenerations {
    /// Of the bundle.
    pub bundle: u64,
    /// Of its plan.
    pub plan: u64,
    /// The ids of the keys that it trusts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
}

/// What a node waits for that nothing is published for, as `waiting` begins.
pub const UNPUBLISHED: &str = "no plan is published for it";

/// A node as it is shown. What is unknown is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its status.
    pub status: Status,
    /// When the status last changed, by the node's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// The status of the last rerun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updatestatus: Option<UpdateStatus>,
    /// The service of the run that is shown: `kickstart`, `boot` or `run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// That run's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// What it does, or why it failed.
    #[serde(flatten)]
    pub detail: Detail,
    /// Whether its token came by plain HTTP, where others can read it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plain_http: bool,
    /// When the node last reported, by the server's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<Timestamp>,
    /// When an admin last had it boot or continue, if it has reported no such run since; by the
    /// server's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_sent: Option<Timestamp>,
    /// Which try this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The newest bundle that it has reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<u64>,
    /// The newest plan that it has reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<u64>,
    /// The server from which it fetched last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The version of its program, as of its last report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// What distinguishes it from other nodes, as of its last run.
    #[serde(default, skip_serializing_if = "Facts::is_empty")]
    pub facts: Facts,
    /// The address that claimed the status without a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_by: Option<IpAddr>,
    /// The status of programs on the node, in their own words, by name (xCAT's `hpcbootstatus`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub appstatus: BTreeMap<String, String>,
    /// What the node last said of the stage that runs, if that runs for long or has stages of its own.
    /// A store knows nothing of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_for: Option<RunningFor>,
    /// A step that takes, or took when it last ran, over three times as long as usual. A store knows nothing of it, either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow: Option<SlowStep>,
    /// Why nothing more is stored of the node, if it is over its quota. A store knows nothing of it,
    /// either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_quota: Option<String>,
    /// When its identity ends, if that is soon. A store knows nothing of it, either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// Why the node can't go on, from where it has asked, and what to do: it has no valid identity or token, or
    /// waits for what isn't published yet; of the latter alone a store knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<String>,
}

impl Node {
    /// Whether the run that is shown is a rerun.
    pub fn is_rerun(&self) -> bool {
        self.service.as_deref() == Some(Service::Run.as_str())
    }

    /// Whether nobody has named it but itself: no plan is published for it, and it was never let in.
    pub fn only_asks(&self) -> bool {
        let waits = |why: &String| why.starts_with(UNPUBLISHED);
        self.last_seen.is_none() && self.waiting.as_ref().is_some_and(waits)
    }
}

/// How a stage goes that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunningFor {
    /// How long it had run, …
    pub elapsed_ms: u64,
    /// … the last line that it had printed …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// … and the stage of its own that it was in …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inner: Option<InnerStage>,
    /// … at this time by the server's clock.
    pub at: Timestamp,
}

/// A step that takes over three times as long as usual.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SlowStep {
    /// Its stage.
    pub stage: String,
    /// How long it took or has run, in milliseconds.
    pub ms: u64,
    /// What it usually takes, …
    pub usual_ms: u64,
    /// … and where: `node`, on this one; `fleet`, on half of all nodes.
    pub of: String,
    /// Whether it runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub running: bool,
}

impl SlowStep {
    /// How many times its usual time it took.
    pub fn times(&self) -> u64 {
        self.ms / self.usual_ms.max(1)
    }
}

/// The stage that a node runs, or the failure that it shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Detail {
    /// The stage that runs, or the first one that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// What kind of failure it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The exit status of what failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended what failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Where it failed: `LINE FUNCTION FILE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_line: Option<String>,
    /// If that is in a function, where it was called: `LINE FUNCTION FILE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called_from: Option<String>,
    /// Its last three lines of output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// The command that failed, or that hung.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}
