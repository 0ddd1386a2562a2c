//! The configuration of a node: from all sources, with the origin of each value, to the validated
//! settings of a run. [`Fragment`](fragment::Fragment) is what may be configured, [`Input`] what
//! is, [`Settings`] what is valid.

mod client;
pub mod discover;
mod fragment;
pub mod messages;
mod origin;
pub mod secrets;
mod server;
mod sources;
mod validate;
mod values;

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;

use provost_bundle::{Limit, OnFailure, Trust};
use provost_fs::Storage;
use reqwest::Url;
use rustls::pki_types::CertificateDer;
use serde::{Deserialize, Serialize};

pub use origin::{Origin, Overridden};
pub use server::parse as parse_server;
pub use sources::{Flag, Input};
#[cfg(test)]
pub(crate) use values::default;

/// The settings of a run, checked.
pub struct Settings {
    /// The configuration file, where one was named; scripts that call `provost` get it.
    pub config: Option<PathBuf>,
    /// The node's name.
    pub node: String,
    /// Tried in order. Each ends with a slash.
    pub servers: Vec<Url>,
    /// The node's token at its management node.
    pub token: Option<Token>,
    /// The join token by which the node gets an identity.
    pub join: Option<Token>,
    /// What a bundle is verified by.
    pub trust: Trust,
    /// An older generation of the bundle is refused.
    pub least_generation: u64,
    /// The time limits of fetching.
    pub fetch: FetchLimits,
    /// The URL of a proxy for HTTP.
    pub proxy: Option<String>,
    /// The certificates by which servers are verified: at least one, if any.
    pub ca: Option<Vec<CertificateDer<'static>>>,
    /// The time limits of running.
    pub run: RunLimits,
    /// What a run does after a script that failed, unless its policy says otherwise.
    pub on_failure: OnFailure,
    /// What scripts find in their environment.
    pub environment: ScriptEnvironment,
    /// What is set of one script, by its name.
    pub scripts: BTreeMap<String, ScriptSettings>,
    /// How long the last flush of a run may take.
    pub report_deadline: Limit,
    /// Of which steps the logs are uploaded; none where [`ReportedLogs::default_of`] LOG holds.
    pub report_logs: Option<ReportedLogs>,
    /// Which variables of the environment are secret: patterns of their names.
    pub redact: Vec<String>,
    /// The limits of the guard.
    pub guard: GuardLimits,
    /// Only where the management node is xCAT's.
    pub xcat: Option<Xcat>,
}

/// An xCAT management node. Its hosts are those of `servers`.
#[derive(Clone, Debug)]
pub struct Xcat {
    /// The folder of `postscripts` under the web server: a path without a slash at its start or end.
    pub install_dir: String,
    /// The folder of `mypostscripts`, likewise.
    pub tftp_dir: String,
    /// The port where xcatd answers requests in XML over TLS.
    pub xcatd_port: u16,
    /// The port where it takes a node's status.
    pub monitor_port: u16,
    /// The biggest file that is fetched, in MiB.
    pub max_file_mib: u32,
    /// The most that all files may have together, in MiB.
    pub max_total_mib: u32,
    /// Whether a bundle is published next to its own scripts; then the bundle is fetched.
    pub is_published: bool,
}

/// A bearer token. It has no `Debug`, so that no log shows it.
#[derive(Clone)]
pub struct Token(pub String);

/// Where things are.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Paths {
    /// STATE: what a node remembers.
    pub state: PathBuf,
    /// LOG: the journals and the logs.
    pub log: PathBuf,
    /// A group that may read both: its name in /etc/group, or its number.
    pub group: Option<String>,
    /// Where the system's own configuration is.
    pub etc: PathBuf,
    /// Where a node of an xCAT management node has its scripts.
    pub xcatpost: PathBuf,
    /// Where it has xCAT's own files.
    pub xcat: PathBuf,
    /// Where it has xCAT's log.
    pub xcat_log: PathBuf,
}

/// How long fetching may take.
#[derive(Clone, Copy, Debug)]
pub struct FetchLimits {
    /// Until a server accepts a connection.
    pub connect: Limit,
    /// Without a byte.
    pub stall: Limit,
    /// In all, with all retries.
    pub deadline: Limit,
    /// Whether what was fetched last is used where no server responds.
    pub last_good: bool,
}

/// How long running may take.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    /// A script whose policy has no limit.
    pub timeout: Limit,
    /// Until a script is called slow.
    pub slow: Limit,
    /// Between SIGTERM and SIGKILL.
    pub grace: Limit,
    /// For descendants that hold a script's output after it has ended.
    pub leak: Limit,
    /// The whole run.
    pub deadline: Limit,
}

/// Of which steps the logs are uploaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReportedLogs {
    /// Of those that failed.
    Failed,
    /// Of all.
    All,
}

impl ReportedLogs {
    /// Those of a node whose LOG is kept there: what a reboot takes away is uploaded before.
    pub fn default_of(log: &Storage) -> Self {
        if matches!(log, Storage::Memory(_)) { Self::All } else { Self::Failed }
    }
}

/// What scripts find in their environment besides what their plan says.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScriptEnvironment {
    /// Nothing of the caller's.
    Clean,
    /// With an xCAT management node, what its own scripts have from their caller.
    Xcat,
}

/// What is set of one script on this node. It overrides the script's policy.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct ScriptSettings {
    /// What its failure means for the run.
    pub on_failure: Option<OnFailure>,
    /// How long it may take.
    pub timeout: Option<Limit>,
    /// How often it is tried again.
    pub retries: Option<u32>,
}

/// The limits after which nothing runs until an admin releases the node.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct GuardLimits {
    /// Runs of `kickstart` or `boot` in a row that fail.
    pub max_attempts: NonZeroU32,
    /// Reboots in one run that its scripts ask for.
    pub max_reboots: u32,
}

impl Settings {
    /// Whether a server after the first may be a mere guess: on a node of xCAT's all that anything names
    /// are tried.
    pub fn may_guess_servers(&self) -> bool {
        self.xcat.is_some()
    }
}

impl Paths {
    /// The journal of a service.
    pub fn journal(&self, service: provost_record::Service) -> PathBuf {
        self.log.join(format!("services/{service}.json"))
    }

    /// The folder of all runs' script logs.
    pub fn all_scripts(&self) -> PathBuf {
        self.log.join("scripts")
    }

    /// The folder of a run's script logs.
    pub fn scripts(&self, run: &str) -> PathBuf {
        self.all_scripts().join(run)
    }
}
