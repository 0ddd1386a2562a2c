//! What this node is told about itself, by whom, and what of it can be used.

mod fragment;
mod sources;
mod values;

use std::num::NonZeroU32;
use std::path::PathBuf;

use provost_bundle::{Limit, Trust, TrustError};
use reqwest::Url;
use serde::Deserialize;

use crate::failure::Failure;
use crate::messages::MessageSettings;
use fragment::{Fragment, Kind, Offline};
pub(crate) use sources::{Flag, Input};
pub(crate) use values::Origin;
#[cfg(test)]
pub(crate) use values::default;

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
    pub(crate) ca: Option<Vec<u8>>,
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

impl Input {
    /// Where things are; needs no more than the files themselves.
    pub(crate) fn paths(&self) -> Paths {
        self.fragment.paths.clone()
    }

    /// Whether the management node is xCAT's.
    pub(crate) fn is_xcat(&self) -> bool {
        self.fragment.source.kind == Kind::Xcat
    }

    /// Where messages go.
    pub(crate) fn messages(&self) -> Result<MessageSettings, Failure> {
        let log = &self.fragment.log;
        MessageSettings::read(&log.syslog, &log.journal)
    }

    /// Whether a run that failed is told at the login prompt.
    pub(crate) fn notices(&self) -> bool {
        self.fragment.log.notices
    }

    /// After what nothing runs any more; the guard looks before anything is checked.
    pub(crate) fn guard(&self) -> Guard {
        self.fragment.guard
    }

    /// The node's name: as told, else the host name up to its first dot.
    pub(crate) fn node(&self) -> String {
        self.fragment.node.clone()
    }

    /// Checks all that a run needs.
    pub(crate) fn settings(&self) -> Result<Settings, Failure> {
        let (settings, failures) = self.usable();
        failures.into_iter().next().map_or(Ok(settings), Err)
    }

    /// What of it can be used, and what can't: that is left out of the settings, which then trust
    /// and reach less than was meant, never more.
    pub(crate) fn usable(&self) -> (Settings, Vec<Failure>) {
        let Fragment { node, fetch, run, report, log, .. } = &self.fragment;
        let mut failures = Vec::new();
        if !provost_plan::is_node_name(node) {
            let message = format!("the node's name {node:?}{} is none", self.from("node"));
            let hint = "set `node` in provost.toml, e.g. node = \"cn001\"";
            failures.push(Failure::config(message, hint));
        }
        let mut note = |failure| failures.push(failure);
        let xcat = self.xcat().map_err(&mut note).ok().flatten();
        let mut servers = self.servers(&mut note);
        if let Some(xcat) = xcat.as_ref().filter(|xcat| xcat.is_published) {
            let folder = |url: &mut Url| {
                url.set_path(&format!("{}{}/provost/", url.path(), xcat.install_dir))
            };
            servers.iter_mut().for_each(folder);
        }
        let named = Some(&self.config).filter(|(_, origin)| *origin != Origin::Default);
        let settings = Settings {
            // Scripts have a working folder of their own.
            config: named.and_then(|(file, _)| std::path::absolute(file).ok()),
            node: node.clone(),
            servers,
            token: self.token().map_err(&mut note).ok().flatten(),
            trust: self.trust().map_err(&mut note).unwrap_or_default(),
            fetch: FetchLimits {
                connect: fetch.connect_timeout,
                stall: fetch.stall_timeout,
                deadline: fetch.deadline,
                last_good: fetch.offline == Offline::LastGood,
            },
            proxy: fetch.proxy.clone(),
            ca: fetch.ca.as_ref().and_then(|path| read_ca(path).map_err(&mut note).ok()),
            run: *run,
            report_deadline: report.deadline,
            redact: log.redact.clone(),
            guard: self.guard(),
            xcat,
        };
        self.messages().map_err(&mut note).ok();
        (settings, failures)
    }

