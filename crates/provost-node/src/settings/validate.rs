//! From what all sources give to the settings of a run.

use std::fmt::Display;
use std::path::{self, Path};

use provost_bundle::{Trust, TrustError};
use reqwest::Url;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::fragment::{Fragment, Offline};
use super::messages::MessageSettings;
use super::origin::Origin;
use super::sources::Input;
use super::{
    FetchLimits, GuardLimits, Paths, RunLimits, ScriptEnvironment, Settings, Token, Xcat, server,
};
use crate::failure::Failure;

/// The most bytes of a file of certificates: some 1,000 of them.
const MOST_CERTIFICATES: u64 = 2 << 20;
/// The most bytes of a file with a token, which has one line.
const MOST_TOKEN: u64 = 4 << 10;

impl Input {
    /// Where things are. They are known even where the rest is wrong.
    pub fn paths(&self) -> Paths {
        self.fragment.paths.clone()
    }

    /// The kind of the management node, as the configuration names it.
    pub fn source_kind(&self) -> &str {
        &self.fragment.source.kind
    }

    fn is_xcat(&self) -> bool {
        self.source_kind() == "xcat"
    }

    /// Whether there is no management node: everything is on this machine.
    fn is_folder(&self) -> bool {
        self.source_kind() == "folder"
    }

    /// Whether the management node takes records.
    pub fn takes_records(&self) -> bool {
        self.source_kind() == "provost"
    }

    /// The node's name at a management node that counts attempts; xCAT's doesn't.
    pub fn known_there(&self) -> Option<&str> {
        Some(&*self.fragment.node).filter(|_| self.takes_records())
    }

    /// Where the messages go.
    pub fn messages(&self) -> Result<MessageSettings, Failure> {
        let log = &self.fragment.log;
        MessageSettings::read(&log.syslog, &log.journal)
    }

    /// Whether a failed run is shown at the login prompt.
    pub fn notices(&self) -> bool {
        self.fragment.log.notices
    }

    /// The limits of the guard, which looks before the settings are validated.
    pub fn guard(&self) -> GuardLimits {
        self.fragment.guard
    }

    /// The node's name: as configured, else the host's name up to its first dot.
    pub fn node(&self) -> String {
        self.fragment.node.clone()
    }

    /// The settings of a run, if all are valid.
    pub fn settings(&self) -> Result<Settings, Failure> {
        let (settings, failures) = self.usable();
        failures.into_iter().next().map_or(Ok(settings), Err)
    }

    /// The settings without those that are invalid, and why they are. Without them, the node trusts
    /// and reaches less than intended, never more.
    pub fn usable(&self) -> (Settings, Vec<Failure>) {
        let Fragment { node, trust, fetch, run, scripts, report, log, .. } = &self.fragment;
        let mut failures = self.mistakes.clone();
        if !provost_plan::is_node_name(node) {
            let message = format!("the node's name {node:?}{} isn't valid", self.from("node"));
            let hint = "set `node` in provost.toml, e.g. node = \"cn001\"";
            failures.push(Failure::config(message, hint));
        }
        let mut note = |failure| failures.push(failure);
        let xcat = self.xcat(&mut note);
        let mut servers = self.servers(&mut note);
        if let Some(xcat) = xcat.as_ref().filter(|xcat| xcat.is_published) {
            let folder = |url: &mut Url| {
                url.set_path(&format!("{}{}/provost/", url.path(), xcat.install_dir))
            };
            servers.iter_mut().for_each(folder);
        }
        let named = Some(&self.config).filter(|(_, origin)| *origin != Origin::Default);
        let settings = Settings {
            // Absolute, because scripts have another working folder.
            config: named.and_then(|(file, _)| path::absolute(file).ok()),
            node: node.clone(),
            servers,
            token: self.token().map_err(&mut note).ok().flatten(),
            join: self.join().map_err(&mut note).ok().flatten(),
            trust: self.trust().map_err(&mut note).unwrap_or_default(),
            least_generation: trust.least_generation,
            fetch: FetchLimits {
                connect: fetch.connect_timeout,
                stall: fetch.stall_timeout,
                deadline: fetch.deadline,
                last_good: fetch.offline == Offline::LastGood,
            },
            proxy: fetch.proxy.clone(),
            ca: fetch.ca.as_ref().and_then(|path| read_ca(path).map_err(&mut note).ok()),
            run: RunLimits {
                timeout: run.timeout,
                slow: run.slow,
                grace: run.grace,
                leak: run.leak,
                deadline: run.deadline,
            },
            on_failure: run.on_failure.into(),
            environment: run.environment.unwrap_or(match self.is_xcat() {
                true => ScriptEnvironment::Xcat,
                false => ScriptEnvironment::Clean,
            }),
            scripts: scripts.clone(),
            report_deadline: report.deadline,
            report_logs: report.logs,
            redact: log.redact.clone(),
            guard: self.guard(),
            xcat,
        };
        self.messages().map_err(&mut note).ok();
        (settings, failures)
    }

