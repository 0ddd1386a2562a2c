use std::path::PathBuf;

use provost_bundle::Limit;
use serde::Deserialize;

/// What one configuration file may say; all of it may be left out, nothing else may be there.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Fragment {
    pub(super) node: Option<String>,
    pub(super) servers: Option<Vec<String>>,
    pub(super) token_file: Option<PathBuf>,
    pub(super) trust: TrustFragment,
    pub(super) paths: PathsFragment,
    pub(super) fetch: FetchFragment,
    pub(super) run: RunFragment,
    pub(super) report: ReportFragment,
    pub(super) log: LogFragment,
    pub(super) guard: GuardFragment,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct TrustFragment {
    pub(super) keys: Option<Vec<String>>,
    pub(super) manifest_sha256: Option<String>,
    pub(super) unsigned: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PathsFragment {
    pub(super) state: Option<PathBuf>,
    pub(super) log: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FetchFragment {
    pub(super) connect_timeout: Option<Limit>,
    pub(super) stall_timeout: Option<Limit>,
    pub(super) deadline: Option<Limit>,
    pub(super) proxy: Option<String>,
    pub(super) ca: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RunFragment {
    pub(super) timeout: Option<Limit>,
    pub(super) slow: Option<Limit>,
    pub(super) grace: Option<Limit>,
    pub(super) leak: Option<Limit>,
    pub(super) deadline: Option<Limit>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ReportFragment {
    pub(super) deadline: Option<Limit>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct GuardFragment {
    pub(super) max_attempts: Option<u32>,
    pub(super) max_reboots: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct LogFragment {
    pub(super) redact: Option<Vec<String>>,
}
