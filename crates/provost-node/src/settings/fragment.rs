use std::collections::BTreeMap;
use std::num::{NonZeroU16, NonZeroU32};
use std::path::PathBuf;

use provost_bundle::{Limit, OnFailure};
use serde::Deserialize;

use super::{GuardLimits, Paths, ReportedLogs, ScriptEnvironment, ScriptSettings};

/// All keys that a configuration may have. Those that aren't optional have a value in
/// `defaults.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Fragment {
    /// The host's name, unless configured.
    #[serde(default)]
    pub(crate) node: String,
    pub(crate) servers: Vec<String>,
    pub(crate) token_file: Option<PathBuf>,
    pub(crate) join_file: Option<PathBuf>,
    pub(crate) source: SourceFragment,
    pub(crate) trust: TrustFragment,
    pub(crate) paths: Paths,
    pub(crate) fetch: FetchFragment,
    pub(crate) run: RunFragment,
    /// What is set of one script, by its name.
    #[serde(default)]
    pub(crate) scripts: BTreeMap<String, ScriptSettings>,
    pub(crate) report: ReportFragment,
    pub(crate) log: LogFragment,
    pub(crate) guard: GuardLimits,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct SourceFragment {
    /// The name of a kind of management node.
    pub(crate) kind: String,
    pub(crate) install_dir: String,
    pub(crate) tftp_dir: String,
    pub(crate) xcatd_port: NonZeroU16,
    pub(crate) monitor_port: NonZeroU16,
    pub(crate) max_file_mib: NonZeroU32,
    pub(crate) max_total_mib: NonZeroU32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct TrustFragment {
    pub(crate) keys: Vec<String>,
    pub(crate) manifest_sha256: Option<String>,
    pub(crate) unsigned: bool,
    pub(crate) least_generation: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct FetchFragment {
    pub(crate) connect_timeout: Limit,
    pub(crate) stall_timeout: Limit,
    pub(crate) deadline: Limit,
    pub(crate) proxy: Option<String>,
    pub(crate) ca: Option<PathBuf>,
    pub(crate) offline: Offline,
}

/// What happens when no server responds.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Offline {
    /// The run fails.
    Fail,
    /// It uses what was fetched last.
    LastGood,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RunFragment {
    pub(crate) timeout: Limit,
    pub(crate) slow: Limit,
    pub(crate) grace: Limit,
    pub(crate) leak: Limit,
    pub(crate) deadline: Limit,
    pub(crate) on_failure: AfterFailure,
    pub(crate) environment: Option<ScriptEnvironment>,
}

/// What a run does after a script that failed, unless its policy says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AfterFailure {
    /// It stops.
    Stop,
    /// It goes on, and has failed all the same.
    Continue,
}

impl From<AfterFailure> for OnFailure {
    fn from(after: AfterFailure) -> Self {
        match after {
            AfterFailure::Stop => Self::Stop,
            AfterFailure::Continue => Self::Continue,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct ReportFragment {
    pub(crate) deadline: Limit,
    pub(crate) logs: Option<ReportedLogs>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct LogFragment {
    pub(crate) redact: Vec<String>,
    pub(crate) syslog: String,
    pub(crate) journal: String,
    pub(crate) notices: bool,
}