    fn servers(&self, note: &mut impl FnMut(Failure)) -> Vec<Url> {
        let servers = &self.fragment.servers;
        // Where there are mistakes, a key with a typing error may be why none is known.
        if servers.is_empty() && !self.is_folder() && self.mistakes.is_empty() {
            note(Failure::config(
                "no server is configured to fetch from",
                "set `servers` in provost.toml, e.g. servers = [\"http://10.0.0.1:8480\"]",
            ));
        }
        let from = self.from("servers");
        servers
            .iter()
            .filter_map(|text| server::parse(text, &from).map_err(&mut *note).ok())
            .collect()
    }

    /// The xCAT management node, if it is one. With a folder that isn't valid nothing is fetched,
    /// but the failure is still reported to it.
    fn xcat(&self, note: &mut impl FnMut(Failure)) -> Option<Xcat> {
        let Fragment { source, trust, .. } = &self.fragment;
        if !self.is_xcat() {
            return None;
        }
        let mut folder = |key: &str, text: &str| {
            let path = text.trim_matches('/').to_owned();
            if let Err(e) = provost_bundle::check_path(&path) {
                let message = format!("the folder {text:?}{} can't be used: {e}", self.from(key));
                note(Failure::config(message, format!("set {key} to a folder such as /install")));
                return String::new();
            }
            path
        };
        Some(Xcat {
            install_dir: folder("source.install_dir", &source.install_dir),
            tftp_dir: folder("source.tftp_dir", &source.tftp_dir),
            xcatd_port: source.xcatd_port.get(),
            monitor_port: source.monitor_port.get(),
            max_file_mib: source.max_file_mib.get(),
            max_total_mib: source.max_total_mib.get(),
            is_published: !trust.keys.is_empty() || trust.manifest_sha256.is_some(),
        })
    }

    fn trust(&self) -> Result<Trust, Failure> {
        let trust = &self.fragment.trust;
        if trust.keys.is_empty() && trust.manifest_sha256.is_none() && !trust.unsigned {
            // As with the servers. Nothing runs then.
            if !self.mistakes.is_empty() {
                return Ok(Trust::default());
            }
            let (message, hint) = match self.is_xcat() {
                false => (
                    "[trust] is empty: there is no key to verify a bundle by",
                    "set [trust] keys = [\"RW…\"] to the line that `provostctl key new` printed \
                     (`unsigned = true` would run anything)",
                ),
                true => (
                    "[trust] is empty, and an xCAT management node signs nothing",
                    "set [trust] unsigned = true to run what it serves, as xCAT itself does; or \
                     publish next to it and set keys",
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

    /// A file that isn't there is no mistake: the token in it is used once.
    fn join(&self) -> Result<Option<Token>, Failure> {
        match (&self.join, &self.fragment.join_file) {
            (Some((token, _)), _) => Ok(Some(Token(token.trim().to_owned()))),
            (None, Some(path)) if path.exists() => {
                read_token(path, "write the output of `provostctl join NODE` to it").map(Some)
            }
            _ => Ok(None),
        }
    }

    fn token(&self) -> Result<Option<Token>, Failure> {
        match (&self.token, &self.fragment.token_file) {
            (Some((token, _)), _) => Ok(Some(Token(token.trim().to_owned()))),
            (None, Some(path)) => {
                let hint =
                    "write the output of `provostctl token NODE` to it, readable by root alone";
                read_token(path, hint).map(Some)
            }
            (None, None) => Ok(None),
        }
    }
}

fn read_ca(path: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let reading = format!("reading the CA certificates {}", path.display());
    let pem = provost_fs::read_given(path, MOST_CERTIFICATES)
        .map_err(|e| Failure::unreadable(&reading, "fix or remove `ca` under [fetch]", e))?;
    let invalid = |why: &dyn Display| {
        let hint = "`ca` under [fetch] must name a file of PEM certificates";
        Failure::config(format!("{reading}: {why}"), hint)
    };
    let known = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
    let known = known.map_err(|e| invalid(&e))?;
    // An empty list would be taken as no restriction.
    if known.is_empty() { Err(invalid(&"there is none in it")) } else { Ok(known) }
}

fn read_token(path: &Path, hint: &str) -> Result<Token, Failure> {
    let reading = format!("reading the token {}", path.display());
    let text = provost_fs::read_given_text(path, MOST_TOKEN);
    let text = text.map_err(|e| Failure::unreadable(&reading, hint, e))?;
    // The whole line of provostctl may be there: NODE TOKEN.
    let token = text.split_ascii_whitespace().last().unwrap_or_default();
    if token.is_empty() || !token.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(Failure::config(format!("{reading}: it isn't a token"), hint));
    }
    Ok(Token(token.to_owned()))
}
