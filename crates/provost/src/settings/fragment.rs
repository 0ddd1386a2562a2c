use std::num::NonZeroU16;
use std::path::PathBuf;

use provost_bundle::Limit;
use serde::Deserialize;

use super::{Guard, Paths, RunLimits};

/// All that a configuration may say, and nothing else. What isn't optional stands in
/// `defaults.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fragment {
    /// The host's name, if nobody says.
    #[serde(default)]
    pub(super) node: String,
    pub(super) servers: Vec<String>,
    pub(super) token_file: Option<PathBuf>,
    pub(super) source: SourceFragment,
    pub(super) trust: TrustFragment,
    pub(super) paths: Paths,
    pub(super) fetch: FetchFragment,
    pub(super) run: RunLimits,
    pub(super) report: ReportFragment,
    pub(super) log: LogFragment,
    pub(super) guard: Guard,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SourceFragment {
    pub(super) kind: Kind,
    pub(super) install_dir: String,
    pub(super) tftp_dir: String,
    pub(super) xcatd_port: NonZeroU16,
    pub(super) monitor_port: NonZeroU16,
}

/// What the management node is.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// It serves what `provostctl publish` made.
    Provost,
    /// It is xCAT's.
    Xcat,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrustFragment {
    pub(super) keys: Vec<String>,
    pub(super) manifest_sha256: Option<String>,
    pub(super) unsigned: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FetchFragment {
    pub(super) connect_timeout: Limit,
    pub(super) stall_timeout: Limit,
    pub(super) deadline: Limit,
    pub(super) proxy: Option<String>,
    pub(super) ca: Option<PathBuf>,
    pub(super) offline: Offline,
}

/// What happens when no server answers.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Offline {
    /// The run fails.
    Fail,
    /// It goes on with what was fetched last.
    LastGood,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReportFragment {
    pub(super) deadline: Limit,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LogFragment {
    pub(super) redact: Vec<String>,
    pub(super) syslog: String,
    pub(super) journal: String,
    pub(super) notices: bool,
}
