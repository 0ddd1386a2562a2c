//! What this node is told about itself, by whom, and what a run goes by in the end.

mod fragment;
mod sources;
mod usable;
mod values;

use std::num::NonZeroU32;
use std::path::PathBuf;

use provost_bundle::{Limit, Trust};
use reqwest::Url;
use rustls::pki_types::CertificateDer;
use serde::Deserialize;

pub(crate) use sources::{Flag, Input};
#[cfg(test)]
pub(crate) use values::default;
pub(crate) use values::{Origin, Overruled};

/// The settings of a run, checked.
pub(crate) struct Settings {
    /// The configuration file, where somebody has named one; scripts that call `provost` find it.
    pub(crate) config: Option<PathBuf>,
    pub(crate) node: String,
    /// Tried in order. Each ends with a slash.
    pub(crate) servers: Vec<Url>,
    pub(crate) token: Option<Token>,
    pub(crate) trust: Trust,
    pub(crate) fetch: FetchLimits,
    pub(crate) proxy: Option<String>,
    /// Certificates that others are known by: at least one, if any.
    pub(crate) ca: Option<Vec<CertificateDer<'static>>>,
    pub(crate) run: RunLimits,
    /// How long the last flush of a run may take.
    pub(crate) report_deadline: Limit,
    /// Which variables of the environment are secret: patterns of their names.
    pub(crate) redact: Vec<String>,
    pub(crate) guard: Guard,
    /// Only where the management node is xCAT's.
    pub(crate) xcat: Option<Xcat>,
}

/// What a node has to know of its xCAT management node. The hosts are those of `servers`.
#[derive(Clone, Debug)]
pub(crate) struct Xcat {
    /// Where `postscripts` is under the web server: a path without a slash at its begin or end.
    pub(crate) install_dir: String,
    /// Where `mypostscripts` is, likewise.
    pub(crate) tftp_dir: String,
    /// Where xcatd answers requests in XML over TLS.
    pub(crate) xcatd_port: u16,
    /// Where it takes a node's status.
    pub(crate) monitor_port: u16,
    /// Whether a bundle is published beside its own scripts, which is then what is fetched.
    pub(crate) is_published: bool,
}

/// A bearer token. It has no `Debug`, so that no log shows it.
#[derive(Clone)]
pub(crate) struct Token(pub(crate) String);

/// Where things are.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Paths {
    pub(crate) state: PathBuf,
    pub(crate) log: PathBuf,
    /// Where the system's own configuration is.
    pub(crate) etc: PathBuf,
    /// Where a node of an xCAT management node has its scripts.
    pub(crate) xcatpost: PathBuf,
    /// Where it has xCAT's own files.
    pub(crate) xcat: PathBuf,
    /// Where it has xCAT's log.
    pub(crate) xcat_log: PathBuf,
}

/// How long fetching may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FetchLimits {
    pub(crate) connect: Limit,
    /// Without a byte.
    pub(crate) stall: Limit,
    /// In all, tries and waits included.
    pub(crate) deadline: Limit,
    /// Whether what was fetched last will do when no server answers.
    pub(crate) last_good: bool,
}

/// How long running may take.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunLimits {
    /// A script, where its policy doesn't say.
    pub(crate) timeout: Limit,
    /// Until a script is called slow.
    pub(crate) slow: Limit,
    /// Between SIGTERM and SIGKILL.
    pub(crate) grace: Limit,
    /// For descendants that hold a script's output after it has ended.
    pub(crate) leak: Limit,
    /// The whole run.
    pub(crate) deadline: Limit,
}

/// After what nothing runs any more until an admin has looked at the node.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Guard {
    /// Runs of `kickstart` or `boot` in a row that don't end well.
    pub(crate) max_attempts: NonZeroU32,
    /// Reboots in one run that its scripts ask for.
    pub(crate) max_reboots: u32,
}

impl Settings {
    /// Whether scripts come as the xCAT management node has them, unsigned.
    pub(crate) fn takes_xcats_files(&self) -> bool {
        self.xcat.is_some() && self.trust.is_unsigned()
    }

    /// Where the management node has the scripts that it serves as they are.
    pub(crate) fn served(&self) -> Option<String> {
        let xcat = self.xcat.as_ref().filter(|_| self.takes_xcats_files())?;
        Some(format!("/{}/postscripts", xcat.install_dir))
    }
}

impl Paths {
    /// The journal of a service.
    pub(crate) fn journal(&self, service: provost_record::Service) -> PathBuf {
        self.log.join(format!("services/{service}.json"))
    }

    /// The folder of all runs' script logs.
    pub(crate) fn all_scripts(&self) -> PathBuf {
        self.log.join("scripts")
    }

    /// The folder of a run's script logs.
    pub(crate) fn scripts(&self, run: &str) -> PathBuf {
        self.all_scripts().join(run)
    }
}