    fn servers(&self, note: &mut impl FnMut(Failure)) -> Vec<Url> {
        let servers = &self.fragment.servers;
        if servers.is_empty() {
            note(Failure::config(
                "no server is configured to fetch from",
                "set `servers` in provost.toml, e.g. servers = [\"http://10.0.0.1:8480\"]",
            ));
        }
        let from = self.from("servers");
        servers.iter().filter_map(|text| server(text, &from).map_err(&mut *note).ok()).collect()
    }

    /// What there is to know of xCAT's management node, if it is one.
    fn xcat(&self) -> Result<Option<Xcat>, Failure> {
        let Fragment { source, trust, .. } = &self.fragment;
        if source.kind == Kind::Provost {
            return Ok(None);
        }
        let folder = |key: &str, text: &str| {
            let path = text.trim_matches('/').to_owned();
            provost_bundle::check_path(&path).map(|()| path).map_err(|e| {
                let message = format!("the folder {text:?}{} can't be used: {e}", self.from(key));
                Failure::config(message, format!("set {key} as in /install"))
            })
        };
        Ok(Some(Xcat {
            install_dir: folder("source.install_dir", &source.install_dir)?,
            tftp_dir: folder("source.tftp_dir", &source.tftp_dir)?,
            xcatd_port: source.xcatd_port.get(),
            monitor_port: source.monitor_port.get(),
            is_published: !trust.keys.is_empty() || trust.manifest_sha256.is_some(),
        }))
    }

    fn trust(&self) -> Result<Trust, Failure> {
        let trust = &self.fragment.trust;
        if trust.keys.is_empty() && trust.manifest_sha256.is_none() && !trust.unsigned {
            let (message, hint) = match self.fragment.source.kind {
                Kind::Provost => (
                    "[trust] says nothing: there is no key that a bundle could be trusted by",
                    "set [trust] keys = [\"RW…\"] to the line that `provostctl key new` printed \
                     (`unsigned = true` would run anything)",
                ),
                Kind::Xcat => (
                    "[trust] says nothing, and an xCAT management node signs nothing",
                    "set [trust] unsigned = true to run what it serves, as xCAT itself does; or \
                     publish beside it and set keys",
                ),
            };
            return Err(Failure::config(message, hint));
        }
        let wrong = |e: TrustError| {
            let from = match e {
                TrustError::Key(_) => self.from("trust.keys"),
                TrustError::Digest(_) => self.from("trust.manifest_sha256"),
                _ => String::new(),
            };
            Failure::config(format!("{e}{from}"), e.hint())
        };
        Trust::new(&trust.keys, trust.manifest_sha256.as_deref(), trust.unsigned).map_err(wrong)
    }

    fn token(&self) -> Result<Option<Token>, Failure> {
        match (&self.token, &self.fragment.token_file) {
            (Some((token, _)), _) => Ok(Some(Token(token.trim().to_owned()))),
            (None, Some(path)) => read_token(path).map(Some),
            (None, None) => Ok(None),
        }
    }
}

fn read_ca(path: &std::path::Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|e| {
        let message = format!("reading the CA certificates {}: {e}", path.display());
        Failure::config(message, "mend or remove `ca` under [fetch]")
    })
}

fn server(text: &str, from: &str) -> Result<Url, Failure> {
    let refused = |why: String| {
        let hint = "write it as a URL, best with an address, e.g. http://10.0.0.1:8480";
        Failure::config(format!("the server {text:?}{from} can't be used: {why}"), hint)
    };
    let mut url = Url::parse(text).map_err(|e| refused(e.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(refused("it isn't an http or https URL".to_owned()));
    }
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    Ok(url)
}

fn read_token(path: &std::path::Path) -> Result<Token, Failure> {
    let failed = |why: String| {
        let hint = "put there what `provostctl token NODE` prints, readable by root alone";
        Failure::config(format!("reading the token {}: {why}", path.display()), hint)
    };
    let text = std::fs::read_to_string(path).map_err(|e| failed(e.to_string()))?;
    // The line of `provostctl token` is taken as well: NODE TOKEN.
    let token = text.split_ascii_whitespace().last().unwrap_or_default();
    if token.is_empty() || !token.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(failed("it isn't a token".to_owned()));
    }
    Ok(Token(token.to_owned()))
}
