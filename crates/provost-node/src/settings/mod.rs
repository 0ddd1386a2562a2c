//! What this node is told about itself, by whom, and what a run goes by in the end.

pub mod discover;
pub mod fragment;
pub mod messages;
pub mod secrets;
pub mod sources;
pub mod usable;
pub mod values;

use std::num::NonZeroU32;
use std::path::PathBuf;

use provost_bundle::{Limit, Trust};
use reqwest::Url;
use rustls::pki_types::CertificateDer;
use serde::Deserialize;

pub use sources::{Flag, Input};
#[cfg(test)]
pub use values::default;
pub use values::{Origin, Overruled};

/// The settings of a run, checked.
pub struct Settings {
    /// The configuration file, where somebody has named one; scripts that call `provost` find it.
    pub config: Option<PathBuf>,
    pub node: String,
    /// Tried in order. Each ends with a slash.
    pub servers: Vec<Url>,
    pub token: Option<Token>,
    pub trust: Trust,
    pub fetch: FetchLimits,
    pub proxy: Option<String>,
    /// Certificates that others are known by: at least one, if any.
    pub ca: Option<Vec<CertificateDer<'static>>>,
    pub run: RunLimits,
    /// How long the last flush of a run may take.
    pub report_deadline: Limit,
    /// Which variables of the environment are secret: patterns of their names.
    pub redact: Vec<String>,
    pub guard: Guard,
    /// Only where the management node is xCAT's.
    pub xcat: Option<Xcat>,
}

/// What a node has to know of its xCAT management node. The hosts are those of `servers`.
#[derive(Clone, Debug)]
pub struct Xcat {
    /// Where `postscripts` is under the web server: a path without a slash at its begin or end.
    pub install_dir: String,
    /// Where `mypostscripts` is, likewise.
    pub tftp_dir: String,
    /// Where xcatd answers requests in XML over TLS.
    pub xcatd_port: u16,
    /// Where it takes a node's status.
    pub monitor_port: u16,
    /// Whether a bundle is published beside its own scripts, which is then what is fetched.
    pub is_published: bool,
}

/// A bearer token. It has no `Debug`, so that no log shows it.
#[derive(Clone)]
pub struct Token(pub String);

/// Where things are.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paths {
    pub state: PathBuf,
    pub log: PathBuf,
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
    pub connect: Limit,
    /// Without a byte.
    pub stall: Limit,
    /// In all, tries and waits included.
    pub deadline: Limit,
    /// Whether what was fetched last will do when no server answers.
    pub last_good: bool,
}

/// How long running may take.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunLimits {
    /// A script, where its policy doesn't say.
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

/// After what nothing runs any more until an admin has looked at the node.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guard {
    /// Runs of `kickstart` or `boot` in a row that don't end well.
    pub max_attempts: NonZeroU32,
    /// Reboots in one run that its scripts ask for.
    pub max_reboots: u32,
}

impl Settings {
    /// Whether scripts come as the xCAT management node has them, unsigned.
    pub fn takes_xcats_files(&self) -> bool {
        self.xcat.is_some() && self.trust.is_unsigned()
    }

    /// Where the management node has the scripts that it serves as they are.
    pub fn served(&self) -> Option<String> {
        let xcat = self.xcat.as_ref().filter(|_| self.takes_xcats_files())?;
        Some(format!("/{}/postscripts", xcat.install_dir))
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
